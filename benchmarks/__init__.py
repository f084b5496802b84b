"""Speed as ratios: each row does the same work twice in one run, once by a named peer. ``python -m benchmarks``."""
