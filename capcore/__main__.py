"""``python -m capcore``, the command where it is not on the shell's path. See :mod:`capcore.commands.cli`."""

import sys

from capcore.commands.cli import main

if __name__ == "__main__":
    sys.exit(main())
