"""Names that were planned for a fit's numbers before they got their present ones, as read-only properties."""

from __future__ import annotations

xmin = property(lambda fit: fit.x_min, doc="The same as ``x_min``: lower end of the fitted tail.")
ks_distance = property(lambda fit: fit.distance, doc="The same as ``distance``, of Kolmogorov and Smirnov.")
stderr = property(lambda fit: fit.sigma, doc="The same as ``sigma``: standard error of α, with its caveats.")
