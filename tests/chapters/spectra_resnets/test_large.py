"""Large layers: the stored table against a count by hand, the transformer's laws, and the command on made-up files."""

import math

import jax.numpy as jnp
import numpy as np
import pytest

from capcore.spectra import DensityOptions, SpectraOptions, analyse_spectra, fit_power_law
from chapters.kit.stored import stored
from chapters.spectra_resnets import large
from chapters.spectra_resnets.large_layers import COLUMNS, QUICK, SETTINGS, one_layer, one_network
from chapters.spectra_resnets.transformer import LEVELS, START, Transformer, pixels, train_transformer


def counted(values, kinds=("transformer", "perceptron")):
    """The answers from the stored lists, without a table."""
    rows = inside = below = fits = smaller = 0
    for kind in kinds:
        for true, shuffled in zip(values[kind]["true"], values[kind]["shuffled"], strict=True):
            for alpha, low, p, other in zip(
                true["alpha"], true["null_low"], true["p_value"], shuffled["alpha"], strict=True
            ):
                rows += 1
                inside += 2 <= alpha <= 5
                below += alpha < low
                fits += p > 0.1
                smaller += alpha < other
    return {"rows": rows, "large": inside, "large_shuffled": below, "large_targets": smaller, "fits": fits}


def test_the_answers_are_those_counted_by_hand():
    content = stored("large_layers")
    table, count = large.table_of(content), counted(content["values"])
    assert count["rows"] == (table["targets"] == "true").sum() == 45
    answers = large.answers(table, "P3.02") | {"fits": large.answers(table, "P3.01")["large"]}
    assert {name: value * 45 for name, value in answers.items()} == pytest.approx(
        {name: count[name] for name in answers}
    )


def test_networks_learnt_what_they_were_given():
    """Perceptrons know all their labels, names that nothing tells included; transformers beat the grey levels' shares
    on held-out images only where the next pixels are true."""
    values = stored("large_layers")["values"]
    assert all(one["train"] == 1 for rows in values["perceptron"].values() for one in rows)
    assert min(one["test"] for one in values["perceptron"]["true"]) > 0.95
    assert max(one["test"] for one in values["perceptron"]["shuffled"]) < 0.2
    train, test = pixels()
    shares = np.bincount(train.ravel(), minlength=LEVELS) / train.size
    chance = -np.log(shares)[test].mean()
    assert max(one["test"] for one in values["transformer"]["true"]) < 0.8 * chance
    assert min(one["test"] for one in values["transformer"]["shuffled"]) > chance


def test_no_pixel_sees_a_later_one():
    network = Transformer(size=32, depth=2)
    params = network.init(0)
    tokens = np.random.default_rng(0).integers(0, LEVELS, (1, 64))
    other = tokens.copy()
    other[0, 20:] = (other[0, 20:] + 5) % LEVELS
    one, two = (np.asarray(network(params, jnp.asarray(each))) for each in (tokens, other))
    np.testing.assert_allclose(one[0, :20], two[0, :20], atol=1e-5)  # single precision
    assert np.abs(one[0, 20:] - two[0, 20:]).max() > 0.01
    assert one.shape == (1, 64, LEVELS) and START not in range(LEVELS)


def test_both_targets_start_from_the_same_weights_and_end_elsewhere():
    network = Transformer(size=32, depth=1)
    start, other = (train_transformer(network, 1, 0, shuffled)[0] for shuffled in (False, True))
    for name, weights in network.init(0).items():
        if name in start:  # Adam's first step moves every weight by the rate, 1e-3
            assert np.abs(start[name] - np.asarray(weights)).max() < 1.1e-3
            assert np.abs(other[name] - np.asarray(weights)).max() < 1.1e-3
            assert (start[name] != other[name]).any()


def test_a_layer_is_analysed_as_the_report_does_it():
    """The report scales the eigenvalues first: rounding."""
    weights = np.random.default_rng(0).standard_t(3, size=(64, 96)).astype(np.float32)
    options = SpectraOptions(
        DensityOptions(minimum=32), alternatives=(), null="shuffled", n_null=3, n_simulations=9, permute=True
    )
    (row,) = analyse_spectra({"fc": weights}, options).spectra
    found = one_layer("fc", weights, n_null=3, n_simulations=9)
    assert found == pytest.approx({name: getattr(row, name) for name in COLUMNS}, rel=1e-12)


def test_a_network_comes_out_again():
    settings = {**QUICK["transformer"], "n_null": 2, "n_simulations": 2, "kind": "transformer"}
    assert one_network(**settings) == one_network(**settings)


@pytest.mark.slow
def test_the_longest_tails_come_out_again():
    """Trained anew; rounding makes other weights, and a fit of n tail values has a standard error of (α − 1)/√n."""
    before = stored("large_layers")["values"]["transformer"]["true"][0]
    found = one_network(kind="transformer", **{**SETTINGS["transformer"], "n_null": 2, "n_simulations": 2}, seed=0)
    for i, n_tail in enumerate(before["n_tail"]):
        if n_tail > 60:
            error = (before["alpha"][i] - 1) / math.sqrt(n_tail)
            assert abs(found["alpha"][i] - before["alpha"][i]) < 3 * error, before["layers"][i]


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    noise = {f"fc{i}.weight": rng.normal(size=(60, 80)) for i in range(2)}
    heavy = {f"fc{i}.weight": rng.standard_t(2.5, size=(60, 80)) for i in range(3)}
    planted = rng.normal(size=(60, 80))
    u, _, v = np.linalg.svd(planted, full_matrices=False)
    planted = u * (1 + rng.pareto(2.0, 60)) @ v  # λ has the exponent 2, and the entries are all but normal
    for name, weights in {"noise": noise, "heavy": heavy, "planted": {"fc.weight": planted}}.items():
        np.savez(tmp_path / f"{name}.npz", **weights)
    np.savez(tmp_path / "small.npz", weight=rng.normal(size=(20, 30)))
    return tmp_path


def test_a_folder_of_made_up_checkpoints(folder, capsys):
    """Only the network with planted singular values has an exponent below those of its shuffles."""
    table = large.of_folder(str(folder), n_null=20, n_simulations=20).set_index("network")
    assert table["layers"].to_dict() == {"heavy.npz": 3, "noise.npz": 2, "planted.npz": 1, "small.npz": 0}
    assert table.loc["planted.npz", "below"] == 1
    singular = np.linalg.svd(np.load(folder / "planted.npz")["fc.weight"], compute_uv=False)
    assert table.loc["planted.npz", "inside"] == (2 <= fit_power_law(singular**2).alpha <= 5)
    assert table.loc[["noise.npz", "heavy.npz"], "below"].max() < 0.5
    assert np.isnan(table.loc["small.npz", "fits"])
    assert large.main([str(folder), "--nulls", "2", "--simulations", "2"]) == 0
    printed = capsys.readouterr().out
    assert "planted.npz" in printed and "below all shuffles" in printed


def test_a_folder_that_is_not_there(tmp_path, capsys):
    assert large.main([str(tmp_path / "nowhere")]) == 2
    assert "nowhere" in capsys.readouterr().err
