"""What the chapter says of its stored experiments, and what it draws of them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from chapters.trained_capacity.networks import Params, stack_params
from chapters.trained_capacity.questions import QUESTIONS
from chapters.trained_capacity.sources import PROCESSES, windows
from chapters.trained_capacity.study import READERS, SIMPLER, agreeing, components, in_order, predicted, stopping_error

PREDICTORS = {
    "capacity": "capacity",
    "Gauss-Newton": "capacity, Gauss–Newton",
    **{name: name for name in SIMPLER[:-1]},
    "distance": "distance from class mean",
}
BANDS = ("lowest", "low", "high", "highest")
VARIANTS = ("one channel", "three channels", "32 inputs", "a hundredth of the weight decay", "a hundred times as much")
"""The other stacks of question 1, each as it is and warped."""
TASKS = {"linear": "as it is", "warped": "warped"}


def shown(found: Mapping[str, Any]) -> dict[str, dict[str, np.ndarray]]:
    """Title → lines, for ``figures.plot_lags``: of each task the case whose tanh stack has the median correlation."""
    lines = {}
    for task, text in TASKS.items():
        cases = [case for case in found["cases"] if case["task"] == task and case["tanh"]]
        case = sorted(cases, key=lambda each: predicted(each, "tanh"))[(len(cases) - 1) // 2]
        lines[f"{case['process']}, {text}"] = {
            "linear stack": np.array(case["profile"]),
            **{units: np.array(case[units][0]["linear"]) for units in ("tanh", "gated")},
        }
    return lines


def rows(cases: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, list[float]]]:
    """Process and task → kind of stack → correlations with the linear stack's profile, over the samples."""
    found: dict[str, dict[str, list[float]]] = {}
    for task, text in TASKS.items():
        for process in dict.fromkeys(case["process"] for case in cases):
            some = [case for case in cases if (case["process"], case["task"]) == (process, task)]
            found[f"{process}, {text}"] = {
                "random weights": [each for case in some for each in case["random"]],
                **{units: [predicted(case, units) for case in some if case[units]] for units in ("tanh", "gated")},
            }
    return found


def recent(profile: Sequence[float]) -> float:
    """Share of a profile in the more recent half of its inputs."""
    return float(np.sum(profile[: len(profile) // 2]) / np.sum(profile))


def of_theory(found: Mapping[str, Any]) -> list[str]:
    """Question 1, on stacks."""
    cases = found["cases"]
    by_task = [[case for case in cases if case["task"] == task] for task in TASKS]
    lines = {"tanh": ("tanh", True), "tanh, some optimum": ("tanh", False), "gated": ("gated", True)}
    agreed = {name: [agreeing(some, *line) for some in by_task] for name, line in lines.items()}
    totals = [case["tanh"][0]["total"] for case in cases if case["tanh"]]
    ranks = sorted({round(sum(case["profile"])) for case in cases})
    shares = np.array([[recent(case["tanh"][0]["other"]), recent(case["profile"])] for case in cases if case["tanh"]])
    others = np.reshape([f"{predicted(case, 'tanh'):.2f}" for case in found["others"]], (len(VARIANTS), len(TASKS)))
    series = [predicted(found["series"], units) for units in ("tanh", "gated")]
    return [
        "Cases in which the correlation with the linear stack's profile is at least 0.9, and higher than for 95 % of "
        "random stacks. One of the starts is the linear optimum, which favours *some optimum*:",
        table(TASKS.values(), {name: [f"{sum(one)} of {len(one)}" for one in both] for name, both in agreed.items()}),
        "Other tanh stacks, on one sample of the power law, have these correlations with their linear stack:",
        table(TASKS.values(), dict(zip(VARIANTS, others, strict=True))),
        "The linear stack does not predict the total:",
        f"its rank is {' or '.join(map(str, ranks))}, while tanh stacks have {min(totals):.0f} to {max(totals):.0f}.",
        f"Of their additional, nonlinear capacity {np.mean(shares[:, 0]):.0%} lies on the recent half of the inputs,",
        f"where the linear stack has {np.mean(shares[:, 1]):.0%}.",
        "A measured series, Google's daily volume of trade, is predicted neither for tanh nor for gates:",
        f"the correlations are {series[0]:.2f} and {series[1]:.2f}.",
    ]


def table(columns: Iterable[str], rows: Mapping[str, Iterable[str]]) -> str:
    """Markdown of a table with named rows.

    >>> table(["a", "b"], {"row": ["1", "2"]}).strip().splitlines()
    ['| | a | b |', '|---|---|---|', '| row | 1 | 2 |']
    """
    head = ["", *columns]
    lines = [f"| {' | '.join([name, *cells])} |" for name, cells in rows.items()]
    return "\n".join(["\n", f"|{' | '.join(head)} |", "|---" * len(head) + "|", *lines, "\n"])


def live(process: str, warped: bool, units: str, n_examples: int, seed: int) -> tuple[np.ndarray, np.ndarray, Params]:
    """Windows (n_examples, 16), expected next values (n_examples, 1), and a start of a stack with two channels."""
    rng = np.random.default_rng([seed, 4])
    x, y = windows(PROCESSES[process], "warped" if warped else "linear", n_examples, 16, rng)
    return x, y, stack_params(units, 2, 4, rng)


def band_courses(found: Mapping[str, Any], kind: str, name: str) -> dict[str, np.ndarray]:
    """Band of frequencies → mean capacity of a mode, of one of ten outputs, over the steps; mean over seeds."""
    values = np.mean([each[name] for each in found["digits"][kind]["bands"]], axis=0) / 10
    return dict(zip(BANDS, values.T, strict=True))


def groups(found: Sequence[Mapping[str, Any]]) -> dict[str, np.ndarray]:
    """Kind of labels → (n_seeds, 8) capacities of groups of components."""
    names = {"true": "true labels", "shuffled": "shuffled, equal weight decay", "equal": "shuffled, equal total"}
    return {text: components(found, kind) for kind, text in names.items()}


def of_tokens(found: Sequence[Mapping[str, Any]]) -> list[str]:
    """Question 1, on the transformer."""
    trained, before = (np.mean([each[name] for each in found], axis=0) for name in ("trained", "random"))
    attention = np.mean([each["attention"][3] for each in found])
    first = sum(int(np.argmax(each["trained"])) == 3 for each in found)
    return [
        "**A source whose dependence is known.** A causal transformer of 672 parameters reads tokens that repeat the",
        f"one at lag 3. It learns to give it {attention:.0%} of its attention, and the capacity of this token rises",
        f"from {before[3]:.1f} at random weights (Gauss–Newton) to {trained[3]:.1f} of at most 12. It becomes the",
        f"largest in {first} of {len(found)} seeds: the latest token, whose path skips attention, has",
        f"{before[0]:.1f} from the start.",
    ]


def of_training(found: Mapping[str, Any], decided: Mapping[str, float]) -> list[str]:
    """The first half of question 2."""
    runs, steps = {kind: each["bands"] for kind, each in found["digits"].items()}, found["steps"]["digits"]
    most = max(lowest / 10 for run in runs["true"] for lowest, *_ in run["modes"])
    ordered = {kind: [in_order(run["modes"], steps) for run in each] for kind, each in runs.items()}
    held = {
        "low frequencies, true labels": [f"{sum(ordered['true'])} of {len(ordered['true'])}"],
        "low frequencies, shuffled labels": [f"{sum(ordered['shuffled'])} of {len(ordered['shuffled'])}"],
        "low frequencies, whitened": [f"{decided['whitened first']:.0f} of {sum(map(len, runs.values()))}"],
        "single inputs before products, u₁ + u₄u₆": [f"{decided['singles first']:.0f} of {len(found['orders'])}"],
    }
    return [
        "Which functions come first depends on the metric of the inputs:",
        table(["runs"], held),
        "With true labels capacity does not only grow: along the lowest frequencies the outputs follow",
        f"up to {most:.1f} times as far as the targets move.",
    ]


def of_labels(found: Mapping[str, Any], decided: Mapping[str, float]) -> list[str]:
    """The second half of question 2."""
    learnt = found["fully connected"]
    kinds = {"true": "true labels", "shuffled": "shuffled, equal decay", "equal": "shuffled, equal total"}
    means = {
        text: [f"{np.mean([each[kind][name] for each in learnt]):.0f}" for kind in kinds]
        for name, text in (("total", "total"), ("linear", "linear functions of pixels"))
    }
    decay = np.mean([each["equal"]["decay"] for each in learnt])
    other = components(found["convolutional"], "equal") - components(found["convolutional"], "true")
    return [
        f"Shuffled labels take more capacity. {decay:.1f} times the weight decay brings the total back, but not the",
        "allocation, in fully connected networks:",
        table(kinds.values(), means),
        f"At equal totals groups of components differ by up to {decided['shuffled']:.2f},",
        f"in convolutional networks by up to {np.abs(other.mean(axis=0)).max():.2f};",
        f"{QUESTIONS['shuffled'].bound:g} was asked.",
    ]


def of_importance(agreements: Mapping[str, np.ndarray]) -> list[str]:
    """The first half of question 3."""
    halves = {name: values.reshape(2, -1).mean(axis=1) for name, values in agreements.items()}
    return [
        "*Needed inputs.* In convolutional networks capacity per pixel is not importance.",
        "These are its mean rank correlations with four measures of importance:",
        table(READERS, {name: [f"{x:.2f}" for x in pair] for name, pair in halves.items()}),
    ]


def of_prediction(
    found: Mapping[str, Any], again: Mapping[str, np.ndarray], scratch: Mapping[str, np.ndarray]
) -> list[str]:
    """The second half of question 3."""
    meant, followed = (np.mean(found[name]) for name in ("capacity", "again"))
    margin, *ends = -again["margin"]
    names = {"capacity": "capacity", "gradient norm": "norm of the change's gradient"}
    values = {text: [f"{each[name][0]:.2f}" for each in (again, scratch)] for name, text in names.items()}
    return [
        "*Changed labels.* Rank correlations with what is followed, where we had asked",
        f"for {QUESTIONS['prediction'].bound:g} and chance reaches {again['chance'][0]:.2f}:",
        table(["trained on", "from scratch"], values),
        f"Trained on, the difference is {margin:.2f} [{min(ends):.2f}, {max(ends):.2f}], in each resample from the",
        f"best of four. New labels are no small shift: {meant:.0%} should be followed, {followed:.0%} are.",
    ]


def of_failing(found: Sequence[Mapping[str, Any]]) -> list[str]:
    """Question 4."""
    strong, weak = (np.mean([each["few"][decay] for each in found], axis=0) for decay in ("1.0", "1e-06"))
    early, late = (stopping_error(found, share) for share in ("0.01", "0.0001"))
    misses = [each["Gauss-Newton"] for each in found]
    whole, plain = np.median([each["0.0"]["retrained"] for each in misses], axis=0)
    shuffled = np.median([each["1.0"]["retrained"][1] for each in misses])
    leverage = "leverage of an output, mean ± standard deviation"
    rows = {
        "40 images, strong weight decay": (leverage, f"{strong[0]:.2f} ± {strong[1]:.2f}"),
        "40 images, weakest weight decay": (leverage, f"{weak[0]:.2f} ± {weak[1]:.2f}"),
        "L-BFGS-B stopped at 1 % of its first gradient": ("error of the total, up to", f"{early:.0%}"),
        "stopped at 0.01 %": ("error of the total, up to", f"{late:.0%}"),
        "an optimum": ("share of a small move that the whole Hessian misses", f"{whole:.1%}"),
        "the same": ("that Gauss–Newton misses", f"{plain:.0%}"),
        "the same, shuffled labels": ("that Gauss–Newton misses", f"{shuffled:.0%}"),
    }
    return [table(["what is seen", "how much"], rows)]
