"""Write powerlaw.json: what the powerlaw package says about the samples of samples.py.

Not a test and not run by the tests: it needs the powerlaw package, which the project does not depend on. Release 1.5,
because release 2.0.0 has no ``alpha`` where ``xmin`` is given.

    python -m venv /tmp/reference
    /tmp/reference/bin/pip install powerlaw==1.5 numpy==2.4.6 scipy==1.17.1
    /tmp/reference/bin/python tests/spectra/goldens/make_powerlaw.py
"""

import contextlib
import io
import json
import warnings
from importlib.metadata import version
from pathlib import Path
from runpy import run_path
from typing import Any

HERE = Path(__file__).parent
LAWS = ("lognormal", "exponential", "truncated_power_law")


def main():
    """Fit every sample, with x_min looked for and given, and compare laws where it is given."""
    import numpy as np
    import powerlaw

    out: dict[str, Any] = {"versions": {name: version(name) for name in ("powerlaw", "numpy", "scipy")}, "samples": {}}
    for name, (values, x_min) in run_path(str(HERE / "samples.py"))["samples"]().items():
        with (
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()),
            np.errstate(all="ignore"),
        ):
            searched = powerlaw.Fit(values, verbose=False)
            fixed = powerlaw.Fit(values, xmin=x_min, verbose=False)
            entry = {
                "searched": {key: float(getattr(searched, key)) for key in ("alpha", "xmin", "D", "sigma")},
                "fixed": {key: float(getattr(fixed, key)) for key in ("alpha", "D", "sigma")},
            }
            for law in LAWS:
                model = getattr(fixed, law)
                statistic, p_value = fixed.distribution_compare("power_law", law, normalized_ratio=True)
                entry[law] = {
                    "parameters": [float(p) for p in (model.parameter1, model.parameter2) if p is not None],
                    "log_likelihood": float(model.loglikelihoods(values[values >= x_min]).sum()),
                    "ratio": float(fixed.distribution_compare("power_law", law)[0]),
                    "statistic": float(statistic),
                    "p_value": float(p_value),
                }
        out["samples"][name] = entry
    (HERE / "powerlaw.json").write_text(json.dumps(out, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
