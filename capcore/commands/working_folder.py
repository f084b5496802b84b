"""The working folder taken off the path of imports: weights lie there, and whatever code came with them.

Imports nothing that Python has not imported by itself, since the working folder may be asked first.
"""

import os
import sys


def off_the_path() -> None:
    """Take every spelling of the working folder off ``sys.path``: empty, relative, through a link."""
    try:
        here = os.path.realpath(os.getcwd())
    except FileNotFoundError:  # it was deleted, so nothing lies there
        return
    sys.path[:] = [place for place in sys.path if os.path.realpath(place) != here]
