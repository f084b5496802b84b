"""Figures: every function takes results and an axis, draws, and returns the axis. Nothing is computed here.

One style file, ``capcore.mplstyle``, holds all of the look; :func:`use_style` applies it.
"""

from capcore.plotting.profiles import plot_bands, plot_profiles
from capcore.plotting.style import CYCLE, channel_colours, use_style

__all__ = ["CYCLE", "channel_colours", "plot_bands", "plot_profiles", "use_style"]
