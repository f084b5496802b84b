"""What the stored run says of leave-one-out, in words and tables for the page."""

from __future__ import annotations

from collections import Counter

from chapters.shared.numbers import ends
from chapters.your_trained_network import decay_answers as decays
from chapters.your_trained_network.decay_questions import POINTS, QUESTIONS

TASKS = {"decay": "weight decay", "width": "width", "both": "both", "stop": "when to stop"}
SHOWN = {
    "cv": "five-fold",
    "holdout": "hold-out",
    "penalised": "total/N",
    "tic": "TIC",
    "random": "random",
}


def of_decays(cells: decays.Cells) -> list[str]:
    """How leave-one-out chooses, beside others: a sentence with the finding, a table, and what decides each task."""
    met = {task: decays.regret(cells, task, "alo", "cv") for task in TASKS}
    asked = f"at most {POINTS:g}?", "chance of a *yes* if both were equally good"
    head = ["to choose", "leave-one-out", *SHOWN.values(), "leave-one-out less five-fold", *asked]
    rows = []
    for task, name in TASKS.items():
        regrets = [f"{decays.regret(cells, task, each)[0]:.1f}" for each in ("alo", *SHOWN)]
        answer, power = QUESTIONS[task].answer(*met[task][1:]), f"{decays.chance_of_yes(cells, task):.0%}"
        rows.append([name, *regrets, ends(met[task]), answer, power])
    _, low, high = decays.size_of_optimism(cells, "alo")
    means = {name: decays.regret(cells, "decay", name)[0] for name in ("cv", "random")}
    lines = ["| " + " | ".join(row) + " |" for row in (head, ["---"] * len(head), *rows)]
    return [
        f"**Weight decay is chosen {met['decay'][0]:.1f} points worse than by five-fold cross-validation, with a fifth "
        f"of the training; a random choice is {means['random'] - means['cv']:.0f} points worse.** Points are the",
        "test loss of the chosen network, less that of the best on offer, in per cent of the loss of the "
        "best constant; 95 % intervals over data sets:",
        "\n\n" + "\n".join(lines) + "\n\n",
        f"*Yes* and *no* need the whole interval on one side of {POINTS:g}; eight data sets are few.",
        f"The optimism that it predicts is {low:.2f} to {high:.2f} times that on the tests.",
    ]


def rows() -> list[list[str]]:
    """Rows of the table of all questions: question, measure, what "yes" needs, the interval, the answer."""
    numbers = decays.numbers(decays.cells())
    return [question.row(*numbers[name]) for name, question in QUESTIONS.items()]


def of_all() -> str:
    """How many questions have which answer."""
    answers = Counter(row[-1] for row in rows())
    return (
        f"Of {answers.total()} questions {answers['yes']} has the answer yes, {answers['no']} no, and "
        f"{answers['undecided']} are undecided. The criteria fixed before the run allowed only yes or no, and used "
        "bootstrap intervals, which are too narrow for so few data sets; by them two of 16 had a yes."
    )
