"""A default picture of each value of a sweep, over the one or two parameters that were varied most."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

OWN = ("seconds", "memory_mb", "error", "key", "python", "capcore", "numpy", "scipy")
MOST = 40  # pictures


def draw(table: pd.DataFrame, parameters: list[str], folder: Path) -> list[Path]:
    """Draw every numeric value over the parameter with most values, in a colour for each value of the next.

    Lines are means, bands 95 % intervals over whatever else was varied. Paths of the pictures.
    """
    import matplotlib as mpl
    import matplotlib.pyplot as plt
    import seaborn as sns

    mpl.use("Agg")
    table = table[table["error"] == ""]
    counts = {name: table[name].nunique() for name in parameters if name in table and table[name].nunique() > 1}
    chosen = sorted(counts, key=lambda name: (not _is_number(table[name]), name == "seed", -counts[name]))[:2]
    values = [name for name in table if name not in (*OWN, *parameters) and _is_number(table[name])]
    if not chosen or not values:
        return []
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for name in [*values, "seconds"][:MOST]:
        figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
        kind = sns.lineplot if _is_number(table[chosen[0]]) else sns.pointplot
        colour = table[chosen[1]].astype(str) if len(chosen) > 1 else None
        kind(data=table, x=chosen[0], y=name, hue=colour, ax=ax)
        if kind is sns.lineplot:
            ax.lines[0].set_marker("o")
        ax.set(title=f"{name} over {' and '.join(chosen)}")
        path = folder / f"{''.join(sign if sign.isalnum() or sign in '._-' else '_' for sign in name)}.png"
        figure.savefig(path, dpi=120)
        plt.close(figure)
        made.append(path)
    return made


def _is_number(column: pd.Series) -> bool:
    return column.dtype.kind in "iufb" and column.notna().any()
