"""What the residual networks say of two claims: values of their checks in the registry.

The page on pretrained networks records them beside its own.
"""

import numpy as np

from chapters.shared.resnets import stored_networks
from chapters.spectra_resnets import fits, study

CHANCE_LEVEL = "chance_level"
"""The one of the eleven networks that is in no share."""


def of_power_laws() -> dict[str, float]:
    """Values of the checks of P3.01 on small networks, by their names.

    >>> of_power_laws()["exponential_control"] < -0.2
    True
    """
    content = fits.stored_fits()
    trained = [key for key in content if key != CHANCE_LEVEL]
    columns = {name: fits.gathered(content, trained, name) for name in ("slices", "pooled")}
    share = {name: fits.shares(one) for name, one in columns.items()}
    law = {name: fits.shares(fits.control(one, "law")) for name, one in columns.items()}
    noise = fits.shares(fits.control(columns["pooled"], "noise"))
    less = {
        test: min(share[name][test] - law[name][test] for name in columns)
        for test in ("fits", "no_other", "over_exponential")
    }
    return {
        "slices": share["slices"]["fits"],
        "pooled": share["pooled"]["fits"],
        "slices_alternatives": share["slices"]["no_other"],
        "pooled_alternatives": share["pooled"]["no_other"],
        "noise": 1 - noise["fits"],
        "exponential": share["pooled"]["over_exponential"],
        "span": float(np.median(columns["pooled"]["span"])),
        "fits_control": less["fits"],
        "alternatives_control": less["no_other"],
        "exponential_control": less["over_exponential"],
        "unrefuted": share["slices"]["unrefuted"],
    }


def of_range(seed: int = 0, n_gaussian: int = 2_000) -> dict[str, float]:
    """Values of the checks of P3.02 on small networks, by their names.

    seed : of Gaussian weights. n_gaussian : Gaussian matrices of 16 × 16.
    """
    networks, rng = stored_networks(), np.random.default_rng(seed)
    trained = [key for key in networks if key != CHANCE_LEVEL]
    spectra = {
        name: study.exponents(networks, trained, name, rng.spawn(1)[0], draws)
        for name, draws in (("slices", 1), ("pooled", 5))
    }
    series = spectra["slices"].of(spectra["slices"].table["network"].str.startswith("resnet").to_numpy())
    share = {name: {kind: study.in_range(of) for kind, of in one.groups().items()} for name, one in spectra.items()}
    return {
        "slices": share["slices"]["trained"],
        "pooled": share["pooled"]["trained"],
        "shuffled": share["slices"]["trained"] - share["slices"]["shuffled"],
        "shuffled_pooled": share["pooled"]["trained"] - share["pooled"]["shuffled"],
        "gaussian": study.in_range(study.chance_exponents((16, 16), n_gaussian, rng)),
        "intervals": fits.shares(fits.gathered(fits.stored_fits(), trained, "slices"))["inside"],
        "series": study.in_range(series.alpha),
    }
