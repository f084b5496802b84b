"""LoRA adapters: two thin matrices A and B per layer, whose product is the change made by fine-tuning.

The tuned layer is W + s·B·A. For rank r, s = α/r (Hu et al. 2022), or α/√r if the configuration sets ``use_rslora``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from capcore.checkpoints.tensors import Checkpoint, CheckpointError, Step, Tensor
from capcore.checks.arguments import of_kind

_PAIR = re.compile(r"^(?P<module>.+?)[._]lora_(?P<kind>A|down|embedding_A)(\.default)?(?P<end>(\.weight)?)$")
_OTHER = {"A": "B", "down": "up", "embedding_A": "embedding_B"}
_PREFIXES = ("base_model.model.", "base_model.")
_BASE = re.compile(r"\.base_layer\.")
UNKNOWN_SCALE = (
    "Used as W + s·B·A with LoRA factors beside it, whose scale s is not among the weights: call "
    "merge_and_unload() first, or analyse the folder that save_pretrained wrote with --adapter."
)


def lora_products(adapter: Checkpoint, base: Checkpoint | None = None) -> Checkpoint:
    """Compute s·B·A for each layer that an adapter changes, and add it to the base network if one is given.

    Parameters
    ----------
    adapter : Checkpoint
        As :func:`~capcore.checkpoints.opening.read_checkpoint` returns it, with the ``adapter_config.json`` of the same
        folder. A tensor ``….alpha`` also sets α. Without either, α is r, so s = 1 (√r with ``use_rslora``).
    base : Checkpoint, optional
        The network that the adapter was trained for. Layers that the adapter does not change are left out.

    Returns
    -------
    Checkpoint
        Layers under the names that they have in the base, without ``base_model.model.``. The adapter's own tensors are
        set aside. Each product is computed when it is read.

    Raises
    ------
    CheckpointError
        If there is no pair, if two matrices do not fit, or if the base lacks a layer. Also for DoRA with a base,
        because DoRA rescales the sum as well.

    Examples
    --------
    >>> from capcore.spectra import of_arrays
    >>> adapter = of_arrays({"fc.lora_A.weight": np.ones((2, 3)), "fc.lora_B.weight": np.ones((4, 2))})
    >>> products = lora_products(adapter)
    >>> products.tensors["fc.weight"].shape, products["fc.weight"][0].tolist()
    ((4, 3), [2.0, 2.0, 2.0])
    """
    of_kind(adapter, "adapter", Checkpoint)
    of_kind(base, "base", Checkpoint | None, "Checkpoint")
    config = json.loads(adapter.metadata.get("adapter_config", "{}"))
    tensors: dict[str, Tensor] = {}
    for name in adapter:
        if found := _PAIR.match(name):
            module = _bare(found["module"])
            other = name.replace(f"lora_{found['kind']}", f"lora_{_OTHER[found['kind']]}")
            if other not in adapter:
                raise CheckpointError(f"{adapter.name}: found {name!r} without {other!r}, expected a pair.")
            scale = _scaling(adapter, found["module"], module, config, adapter.tensors[name].shape[0])
            pair = adapter.tensors[name], adapter.tensors[other]
            product = _product(f"{module}.weight", *pair, scale, found["kind"] == "embedding_A")
            tensors[product.name] = product if base is None else _sum(product, base)
    if not tensors:
        raise CheckpointError(f"{adapter.name}: found no lora_A and lora_B, expected the pairs of a LoRA adapter.")
    if base is not None and any("lora_magnitude_vector" in name for name in adapter):
        raise CheckpointError(f"{adapter.name}: found DoRA, which rescales sums, expected LoRA. Merge it with PEFT.")

    def digest(step: Step) -> dict[str, str]:
        return {**(base.hashes(step) if base else {}), **adapter.hashes(step)}

    parts = {
        name: replace(tensor, aside="Part of an adapter: the product of its pair is analysed instead.")
        for name, tensor in adapter.tensors.items()
        if name not in tensors
    }
    name = adapter.name if base is None else f"{base.name} + {adapter.name}"
    size = adapter.size + (base.size if base else 0)
    return Checkpoint(name, "lora", digest, size, {**tensors, **parts}, adapter.metadata)


def adapted(base: Checkpoint, adapter: Checkpoint) -> Checkpoint:
    """Add an adapter to a whole network: W + s·B·A in the layers that it changes, and the base's weights in all others.

    Raises ``CheckpointError`` as :func:`lora_products` does.

    >>> from capcore.checkpoints.arrays import of_arrays
    >>> adapter = of_arrays({"fc.lora_A.weight": np.ones((1, 3)), "fc.lora_B.weight": np.ones((2, 1))})
    >>> found = adapted(of_arrays({"fc.weight": np.eye(2, 3), "head.weight": np.eye(2)}), adapter)
    >>> found["fc.weight"].tolist(), [*found]
    ([[2.0, 1.0, 1.0], [1.0, 2.0, 1.0]], ['fc.weight', 'head.weight'])
    """
    sums = lora_products(adapter, base)
    changed = {_name_in(base, tensor.name): tensor for tensor in sums.tensors.values() if not tensor.aside}
    tensors = {
        name: replace(changed[name], name=name) if name in changed else tensor for name, tensor in base.tensors.items()
    }

    def digest(step: Step) -> dict[str, str]:
        return {f"{each.name} ({i})": each.sha256 for i, each in enumerate((base, adapter))}

    return replace(sums, tensors=tensors, metadata=base.metadata, digest=digest)


def with_adapters(checkpoint: Checkpoint) -> Checkpoint:
    """Put together a network that was saved with its adapter beside it, as PEFT holds it in memory: W + s·B·A.

    Its layers are ``….base_layer.weight``, ``….lora_A.default.weight`` and ``….lora_B.default.weight``. Without the
    configuration of the adapter, s is not known, so these layers are listed as unread.
    """
    bases = [name for name in checkpoint if _BASE.search(name)]
    if not bases or not any(_PAIR.match(name) for name in checkpoint):
        return checkpoint
    pairs = {_bare(found["module"]) for name in checkpoint if (found := _PAIR.match(name))}
    renamed = {_bare(_BASE.sub(".", name)): replace(checkpoint.tensors[name], aside="") for name in bases}
    others = {
        _bare(name): tensor for name, tensor in checkpoint.tensors.items() if name not in bases and "lora_" not in name
    }
    plain = {name: replace(tensor, name=name) for name, tensor in {**others, **renamed}.items()}
    if "adapter_config" not in checkpoint.metadata:
        for name in [name for name in plain if name.removesuffix(".weight") in pairs]:
            plain[name] = replace(plain[name], unread=UNKNOWN_SCALE)
        return replace(checkpoint, tensors=plain)
    return adapted(replace(checkpoint, tensors=plain), checkpoint)


def _bare(name: str) -> str:
    for prefix in _PREFIXES:
        name = name.removeprefix(prefix)
    return name


def _name_in(base: Checkpoint, name: str) -> str | None:
    """The name that a layer has in the base, with or without ``model.`` in front."""
    names = (name, name.removeprefix("model."), f"model.{name}")
    return next((each for each in names if each in base), None)


def _scaling(adapter: Checkpoint, module: str, bare: str, config: Mapping[str, Any], rank: int) -> float:
    alpha: Any = adapter[f"{module}.alpha"] if f"{module}.alpha" in adapter else config.get("lora_alpha", rank)
    patterns = config.get("alpha_pattern")
    for pattern, value in (patterns if isinstance(patterns, dict) else {}).items():
        if bare == pattern or bare.endswith(f".{pattern}"):
            alpha = value
    try:
        return float(alpha) / (np.sqrt(rank) if config.get("use_rslora") else rank)
    except (TypeError, ValueError, ArithmeticError):
        raise CheckpointError(f"{adapter.name}: found α = {alpha!r} of rank {rank}, expected two numbers.") from None


def _product(name: str, a: Tensor, b: Tensor, scale: float, transposed: bool) -> Tensor:
    """The product s·B·A, where convolutions have A of shape (r, in, *kernel) and B of shape (out, r, 1, …)."""
    if len(a.shape) < 2 or len(a.shape) != len(b.shape) or b.shape[1] != a.shape[0] or set(b.shape[2:]) - {1}:
        raise CheckpointError(f"{name}: found A of {a.shape} and B of {b.shape}, expected (r, in) and (out, r).")

    def values() -> np.ndarray:
        left, right = b.read().astype(np.float32), a.read().astype(np.float32)
        found = scale * (left.reshape(left.shape[:2]) @ right.reshape(len(right), -1)).reshape(-1, *right.shape[1:])
        return found.T if transposed else found

    shape = (b.shape[0], *a.shape[1:])
    return Tensor(
        name,
        "float32",
        shape[::-1] if transposed else shape,
        values,
        stored=f"LoRA of rank {a.shape[0]}, {scale:g}·B·A",
    )


def _sum(product: Tensor, base: Checkpoint) -> Tensor:
    """Add the product to the base's layer, transposed if the base stores (in, out)."""
    found_name = _name_in(base, product.name)
    layer = base.tensors[found_name] if found_name else None
    if layer is None or product.shape not in (layer.shape, layer.shape[::-1]):
        found = "no such layer" if layer is None else f"a layer of {layer.shape}"
        raise CheckpointError(f"{base.name}: found {found} for {product.name!r}, expected {product.shape}.")

    def values() -> np.ndarray:
        added = product.read()
        return layer.read().astype(np.float32) + (added if added.shape == layer.shape else added.T)

    return Tensor(product.name, "float32", layer.shape, values, stored=f"{layer.dtype} + {product.stored}")
