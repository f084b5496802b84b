"""How an exponent a of a scale L⁻ᵃ is written and drawn in every figure.

Black is 1/√L. Larger scales are warm and smaller ones cold; the markers tell them apart without colour.
"""

from typing import Any

from capcore.plotting import CYCLE

FRACTIONS = {0.0: "0", 0.25: "¼", 0.5: "½", 0.75: "¾", 1.0: "1"}
LOOKS = {0.0: (CYCLE[1], "o"), 0.25: (CYCLE[4], "s"), 0.5: (CYCLE[6], "^"), 0.75: (CYCLE[5], "D"), 1.0: (CYCLE[0], "v")}


def fraction(a: float) -> str:
    """The exponent as a label has it.

    >>> fraction(0.25), fraction(0.3)
    ('¼', '0.3')
    """
    return FRACTIONS.get(float(a), f"{a:g}")


def look(a: float) -> dict[str, Any]:
    """Colour and marker of an exponent, as options of a line; of another than five, those of the next smaller one.

    >>> look(0.5) == look(0.6), look(0.5) == look(1)
    (True, False)
    """
    colour, marker = LOOKS[max((known for known in LOOKS if known <= a), default=0.0)]
    return {"color": colour, "marker": marker}
