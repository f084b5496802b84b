"""The colours of a figure on a dark page, as a style inside its SVG.

A picture in a page follows the page's ``color-scheme``, so that one file serves both. What is black, grey or white
changes as text and page do; other colours keep their order from light to dark and become a little lighter, as those of
the explorers do (``scripts/write_palette.py``). So captions that name a colour, or say *light* and *dark*, stay true,
which they would not under a CSS filter that inverts. Maps keep all colours, and what lies on them (``kit.pictures``).
"""

from __future__ import annotations

import re

from chapters.kit.pictures import KEPT

PAGE, TEXT = 0x12, 0xE6  # of a dark page, from 0 to 255: black becomes TEXT, and white PAGE
LIGHTER = 0.35  # share of white added to the colours, as in scripts/write_palette.py
GREY = 8  # largest difference between the parts of a colour that is called grey
COLOUR = re.compile(r"(?<=: )#([0-9a-f]{6})\b")  # in a style
ATTRIBUTE = re.compile(r'fill="#([0-9a-f]{6})"')  # behind hatches


def on_dark(colour: str) -> str:
    """The colour, six hexadecimal digits, on a dark page.

    >>> [on_dark(colour) for colour in ("ffffff", "000000", "0072b2", "f6a37a")]
    ['121212', 'e6e6e6', '59a3cd', 'f9c3a9']
    """
    parts = [int(colour[i : i + 2], 16) for i in (0, 2, 4)]
    if max(parts) - min(parts) <= GREY:
        parts = [round(TEXT + (PAGE - TEXT) * part / 255) for part in parts]
    else:
        parts = [round((1 - LIGHTER) * part + LIGHTER * 255) for part in parts]
    return "".join(f"{part:02x}" for part in parts)


def themed(svg: str) -> str:
    """The SVG with its colours as variables, which have other values on a dark page.

    >>> print(themed('<svg width="1pt"><path style="fill: #ffffff"/></svg>').replace("}", "}\\n"))
    <svg width="1pt"><style>:root{--000000:#000000;--ffffff:#ffffff}
    svg,[id^="as-drawn"]{fill:var(--000000)}
    @media (prefers-color-scheme:dark){:root{--000000:#e6e6e6;--ffffff:#121212}
    [id^="as-drawn"]{--000000:#000000;--ffffff:#ffffff}
    }
    </style><path style="fill: var(--ffffff)"/></svg>
    """
    svg = ATTRIBUTE.sub(r'style="fill: #\1"', svg)
    colours = sorted({"000000", *COLOUR.findall(svg)})
    drawn, dark = (";".join(f"--{each}:#{change(each)}" for each in colours) for change in (str, on_dark))
    kept = f'[id^="{KEPT}"]'
    style = (
        f"<style>:root{{{drawn}}}svg,{kept}{{fill:var(--000000)}}"
        f"@media (prefers-color-scheme:dark){{:root{{{dark}}}{kept}{{{drawn}}}}}</style>"
    )
    return re.sub(r"<svg[^>]*>", lambda opening: opening[0] + style, COLOUR.sub(r"var(--\1)", svg), count=1)
