"""How deep a network is, as far as the name it was published under tells."""

from __future__ import annotations

import re

_NAMED = re.compile(
    r"^(?:(?:shakeshake|diapre|dia|pre|se)?resnet(?:bc|d)?|resnext|(?:bn_)?vgg|densenet|drn[cd]|dla|wrn|sqnxt|ror3_)(\d+)"
)


def named_depth(name: str) -> int | None:
    """Number of layers in a name such as ``resnet18_wd2`` or ``wrn28_10``, or None for families that do not say it.

    >>> named_depth("preresnetbc14b"), named_depth("dla46xc"), named_depth("efficientnet_b0")
    (14, 46, None)
    """
    found = _NAMED.match(name)
    return int(found[1]) if found else None
