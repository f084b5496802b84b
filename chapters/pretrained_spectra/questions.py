"""What is asked of pretrained networks, and what would decide it; written before the run.

The two sentences are quoted in :data:`DRAFT`. A first look at twelve of these networks had been seen (:data:`KNOWN`),
so bounds are those that the registry already had for residual networks, or the book's criterion for *nearly all*: nine
tenths. New is what tells a "no" from a lack of power: every layer is accompanied by spectra of the same size whose law
is known, and intervals come from resampling networks.
"""

from __future__ import annotations

from collections.abc import Mapping

from chapters.shared.question import Question

DRAFT = {
    "P3.01": "Looking in detail at a series of models, one observes that the individual layer ESDs almost always "
    "follow a power law (PL) distribution ρ(λ) ~ λ^(−α), where ρ(λ) is the density of the eigenvalues λ of the "
    "normalized layer correlation matrix X = (1/N) WᵀW.",
    "P3.02": "The power law exponents nearly all lie within a universal range α ∈ [2, 5], in nearly every pre-trained "
    "architecture studied, e.g., across nearly 10,000 layer weight matrices (and 2D feature maps), including DNNs "
    "pre-trained for computer vision tasks on ImageNet, and for several different NLP tasks.",
}
"""The draft's sentences, with the formulas that they contain."""
KNOWN = (
    "A first look at 482 layers of twelve networks, most of them among those below: 0.77 of the exponents in [2, 5] "
    "and 0.82 in [2, 6]; 0.71 of the power laws not rejected; a cut-off preferred in 0.46 of the layers, a plain power "
    "law in none; in layers with at least 256 rows and columns 0.75 of the exponents in [2, 5], of the null's medians "
    "0.03."
)
LAYERS = (
    "All linear and convolutional layers with at least 10 eigenvalues of 13 pretrained networks, the slices of a "
    "kernel pooled; default options (1/N, Clauset's x_min). Embeddings and fixed transforms are left out."
)
CONTROL = (
    "True tails: every spectrum with its tail replaced by a draw from the fitted power law (each eigenvalue is such a "
    "draw with the tail's share, otherwise one of those below x_min), one draw each, through the same fits and tests."
)
RESAMPLED = "Upper end of the 95 % interval, networks resampled 4,000 times with all their layers."
LEVEL = 0.1
RANGE = (2.0, 5.0)
WIDE = (2.0, 6.0)
LARGE = 256
"""Rows and columns, at least, of a large layer."""

QUESTIONS: dict[str, dict[str, Question]] = {
    "P3.01": {
        "pretrained_fits_ratio": Question(
            "Are the tails rejected no more often than true power-law tails?",
            f"Share of layers with a goodness-of-fit p-value above 0.1 (999 simulations), divided by that of true "
            f"tails. {LAYERS} {CONTROL}",
            0.9,
        ),
        "pretrained_no_other_ratio": Question(
            "Is another law preferred no more often than for true power-law tails?",
            "Share of layers where none of lognormal, exponential and power law with a cut-off is preferred at the "
            "level 0.1, divided by that of true tails.",
            0.9,
        ),
        "pretrained_exponential_ratio": Question(
            "Is the power law preferred to an exponential as often as for true power-law tails?",
            "Share of layers where the power law is preferred to an exponential at the level 0.1, divided by that of "
            "true tails.",
            0.9,
        ),
        "pretrained_upper": Question(
            "Could the least of these ratios be nine tenths?",
            f"{RESAMPLED} Of the least of the three ratios.",
            0.9,
        ),
        "pretrained_language": Question(
            "Do language models have such tails?",
            "The least of the three ratios in the layers of MiniLM, MPNet and AntiBERTy.",
            0.9,
        ),
        "pretrained_power": Question(
            "Do true tails of these sizes pass?",
            "The lesser of two shares of true tails: not rejected, and without a preferred other law. Where most true "
            "tails failed, a ratio would tell little.",
            0.5,
        ),
        "pretrained_fits": Question(
            "Are nearly all power laws compatible with the data?",
            "Share of layers whose power law is not rejected: the bound that the registry has for residual networks.",
            0.85,
        ),
        "pretrained_no_other": Question(
            "Is no other law preferred?", "Share of layers where no other law is preferred; bound as before.", 0.85
        ),
        "pretrained_large": Question(
            "Are power laws of large layers compatible with the data?",
            "Share of layers with at least 256 rows and columns whose power law is not rejected; bound as before.",
            0.85,
        ),
        "pretrained_favoured": Question(
            "Can a report favour the plain power law at all?",
            "Share of true tails where the power law is preferred to the likeliest of the three other laws. That this "
            "happened in no layer of the first look says something only if it happens here.",
            0.05,
        ),
        "pretrained_entries": Question(
            "Does the test accept the draft's own random matrices?",
            "Matrices of the same shapes with independent entries of both signs, P(|w| > x) = x⁻³ for x ≥ 1, whose "
            "spectrum has a tail with α = 2.5 in the limit: share whose power law is not rejected, one draw each.",
            0.85,
        ),
        "pretrained_noise": Question(
            "Does the test refuse noise?",
            "Gaussian matrices of the same shapes: share whose power law is rejected, one draw each.",
            0.5,
        ),
        "pretrained_span": Question(
            "Do the tails reach over a decade?", "Median over layers of λ_max / x_min; bound as before.", 10.0
        ),
    },
    "P3.02": {
        "pretrained_slices": Question(
            "Do nearly all exponents lie in the range, as the draft counts them?",
            "Share of exponents in [2, 5]: linear layers as one matrix, kernels slice by slice (2D feature maps), "
            "each with at least 10 eigenvalues.",
            0.9,
        ),
        "pretrained_pooled": Question(
            "Do nearly all layers' exponents lie in the range?", f"Share of exponents in [2, 5]. {LAYERS}", 0.9
        ),
        "pretrained_networks": Question(
            "In nearly every network?", "Share of networks with at least 0.9 of their layers' exponents in [2, 5].", 0.9
        ),
        "pretrained_upper": Question(
            "Could the share be nine tenths?",
            f"{RESAMPLED} Of the share in [2, 5]; the larger of layers and of slices.",
            0.9,
        ),
        "pretrained_language": Question(
            "In language models?", "Share of exponents in [2, 5] in the layers of MiniLM, MPNet and AntiBERTy.", 0.9
        ),
        "pretrained_wide": Question("Do they lie in [2, 6]?", "Share of layers' exponents in [2, 6].", 0.9),
        "pretrained_control": Question(
            "Would true exponents from the range be found in it?",
            "True tails as above whose exponents are spread evenly over [2, 5]: share of fitted exponents in [2, 5].",
            0.9,
        ),
        "pretrained_chance": Question(
            "Does the range tell training from disorder in large layers?",
            "Layers with at least 256 rows and columns: share of exponents in [2, 5] less that of the medians of 100 "
            "draws of each layer's null.",
            0.05,
        ),
        "pretrained_below": Question(
            "Are exponents smaller than chance gives?",
            "Share of layers with an exponent below the median of the null and a two-sided p-value of at most 0.05 "
            "among its 100 draws; bound as before.",
            0.5,
        ),
    },
}
"""Claim → name of its check → question. A check of the registry has this name, its bound and its direction."""
CLAIMS = {
    "P3.01": ("pretrained_fits_ratio", "pretrained_no_other_ratio", "pretrained_exponential_ratio"),
    "P3.02": ("pretrained_slices", "pretrained_pooled", "pretrained_networks"),
}
"""Claim → the questions that the draft's sentence answers with yes; the others are ours."""


def verdict(claim: str, found: Mapping[str, float]) -> str:
    """``holds``, ``not found`` or ``undecided``, from what was found, by a rule that was written before the run.

    It holds if all questions of :data:`CLAIMS` have the answer yes. It is not found only where the evidence excludes
    nine tenths: the upper end of the interval is below them, language models, which the draft names, miss them as
    well, and true tails would have passed (``pretrained_power``). Otherwise it is undecided. No network of the set
    classifies ImageNet, so the sentence of a "not found" has to say what was analysed.

    >>> verdict("P3.02", dict.fromkeys(QUESTIONS["P3.02"], 0.95))
    'holds'
    >>> verdict("P3.02", dict.fromkeys(QUESTIONS["P3.02"], 0.5))
    'not found'
    """
    asked = QUESTIONS[claim]
    answers = {name: asked[name].answer(found[name]) for name in asked}
    if all(answers[name] == "yes" for name in CLAIMS[claim]):
        return "holds"
    excluded = answers["pretrained_upper"] == answers["pretrained_language"] == "no"
    return "not found" if excluded and answers.get("pretrained_power", "yes") == "yes" else "undecided"
