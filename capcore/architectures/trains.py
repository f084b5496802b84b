"""Is a model a tensor train? Asked here, in one wording, for all methods that need one."""

from __future__ import annotations

from typing import TypeGuard

from capcore.architectures.hierarchical import Hierarchical


def is_train(arch: object, one_component: bool = True) -> TypeGuard[Hierarchical]:
    """Whether the model is a hierarchical one with disjoint supports, and with one component per input if asked for.

    >>> is_train(Hierarchical(channels=2, n_layers=3)), is_train(Hierarchical(channels=2, dilations=[1, 1]))
    (True, False)
    """
    return isinstance(arch, Hierarchical) and arch.has_disjoint_supports and (arch.input_dim == 1 or not one_component)


def check_train(arch: object, one_component: bool = True) -> Hierarchical:
    """The model, if :func:`is_train` says that it is one.

    Raises ``TypeError`` for another kind of model, ``ValueError`` for overlapping supports and for more components than
    one where one is asked for.

    >>> check_train(Hierarchical(channels=2, dilations=[1, 1]))
    Traceback (most recent call last):
    ...
    ValueError: arch: found overlapping dilations [1, 1], expected disjoint supports (dilations=None). ...
    """
    if is_train(arch, one_component):
        return arch
    if not isinstance(arch, Hierarchical):
        raise TypeError(f"arch: found {type(arch).__name__}, expected a Hierarchical model. Use method='auto'.")
    if not arch.has_disjoint_supports:
        raise ValueError(
            f"arch: found overlapping dilations {arch.dilations}, expected disjoint supports (dilations=None). Only "
            "then is the model a tensor train. Use method='auto'."
        )
    raise ValueError(f"arch: found input_dim={arch.input_dim}, expected 1. Use method='auto'.")
