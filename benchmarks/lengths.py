"""Capacity of every input against the dense path, at the lengths where that runs: how either grows."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.measure import Row
from benchmarks.scale import against_dense


def rows(quick: bool = False) -> Iterator[Row]:
    """Four channels, kernel size 2, power law with exponent ½, up to 2,048 inputs; the suite scale has 4,096."""
    for n_layers in (6, 7) if quick else (8, 9, 10, 11):
        yield against_dense(n_layers, peer_repeats=2)
