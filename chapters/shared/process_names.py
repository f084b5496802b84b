"""Processes as a sentence names them."""

from typing import Any

from capcore.plotting import CYCLE, LINES, MARKERS

NAMES = {
    "PowerLaw": "power law",
    "FractionalGaussianNoise": "fractional Gaussian noise",
    "AR1": "AR(1)",
    "DampedCosine": "damped cosine",
    "RationalQuadratic": "rational quadratic",
}
PROCESSES: dict[str, dict[str, Any]] = {
    family: {"color": CYCLE[i], "linestyle": (*LINES, (0, (6, 1, 1, 1, 1, 1)))[i], "marker": MARKERS[i]}
    for i, family in enumerate(NAMES)
}
"""Family → its colour, line and marker, in all figures the same."""
PARAMETERS = {"phi": "φ", "alpha": "α", "hurst": "Hurst exponent"}


def process_name(process: Any) -> str:
    """A family or a process in words; what has no name of its own is named as Python prints it.

    >>> import capcore as cc
    >>> process_name("RationalQuadratic"), process_name(cc.AR1(0.9)), process_name(cc.PowerLaw())
    ('rational quadratic', 'AR(1), φ 0.9', 'power law, exponent 0.5')
    """
    if isinstance(process, str):
        return NAMES.get(process, process)
    name = NAMES.get(type(process).__name__)
    fields = getattr(type(process), "__dataclass_fields__", {})
    if name is None or not fields:
        return name or str(process)
    return ", ".join([name, *(f"{PARAMETERS.get(field, field)} {getattr(process, field):g}" for field in fields)])


def process_look(name: str, place: int = 0) -> dict[str, Any]:
    """Colour, line and mark of a family, in all figures the same; anything else has those of its ``place``.

    >>> process_look("rational quadratic") == process_look("RationalQuadratic") == process_look("another", 4)
    True
    """
    families = {words: family for family, words in NAMES.items()}
    looks = [*PROCESSES.values()]
    return {**PROCESSES.get(families.get(name, name), looks[place % len(looks)])}
