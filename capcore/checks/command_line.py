"""The parser of a command line, whose refusals suggest an option or a choice."""

import argparse
import re
from typing import Any, NoReturn

from capcore.checks.names import meant


class Parser(argparse.ArgumentParser):
    """A parser that says what a misspelt option or choice may mean, and leaves the lines of its help as they are."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **{"formatter_class": argparse.RawDescriptionHelpFormatter} | options)

    def error(self, message: str) -> NoReturn:
        """End with the message."""
        wrong = re.search(r"(?:unrecognized arguments: |invalid choice: ')([\w-]+)", message)
        known = [*self._option_string_actions, *(str(one) for action in self._actions for one in action.choices or ())]
        super().error(f"{message}.{meant(wrong[1], known)}" if wrong else message)
