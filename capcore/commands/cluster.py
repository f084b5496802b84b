"""Analysing layers on a Dask cluster, where each worker opens the checkpoint itself."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import cache, partial
from typing import Any

from capcore.checkpoints.differences import Opening
from capcore.checkpoints.tensors import Checkpoint, NonFiniteError, shown
from capcore.spectra.layers import Layer, Skipped
from capcore.spectra.layerwise import Asked, LayerResult, layer_result
from capcore.spectra.options import SpectraOptions


@cache
def _opened(opening: Opening, options: str) -> tuple[dict[str, Layer], Checkpoint | None]:
    layers = SpectraOptions.from_dict(json.loads(options)).layers(opening.open()).layers
    return {layer.name: layer for layer in layers}, opening.base_checkpoint()


def remote_layer(opening: Opening, options: str, asked: Asked, name: str) -> LayerResult:
    """Run :func:`~capcore.spectra.layerwise.layer_result` on a worker that opens the file itself. options : as JSON."""
    layers, base = _opened(opening, options)
    return layer_result(layers[name], SpectraOptions.from_dict(json.loads(options)), asked, base)


def on_dask(
    address: Any, opening: Opening, options: str, asked: Asked
) -> Callable[[Sequence[Layer]], Iterator[LayerResult]]:
    """Return a function that analyses layers on a Dask cluster, whose workers need the file under the same path."""

    def over(layers: Sequence[Layer]) -> Iterator[LayerResult]:
        from distributed import Client

        with ExitStack() as stack:
            try:
                client = stack.enter_context(Client(address, timeout=10, set_as_default=False, name="capcore-spectra"))
            except (OSError, TimeoutError, ValueError):
                raise ValueError(f"--scheduler: found no answer at {address}, expected a Dask scheduler.") from None
            task = partial(remote_layer, opening, options, asked)
            futures = client.map(task, [layer.name for layer in layers], pure=False, retries=2)
            for layer, future in zip(layers, futures, strict=True):
                try:
                    yield future.result()
                except NonFiniteError:
                    raise
                except Exception as error:
                    reason = f"On a worker: {type(error).__name__}: {shown(error)[:200]}"
                    yield LayerResult(skipped=(Skipped(layer.name, layer.tensor.shape, reason),))

    return over
