"""Ways to look for a good stack by fitting one after another: at random, by evolution, and by optuna's TPE."""

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np

from chapters.design_bound.stacks import MOST, Stack, changed, depth, random_stack, within

FOUNDERS = 10  # random stacks with which evolution begins
RIVALS = 4  # of a tournament
TRIES = 4  # proposals for each fit that is allowed; stacks that were fitted before cost none


@dataclass
class Purse:
    """So many fits, and no more: what they found, stack by stack."""

    known: Callable[[Stack], float]
    limit: int
    losses: dict[Stack, float] = field(default_factory=dict)
    asked: int = 0

    @property
    def spent(self) -> bool:
        """Whether there is nothing left, or too much was asked twice."""
        return len(self.losses) >= self.limit or self.asked >= TRIES * self.limit

    def loss(self, stack: Stack) -> float:
        """The loss of a stack; only the first time it is asked for does it cost a fit."""
        self.asked += 1
        if stack not in self.losses:
            self.losses[stack] = self.known(stack)
        return self.losses[stack]

    @property
    def least(self) -> float:
        """The lowest loss found."""
        return min(self.losses.values())


def at_random(purse: Purse, n_inputs: int, budget: int, seed: int) -> float:
    """Random stacks, each of most of the budget."""
    rng = np.random.default_rng(seed)
    while not purse.spent:
        purse.loss(random_stack(n_inputs, budget, rng))
    return purse.least


def evolution(purse: Purse, n_inputs: int, budget: int, seed: int) -> float:
    """Ten random stacks, then small changes of the best of four drawn from all so far."""
    rng = np.random.default_rng(seed)
    everyone: list[Stack] = []
    while not purse.spent:
        if len(everyone) < FOUNDERS:
            stack = random_stack(n_inputs, budget, rng)
        else:
            rivals = [everyone[int(at)] for at in rng.integers(len(everyone), size=RIVALS)]
            stack = changed(min(rivals, key=lambda one: purse.losses[one]), n_inputs, budget, rng)
        purse.loss(stack)
        everyone.append(stack)
    return purse.least


def tpe(purse: Purse, n_inputs: int, budget: int, seed: int) -> float:
    """optuna's tree-structured Parzen estimator, at its defaults: channels of every cut, 0 for none.

    A proposal beyond the budget is scaled down until it fits. optuna is no dependency of this book: without it this
    raises ``ModuleNotFoundError``.
    """
    optuna: Any = import_module("optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    while not purse.spent:
        trial = study.ask()
        asked = {cut: trial.suggest_int(f"cut {cut}", 0, MOST) for cut in range(1, depth(n_inputs))}
        stack = within({cut: width for cut, width in asked.items() if width}, n_inputs, budget)
        study.tell(trial, float(np.log10(max(purse.loss(stack), 1e-300))))
    return purse.least


SEARCHES: dict[str, Callable[[Purse, int, int, int], float]] = {"random": at_random, "evolution": evolution, "tpe": tpe}
