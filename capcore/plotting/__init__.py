"""Figures: every function takes results and an axis, draws, and returns the axis. Nothing is computed here.

One style file, ``capcore.mplstyle``, holds all of the look; :func:`use_style` applies it.
"""

try:
    from capcore.plotting.profiles import plot_profiles
    from capcore.plotting.style import CYCLE, channel_colours, use_style
except ModuleNotFoundError as error:
    if (error.name or "").split(".")[0] != "matplotlib":
        raise
    said = (
        "capcore.plotting: found no matplotlib, expected it for the figures. Install it: pip install 'capcore[book]'."
    )
    raise ModuleNotFoundError(said, name="matplotlib") from None

__all__ = ["CYCLE", "channel_colours", "plot_profiles", "use_style"]
