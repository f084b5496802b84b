"""Which definitions decide a number: everything that an entry point reaches by name, and one hash of it.

The hash is that of a set of definitions as syntax trees. It is blind to docstrings, comments, layout, imports, paths,
annotations and refusals (``is_refusal``): files can be moved, split and merged, and a
function can refuse more, without making anything stale. Any other change of anything reached shows.

``python -m chapters.fingerprint NAME`` says which stored results a change of NAME makes stale.
"""

from chapters.fingerprint.reached import Reach, reach

__all__ = ["Reach", "reach"]
