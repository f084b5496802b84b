"""Bars of progress: those of tqdm, but for the thread that it starts to watch them, also where none is shown."""

from tqdm import std


class tqdm(std.tqdm):  # noqa: N801
    """The bar of tqdm; it moves when the work does."""

    monitor_interval = 0
