"""What is asked of the layers of trained networks, and what would decide it; written before the run.

Paper 1's Conjecture 2 says that redundant parameters can be fixed at random before the others are learned. Its verdict
is on the claims page and does not depend on this. Here the question is ours: trained networks have no layer of marginal
capacity 0, and the one with the least may still be the one to freeze, or to remove.

Stacks of five tanh layers of eight units, three data sets, ten splits. *Freezing* a layer trains all others from the
same first weights while it keeps its own. *Pruning* replaces one of the last four by the identity, and trains on from
the trained weights. The cost is the loss that results, less that of the whole network after as many steps. A rank
correlation is that of a score with this cost, over the layers of one network; intervals are Student's 95 % over data
sets, as in ``decay_questions``.
"""

from chapters.shared.question import Question

COSTS = ("freezing", "pruning")
OTHERS = ("independent", "magnitude", "movement", "gradient")
NETWORKS = "Three data sets, ten splits, five layers to freeze and four to prune."


def _tells(cost: str) -> Question:
    measure = f"Mean rank correlation of marginal capacity with the cost. {NETWORKS}"
    return Question(f"Does a layer's marginal capacity tell what {cost} it costs in training loss?", measure, 0.5)


def _tells_better(cost: str) -> Question:
    measure = (
        "Mean difference of rank correlations, the least over the layer's independent capacity, its weights' size, "
        f"their movement in training and the size of its gradients. {NETWORKS}"
    )
    return Question(f"Better than what is simpler tells it, for {cost}?", measure, 0.0)


def _chosen(cost: str) -> Question:
    measure = (
        "Mean cost in test loss of the layer of least marginal capacity, less that of one drawn at random, in per cent "
        f"of the loss of the best constant. {NETWORKS}"
    )
    return Question(f"Does {cost} the layer of least marginal capacity cost less than one by lot?", measure, 0.0, False)


QUESTIONS = {
    **{cost: _tells(cost) for cost in COSTS},
    **{f"{cost} better": _tells_better(cost) for cost in COSTS},
    **{f"{cost} chosen": _chosen(cost) for cost in COSTS},
}
