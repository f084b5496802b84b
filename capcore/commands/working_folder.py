"""Remove the working folder from ``sys.path``, because it may hold downloaded weights with untrusted code beside them.

This module imports only what Python itself has already imported, since any other import could load code from there.
"""

import os
import sys


def off_the_path() -> None:
    """Remove the working folder from ``sys.path`` in every spelling: empty, relative, or through a link."""
    try:
        here = os.path.realpath(os.getcwd())
    except FileNotFoundError:  # it was deleted, so there is nothing to import
        return
    sys.path[:] = [place for place in sys.path if os.path.realpath(place) != here]
