"""A question of ours, with the number that decides it, written before the number is known."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Question:
    """A question, the number that decides it, and when the answer is yes.

    Attributes
    ----------
    asks : str
        One sentence.
    measure : str
        What is counted or measured, with its settings.
    bound : float
        Of that number.
    at_least : bool
        Whether "yes" is at or above the bound; else at or below.
    """

    asks: str
    measure: str
    bound: float
    at_least: bool = True

    def answer(self, value: float) -> str:
        """ "yes" or "no".

        >>> Question("Is it large?", "size", 0.9).answer(0.95)
        'yes'
        """
        return "yes" if (value >= self.bound if self.at_least else value <= self.bound) else "no"

    def row(self, value: float) -> list[str]:
        """The cells of a table: question, measure, what "yes" needs, what was found, the answer.

        >>> Question("Is it large?", "size", 0.9).row(0.95)[2:]
        ['≥ 0.9', '0.95', 'yes']
        """
        needed = f"{'≥' if self.at_least else '≤'} {self.bound:g}"
        return [self.asks, self.measure, needed, f"{value:.2g}", self.answer(value)]
