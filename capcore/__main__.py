"""``python -m capcore``, the command where it is not on the shell's path. See :mod:`capcore.cli`."""

import sys

from capcore.cli import main

if __name__ == "__main__":
    sys.exit(main())
