"""What is asked of trained networks, and what would decide it; written before the runs.

None of this is in the papers: the questions are ours, and no verdict of a claim depends on them. A prototype had
been seen (one sample of data, two of these networks), so that a criterion says what would have to hold in general.
Capacity is that of the response operator S = J H⁻¹ Jᵀ of the optimum, with the whole Hessian unless Gauss–Newton is
named, in the metric of L²(data). "Whitened" inputs are those multiplied by the inverse square root of their
covariance.
"""

from chapters.shared.question import Question

CASES = (
    "Stacks of 16 inputs, two channels and biases; four Gaussian processes (power law, fractional Gaussian noise, "
    "rational quadratic, damped cosine), the next value predicted from the values or from their warped copies, three "
    "samples of 2,000 windows; weight decay 10⁻⁴ of the mean loss; the lowest of all optima found from five starts."
)
QUESTIONS = {
    # 1. Does linear theory predict where a trained stack puts its capacity?
    "where tanh": Question(
        "Does the linear stack predict which inputs a tanh stack spends its linear capacity on?",
        "Share of the cases with correlation ≥ 0.9 between the capacities per whitened input of the tanh stack and "
        f"of the linear stack's optimum, and above 95 % of 40 linear stacks with random weights. {CASES}",
        0.9,
    ),
    "where gated": Question("Does it predict a gated stack's?", "The same share for tanh · sigmoid units.", 0.9),
    "how much": Question(
        "Does it predict how much capacity a tanh stack has?",
        "Share of the cases in which the total is within 10 % of the linear stack's rank.",
        0.9,
    ),
    "branches": Question(
        "Do all optima of a case agree?",
        "Smallest correlation between the linear profiles of two distinct optima of a case (relative losses differ "
        "by more than 10⁻⁶), tanh, over all cases.",
        0.9,
    ),
    "series": Question(
        "Does it predict a measured series' stack?",
        "The correlation of the first question, for the logarithm of Google's daily volume of trade, lowest of five "
        "optima.",
        0.9,
    ),
    # 2. Is capacity what matters?
    "importance": Question(
        "Does capacity per pixel say which pixels matter?",
        "Smallest Spearman correlation, over two networks and five seeds, with any of: effective receptive field, "
        "gradient saliency, permutation importance, ablation.",
        0.7,
    ),
    # 3. Where it fails
    "saturated": Question(
        "Does an overparametrised network without weight decay say something?",
        "Standard deviation of the leverage over the outputs of 40 images, weight decay 10⁻⁶ and 910 parameters.",
        0.01,
    ),
    "Gauss-Newton": Question(
        "Is Gauss–Newton good enough?",
        "Largest relative error of the predicted response to twenty random shifts, true labels, weight decay 1, five "
        "seeds.",
        0.1,
        at_least=False,
    ),
}
