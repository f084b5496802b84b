"""What is asked of leave-one-out and its competitors, and what would decide it; written before the run.

The questions are ours. A prototype had been seen: 24 synthetic data sets of regression, one architecture, Adam, weight
decay alone. There leave-one-out cost 0.5 % [−1.9, 3.0] more test loss than five-fold cross-validation, generalised
cross-validation 0.0 % [−2.3, 2.5], and Laplace's evidence 7.9 % [0.4, 18.4]. Twelve synthetic data sets of
classification had shown that one Newton step does not do for cross-entropy, where weights are far from an optimum: it
cost 0.18 nats, and the linearised network's optimum, which the package now takes, as much as cross-validation.

A *regret* is the test loss of the network that is chosen, less that of the best one on offer, in points: per cent of
the loss of the best constant prediction. Intervals are Student's 95 % over data sets, whose means over splits,
architectures and optimisers weigh the same. Every estimate chooses among networks trained on all examples,
cross-validation and the hold-out set by networks trained on four fifths of them.

**Changed after the run.** There were two answers, and intervals held 95 % of bootstrap means over data sets and splits,
which are too narrow for so few data sets: two answers were "yes", 14 were "no". Now "no" asks that the interval
excludes the bound, too. Six questions on which layer to freeze or to prune, asked of three data sets, stayed undecided
and were given up: one had been "yes". So were nine later, all undecided: generalised cross-validation (two), the decay
curve of one network, Laplace's evidence, leave-one-out at the weights as they are, Adam and AdamW by themselves, and
whether the total tells which networks overfit (two).
"""

from __future__ import annotations

from chapters.shared.question import Question

POINTS = 0.5
"""As well as: at most so many points worse, by the upper end of the interval."""
LESS = "Its mean regret less that of {other}, {task}, in points. {where}"
TASKS = {
    "decay": "for choosing among seven weight decays at each of three widths",
    "width": "for choosing among three widths at each of seven weight decays",
    "both": "for choosing among all 21 networks",
    "stop": "for choosing among six steps of training at the weakest decay",
}
EVERYWHERE = "Eight data sets, two or three architectures each, Adam and AdamW, 20 splits."


def _as_well(who: str, task: str, where: str = EVERYWHERE) -> Question:
    other = "five-fold cross-validation"
    measure = LESS.format(other=other, task=TASKS[task], where=where)
    return Question(f"Does {who} choose as well as {other}, {TASKS[task]}?", measure, POINTS, at_least=False)


def _better(who: str, other: str) -> Question:
    measure = LESS.format(other=other, task=TASKS["decay"], where=EVERYWHERE)
    return Question(f"Does {who} choose weight decay better than {other}?", measure, 0.0, at_least=False)


QUESTIONS = {
    "decay": _as_well("leave-one-out", "decay"),
    "width": _as_well("leave-one-out", "width"),
    "both": _as_well("leave-one-out", "both"),
    "stop": _as_well("leave-one-out", "stop"),
    "holdout": _better("leave-one-out", "a hold-out set of a fifth"),
    "tic": _better("leave-one-out", "Takeuchi's criterion"),
    "size": Question(
        "Does leave-one-out tell by how much?",
        "The factor, above 1, between its mean optimism and that on the tests.",
        1.25,
        at_least=False,
    ),
}
