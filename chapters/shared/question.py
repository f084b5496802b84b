"""A question of ours, with the number or the interval that decides it, written before it is known."""

import math
import re
from typing import Any, NamedTuple

from chapters.shared.intervals import Interval


class Question(NamedTuple):
    """A question, what decides it, and when the answer is yes.

    Attributes
    ----------
    asks : str
        One sentence.
    measure : str
        What is counted or measured, with its settings.
    bound : float
        Of that number, or of both ends of its interval.
    at_least : bool
        Whether "yes" is at or above the bound; else at or below.
    """

    asks: str
    measure: str
    bound: float
    at_least: bool = True

    @property
    def needed(self) -> str:
        """Where the number, or all of its interval, has to lie for a "yes"."""
        return f"{'≥' if self.at_least else '≤'} {self.bound:g}"

    def answer(self, *ends: float) -> str:
        """ "yes" or "no" to a number; to both ends of an interval "undecided", too, where it holds the bound.

        >>> Question("Is it large?", "size", 0.9).answer(0.95), Question("Is it large?", "size", 0.9).answer(0.8, 1.1)
        ('yes', 'undecided')
        """
        met = {end >= self.bound if self.at_least else end <= self.bound for end in ends}
        return "undecided" if len(met) == 2 else "yes" if met == {True} else "no"

    def judged(self, samples: object) -> dict[str, Any]:
        """The bound, the mean of samples (m,) with both ends of its interval by Student's t, and the answer.

        >>> Question("Is it large?", "size", 0.9).judged([1.0, 1.1, 1.2])["answer"]
        'undecided'
        """
        interval = Interval.of(samples)
        ends = {"low": interval.low, "high": interval.high}
        return {"bound": self.bound, "mean": interval.mean, **ends, "answer": self.answer(*ends.values())}

    def row(self, *ends: float) -> list[str]:
        """The cells of a table: question, measure, what "yes" needs, what was found, the answer.

        >>> Question("Is it large?", "size", 0.9).row(0.95)[2:]
        ['≥ 0.9', '0.95', 'yes']
        """
        return [self.asks, self.measure, self.needed, " to ".join(f"{end:.2g}" for end in ends), self.answer(*ends)]


class RatioQuestion(Question):
    """Whether a ratio is within a factor of one, the bound, by both ends of its interval.

    >>> [RatioQuestion("", "", 1.25).answer(*ends) for ends in ((0.9, 1.1), (0.2, 0.4), (-0.1, 1.1))]
    ['yes', 'no', 'undecided']
    """

    @property
    def needed(self) -> str:
        """The factor below and above one."""
        return f"{1 / self.bound:g} to {self.bound:g}"

    def answer(self, *ends: float) -> str:
        """As of :class:`Question`, of the factors by which the ends are off."""
        low, high = min(ends), max(ends)
        factors = max(low, 1 / high, 1.0), max(high, 1 / low) if low > 0 else math.inf
        return Question("", "", self.bound, at_least=False).answer(*factors)


def as_items(text: str) -> str:
    """Text as Markdown, where each line that begins ``name : `` begins an item.

    >>> as_items("last value, season : repeated.")
    '- **last value, season**: repeated.'
    """
    return re.sub(r"(?m)^(\w[\w ,]*) : ", r"- **\1**: ", text)


def criteria_of(docstring: str | None) -> str:
    """The last paragraph but one of a docstring as Markdown, its criteria as items (:func:`as_items`).

    >>> print(criteria_of("Fitted again.\\n\\nrank : Yes from 0.8 on.\\nlag : Yes above 0.\\n\\nMade by hand."))
    - **rank**: Yes from 0.8 on.
    - **lag**: Yes above 0.
    """
    return as_items((docstring or "").split("\n\n")[-2])
