"""Tables as text: columns aligned, and numbers and labels formatted by whoever calls."""

from collections.abc import Mapping, Sequence


def text_table(rows: Sequence[Sequence[str] | Mapping[str, str]], columns: Sequence[str], align: str = "<>") -> str:
    """Rows of text under their headings, one line each, with two spaces between columns.

    Parameters
    ----------
    rows : sequence
        Each row is a sequence of cells in the order of ``columns``, or a mapping from them to cells.
    columns : list of str
        The headings.
    align : str
        The side of each column, ``<`` or ``>``. The last sign holds for all columns that follow.

    Examples
    --------
    >>> print(text_table([["fc", "12"], ["conv1", "3"]], ["layer", "n"]))
    layer   n
    fc     12
    conv1   3
    """
    lines = [[*columns], *([row[key] for key in columns] if isinstance(row, Mapping) else [*row] for row in rows)]
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    sides = align.ljust(len(widths), align[-1])[: len(widths)]
    return "\n".join(
        "  ".join(f"{cell:{side}{width}}" for cell, side, width in zip(line, sides, widths, strict=True)).rstrip()
        for line in lines
    )
