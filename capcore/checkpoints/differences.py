"""Weights as they are used or were changed: without the names of wrappers, with an adapter, and minus a base.

A LoRA adapter has two thin matrices A and B per layer, whose product is the change made by fine-tuning. The tuned layer
is W + s·B·A. For rank r, s = α/r (Hu et al. 2022), or α/√r if the configuration sets ``use_rslora``. Layers that were
trained whole (``modules_to_save``) replace those of the base.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from capcore.checkpoints.tensors import Checkpoint, CheckpointError, Tensor, brief, hashes_of
from capcore.checks.arguments import of_kind

_WRAPPER = re.compile(r"(?:^|(?<=\.))(?:_orig_mod|_fsdp_wrapped_module|_checkpoint_wrapped_module)\.")
"""Names that no layer has, so they are dropped wherever a wrapped part stands."""
_IN_FRONT = ("module.", "state_dict.", "model.")
"""Names that could be those of a part, so they are dropped only if all tensors have them in front."""
_LANGUAGE = re.compile(r"^model\.(.+\.)?embed_tokens\.")
"""A name that language models of Hugging Face have: their ``model.`` is no wrapper's, and stays."""
_PAIR = re.compile(r"^(?P<module>.+?)[._]lora_(?P<kind>A|down|embedding_A)(\.default)?(\.weight)?$")
_OTHER = {"A": "B", "down": "up", "embedding_A": "embedding_B"}
_PREFIX = re.compile(r"^base_model\.(model\.)?")
_NO_SUM = re.compile(r"lora_magnitude_vector|dora_scale$|trainable_tokens_")
"""Names in adapters that do more than add: DoRA, which rescales the sums, and tokens that replace those of the base."""
_WHOLE = re.compile(r"(^|(?<=\.))(modules_to_save\.(default\.)?|base_layer\.)")
"""What PEFT puts into the names of tensors that an adapter holds as a whole."""


def unwrapped(checkpoint: Checkpoint) -> Checkpoint:
    """Drop the names of wrappers from the names of tensors, unless two tensors would then have the same name.

    ``torch.compile``, ``DistributedDataParallel``, fully sharded training and activation checkpointing wrap a module,
    whose parameters then have longer names. Scripts that save ``{"state_dict": …}`` flat do the same, and Lightning
    puts ``model.`` in front.

    >>> from capcore.checkpoints.arrays import of_arrays
    >>> [*unwrapped(of_arrays({"module._orig_mod.fc.weight": np.ones((1, 1)), "module.fc.bias": np.ones(1)}))]
    ['fc.weight', 'fc.bias']
    """
    names = [_WRAPPER.sub("", name) for name in checkpoint]
    while prefix := next((part for part in _IN_FRONT if names and all(name.startswith(part) for name in names)), ""):
        if prefix == "model." and any(map(_LANGUAGE.match, names)):
            break
        names = [name.removeprefix(prefix) for name in names]
    if names == [*checkpoint] or len({*names}) < len(names) or not all(names):
        return checkpoint
    pairs = zip(names, checkpoint.tensors.values(), strict=True)
    return replace(checkpoint, tensors={name: replace(tensor, name=name) for name, tensor in pairs})


def used(checkpoint: Checkpoint, base: Checkpoint | None = None, adapter: Checkpoint | None = None) -> Checkpoint:
    """The weights as layers use them: without the names of wrappers, with an adapter, and minus a base if given.

    Raises ``CheckpointError`` for a network that was saved with its adapter beside it, whose scale is not among the
    weights, and as :func:`lora_products` and :func:`difference` do.

    >>> from capcore.checkpoints.arrays import of_arrays
    >>> [*used(of_arrays({"module.fc.weight": np.eye(2)}))]
    ['fc.weight']
    """
    whole = unwrapped(checkpoint)
    if any(".base_layer." in name for name in whole) and any(map(_PAIR.match, whole)):
        advice = "Call merge_and_unload() first, or analyse the folder that save_pretrained wrote with --adapter."
        raise CheckpointError(f"{whole.name}: found LoRA factors without their scale, expected whole layers. {advice}")
    whole = whole if adapter is None else with_adapter(whole, unwrapped(adapter))
    return whole if base is None else difference(whole, base)


def difference(checkpoint: Checkpoint, base: Checkpoint) -> Checkpoint:
    """Subtract the base: W − W₀ for each tensor that both have. For a LoRA adapter, the products that it adds.

    Names of wrappers do not count. Raises ``CheckpointError`` if no tensor matches, or if the base lacks a layer that
    an adapter changes.

    >>> from capcore.checkpoints.arrays import of_arrays
    >>> changes = difference(of_arrays({"fc": np.full((2, 2), 3.0)}), of_arrays({"fc": np.ones((2, 2))}))
    >>> changes["fc"].tolist()
    [[2.0, 2.0], [2.0, 2.0]]
    """
    checkpoint, base = unwrapped(checkpoint), unwrapped(base)
    name, digest = f"{checkpoint.name} - {base.name}", partial(hashes_of, checkpoint, base)
    tensors = dict(checkpoint.tensors)
    changed = tensors
    if any("lora_" in tensor for tensor in checkpoint):
        with_adapter(base, checkpoint)  # raises if they do not fit
        tensors, changed = dict(lora_products(checkpoint).tensors), _whole(checkpoint)
    for tensor in changed.values():
        if tensor.is_real:
            tensors[tensor.name] = _change(tensor, base.tensors.get(name_in(base, tensor.name)), base.name)
    if not any(tensor.is_real for tensor in tensors.values()):
        raise CheckpointError(f"{base.name}: found no tensor of {checkpoint.name}, expected its base. Compare names.")
    return replace(checkpoint, name=name, tensors=tensors, digest=digest)


def _change(tensor: Tensor, other: Tensor | None, base: str) -> Tensor:
    if other is None or other.shape != tensor.shape or not other.is_real:
        place = "not there" if other is None else f"there {other.shape}"
        return replace(tensor, unread=f"No difference from {base}: {place}.")
    kind = "float64" if "float64" in (tensor.dtype, other.dtype) else "float32"

    def values() -> np.ndarray:
        return tensor.read().astype(kind) - other.read().astype(kind)

    return replace(tensor, dtype=kind, values=values)


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
    >>> from capcore.checkpoints import of_arrays
    >>> adapter = of_arrays({"fc.lora_A.weight": np.ones((2, 3)), "fc.lora_B.weight": np.ones((4, 2))})
    >>> products = lora_products(adapter)
    >>> products.tensors["fc.weight"].shape, products["fc.weight"][0].tolist()
    ((4, 3), [2.0, 2.0, 2.0])
    """
    of_kind(adapter, "adapter", Checkpoint)
    of_kind(base, "base", Checkpoint | None, "Checkpoint")
    products = {product.name: product if base is None else _sum(product, base) for product in _products(adapter)}
    if not products:
        raise CheckpointError(f"{adapter.name}: found no lora_A and lora_B, expected the pairs of a LoRA adapter.")
    if base is not None and any(map(_NO_SUM.search, adapter)):
        raise CheckpointError(f"{adapter.name}: found DoRA or tokens of its own, expected LoRA. Merge it with PEFT.")
    aside = "Part of an adapter: the product of its pair is analysed instead, and whole layers with the base."
    parts = {name: replace(part, aside=aside) for name, part in adapter.tensors.items() if name not in products}
    sources = [adapter] if base is None else [base, adapter]
    name, size = " + ".join(source.name for source in sources), sum(source.size for source in sources)
    return Checkpoint(name, "lora", partial(hashes_of, *sources), size, {**products, **parts}, adapter.adapter_config)


def with_adapter(base: Checkpoint, adapter: Checkpoint) -> Checkpoint:
    """Add an adapter to a whole network: W + s·B·A in the layers that it changes, and the base's weights in all others.

    Tensors that the adapter holds as a whole (``modules_to_save``) replace those of the base, or are added. Raises
    ``CheckpointError`` as :func:`lora_products` does.

    >>> from capcore.checkpoints.arrays import of_arrays
    >>> adapter = of_arrays({"fc.lora_A.weight": np.ones((1, 3)), "fc.lora_B.weight": np.ones((2, 1))})
    >>> whole = with_adapter(of_arrays({"fc.weight": np.eye(2, 3), "head.weight": np.eye(2)}), adapter)
    >>> whole["fc.weight"].tolist(), [*whole]
    ([[2.0, 1.0, 1.0], [1.0, 2.0, 1.0]], ['fc.weight', 'head.weight'])
    """
    whole = {name_in(base, name) or name: tensor for name, tensor in _whole(adapter).items()}
    base = replace(base, tensors={**base.tensors, **whole})
    sums = lora_products(adapter, base)
    changed = {name_in(base, tensor.name): tensor for tensor in sums.tensors.values() if not tensor.aside}
    tensors = {name: replace(changed.get(name, tensor), name=name) for name, tensor in base.tensors.items()}
    return replace(sums, tensors=tensors)


def _whole(adapter: Checkpoint) -> dict[str, Tensor]:
    """The tensors that an adapter holds as a whole, by the names that they have in the base."""
    names = {name: _PREFIX.sub("", _WHOLE.sub("", name)) for name in adapter}
    own = {name: plain for name, plain in names.items() if "lora_" not in name and not name.endswith(".alpha")}
    return {plain: replace(adapter.tensors[name], name=plain) for name, plain in own.items()}


def name_in(base: Checkpoint, name: str) -> str:
    """The name that a layer has in the base, with or without ``model.`` in front; empty if it has none."""
    names = (name, name.removeprefix("model."), f"model.{name}")
    return next((known for known in names if known in base), "")


def _products(adapter: Checkpoint) -> Iterator[Tensor]:
    """The change of each layer."""
    for name in adapter:
        if match := _PAIR.match(name):
            other = name.replace(f"lora_{match['kind']}", f"lora_{_OTHER[match['kind']]}")
            if other not in adapter:
                raise CheckpointError(f"{adapter.name}: found {name!r} without {other!r}, expected a pair.")
            a, b = adapter.tensors[name], adapter.tensors[other]
            scale = _scale(adapter, match["module"], a.shape[0])
            layer = _PREFIX.sub("", match["module"])
            turned = len(a.shape) == 2 and adapter.adapter_config.get("fan_in_fan_out") is True
            yield _product(f"{layer}.weight", a, b, scale, turned or match["kind"] == "embedding_A")


def _scale(adapter: Checkpoint, module: str, rank: int) -> float:
    config = adapter.adapter_config
    alpha = adapter[f"{module}.alpha"] if f"{module}.alpha" in adapter else config.get("lora_alpha", rank)
    patterns = config.get("alpha_pattern") or {}
    try:  # as in PEFT: the first pattern that fits the end of the name counts
        name = _PREFIX.sub("", module)
        fitting = [value for pattern, value in patterns.items() if re.match(rf"(.*\.)?({pattern})$", name)]
        return float([*fitting, alpha][0]) / (np.sqrt(rank) if config.get("use_rslora") else rank)
    except (re.error, TypeError, ValueError, ArithmeticError, AttributeError) as error:
        what = f"α = {alpha!r} of rank {rank} and alpha_pattern {brief(patterns)} ({error})"
        raise CheckpointError(f"{adapter.name}: found {what}, expected two numbers, and regular expressions.") from None


def _product(name: str, a: Tensor, b: Tensor, scale: float, transposed: bool) -> Tensor:
    """The product s·B·A, where convolutions have A of shape (r, in, *kernel) and B of shape (out, r, 1, …)."""
    if len(a.shape) < 2 or len(a.shape) != len(b.shape) or b.shape[1] != a.shape[0] or {*b.shape[2:]} - {1}:
        raise CheckpointError(f"{name}: found A of {a.shape} and B of {b.shape}, expected (r, in) and (out, r).")

    def values() -> np.ndarray:
        left, right = b.read().astype(np.float32), a.read().astype(np.float32)
        product = left.reshape(left.shape[:2]) @ right.reshape(len(right), -1)
        change = (scale * product).reshape(-1, *right.shape[1:])
        return change.T if transposed else change

    shape, stored = (b.shape[0], *a.shape[1:]), f"LoRA of rank {a.shape[0]}, {scale:g}·B·A"
    return Tensor(name, "float32", shape[::-1] if transposed else shape, values, stored=stored)


def _sum(product: Tensor, base: Checkpoint) -> Tensor:
    """Add the product to the base's layer, transposed if the base stores (in, out)."""
    layer = base.tensors.get(name_in(base, product.name))
    if layer is None or product.shape not in (layer.shape, layer.shape[::-1]):
        what = "no such layer" if layer is None else f"a layer of {layer.shape}"
        raise CheckpointError(f"{base.name}: found {what} for {product.name!r}, expected {product.shape}.")

    def values() -> np.ndarray:
        change = product.read()
        return layer.read().astype(np.float32) + (change if change.shape == layer.shape else change.T)

    return Tensor(product.name, "float32", layer.shape, values, stored=f"{layer.dtype} + {product.stored}")
