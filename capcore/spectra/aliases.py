"""The names that the numbers of a fit had when this package was planned: read-only, beside those that landed."""

from __future__ import annotations

xmin = property(lambda fit: fit.x_min, doc="The same as ``x_min``: lower end of the fitted tail.")
ks_distance = property(lambda fit: fit.distance, doc="The same as ``distance``, of Kolmogorov and Smirnov.")
stderr = property(lambda fit: fit.sigma, doc="The same as ``sigma``: standard error of α, with its caveats.")
