"""One report for Python and the command: the same numbers, the same defaults, from whatever holds the weights."""

import io
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import capcore as cc
from capcore.commands.arguments import options_of, parser
from capcore.commands.spectra import main
from capcore.spectra import DensityOptions, SpectraOptions, analyse_spectra, usual_options


@pytest.fixture(scope="module")
def network():
    rng = np.random.default_rng(0)
    arrays = {"0.conv.weight": rng.normal(size=(12, 14, 2, 2)), "1.fc.weight": rng.normal(size=(20, 30))}
    return {**arrays, "1.fc.bias": np.zeros(20), "head.weight": rng.normal(size=(3, 20)), "same.weight": np.eye(12)}


@pytest.fixture(scope="module")
def found(network):
    return cc.spectra.report(network)


@pytest.mark.parametrize("flags", [[], ["--fast"], ["--fast", "--null-draws", "30"], ["--fast", "--bootstrap", "5"]])
def test_python_and_the_command_have_the_same_defaults(flags):
    arguments = parser("").parse_args(["file", *flags])
    choices = {"fast": arguments.fast, "n_null": arguments.n_null, "n_resamples": arguments.n_resamples}
    assert options_of(arguments) == usual_options(**choices)
    assert arguments.non_finite == "keep" and options_of(arguments).density == DensityOptions("pooled")


@pytest.mark.parametrize("null", ["none", "gaussian", "shuffled"])
def test_a_null_that_was_asked_for_is_drawn(null):
    for fast in (["--fast"], []):
        options = options_of(parser("").parse_args(["file", "--null", null, *fast]))
        assert options.null == (None if null == "none" else null)


def test_numbers_are_those_that_the_command_prints(network, found, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "400")  # as wide as a file
    np.savez(tmp_path / "network.npz", **network)
    assert main([str(tmp_path / "network.npz"), "--format", "csv"]) == 0
    printed = pd.read_csv(io.StringIO(capsys.readouterr().out)).set_index("name")
    table = found.table()
    assert [*table.index] == ["0.conv.weight", "1.fc.weight"]
    for name in ("alpha", "alpha_low", "alpha_high", "null_low", "null_high", "null_p_value", "n_tail", "traps"):
        np.testing.assert_array_equal(table[name], printed.loc[table.index, name], err_msg=name)
    assert main([str(tmp_path / "network.npz")]) == 0
    text = capsys.readouterr().out
    assert text.split("\n", 1)[1] == str(found).split("\n", 1)[1]  # below the name and the hash of the file
    assert "null p ≤ 0.05: " in text and "head.weight: 3 × 20" in text
    assert main([str(tmp_path / "network.npz"), "--format", "json"]) == 0
    (written,) = json.loads(capsys.readouterr().out)["reports"]
    assert written == {**found.to_dict(), "source": written["source"]}


def test_the_table_has_what_people_read(found, network):
    table = found.table()
    assert [*table.columns[:12]] == [
        *("shape", "n", "alpha", "alpha_low", "alpha_high", "null_low", "null_high", "null_p_value", "null_drawn"),
        *("n_tail", "favoured", "warning"),
    ]
    assert [*table.columns[12:]] == ["traps"] and table.index.name == "layer"
    assert table.loc["0.conv.weight", "shape"] == "12×14 ·4" and table["n"].tolist() == [48, 20]
    assert (table["null_p_value"] > 0.01).all() and (table["null_low"] < table["null_high"]).all()
    assert table.attrs["options"]["n_null"] == 100
    assert "traps" not in cc.spectra.report(network, fast=True).table()
    wide = cc.spectra.report(network, fast=True, truncated=True, base={"1.fc.weight": np.ones((20, 30))}).table()
    assert [*wide.columns[12:]] == ["change", "tpl_alpha", "tpl_rate"] and wide.index.tolist() == ["1.fc.weight"]


def test_a_notebook_shows_the_table_and_what_is_missing(found):
    shown = found._repr_html_()
    assert shown.count("<tr>") == 3 and "null range" in shown and "not analysed: same.weight" in shown
    hostile = cc.spectra.report({"<script>": np.random.default_rng(0).normal(size=(12, 30))}, fast=True)._repr_html_()
    assert "<script" not in hostile and "&lt;script" in hostile


class Module:
    """A module as PyTorch has them, here with arrays for tensors, wrapped for several processes."""

    def __init__(self, weights):
        self.weights = weights

    def state_dict(self):
        return {f"module.{name}": values for name, values in self.weights.items()}


def test_weights_come_from_a_path_a_module_or_arrays(network, found, tmp_path):
    np.savez(tmp_path / "network.npz", **network)
    training = {"epoch": 3, "state_dict": Module(network).state_dict()}  # WeightWatcher 243: gave an empty table
    sources = [tmp_path / "network.npz", str(tmp_path), Module(network), training, cc.read_checkpoint(network)]
    for source in sources:
        other = cc.spectra.report(source)
        one, same = (each.to_dataframe().drop(columns=["model", "sha256"]) for each in (other, found))
        pd.testing.assert_frame_equal(one, same)
        pd.testing.assert_frame_equal(other.table(), found.table())


def test_pytrees_and_kernels_stored_in_last_axes():
    jax = pytest.importorskip("jax")
    kernel = np.random.default_rng(1).normal(size=(3, 3, 14, 12)).astype("f4")
    options = usual_options(fast=True, layout="channels-last")
    (row,) = cc.spectra.report({"Conv_0": {"kernel": jax.numpy.array(kernel)}}, options=options).spectra
    expected = analyse_spectra({"w": np.moveaxis(kernel, (-1, -2), (0, 1))}, usual_options(fast=True)).spectra[0]
    assert (row.name, row.alpha) == ("Conv_0.kernel", expected.alpha)


@pytest.mark.parametrize(
    ("choices", "names"),
    [
        ({"layers": "1.*"}, ["1.fc.weight"]),
        ({"layers": ["0.conv", "1.fc"]}, ["0.conv.weight", "1.fc.weight"]),
        ({"skip": "*.fc"}, ["0.conv.weight", "same.weight"]),
        ({"layers": "*.weight", "skip": ["s*", "0*"]}, ["1.fc.weight"]),
    ],
)
def test_layers_are_chosen(network, choices, names):
    found = cc.spectra.report(network, fast=True, **choices)
    assert [row.name for row in found.spectra] == names


@pytest.mark.parametrize(
    ("choices", "kind", "message"),
    [
        ({"layers": "2.*"}, ValueError, "layers: found no tensor that matches '2.*'"),
        ({"skip": [3]}, TypeError, "skip: one: found int"),
        ({"null": "shuffel"}, ValueError, "Did you mean 'shuffled'"),
        ({"n_null": 0}, ValueError, "n_null: found 0"),
        ({"options": SpectraOptions(), "fast": True}, ValueError, "options: found null, n_null"),
        ({"options": SpectraOptions(), "n_null": 3}, ValueError, "options: found null, n_null"),
        ({"workers": 0}, ValueError, "workers: found 0"),
        ({"base": {"other": np.ones((2, 2))}}, ValueError, "found no tensor of"),
    ],
)
def test_what_makes_no_sense_is_refused(network, choices, kind, message):
    with pytest.raises(kind, match=message.replace("*", r"\*")):
        cc.spectra.report(network, **choices)


def test_without_weights_there_is_no_report():
    for source in (None, 3, {}, [1.0, 2.0]):
        with pytest.raises(ValueError, match="source: found"):
            cc.spectra.report(source)


def test_an_adapter_is_added_and_a_base_subtracted(tmp_path, capsys):
    rng = np.random.default_rng(2)
    base, a, b = rng.normal(size=(20, 30)), rng.normal(size=(12, 30)), rng.normal(size=(20, 12))
    adapter = {"base_model.model.fc.lora_A.weight": a, "base_model.model.fc.lora_B.weight": b}
    used = cc.spectra.report({"_orig_mod.fc.weight": base}, adapter=adapter, fast=True).spectra[0]
    expected = analyse_spectra({"fc.weight": base + b @ a}, usual_options(fast=True)).spectra[0]
    assert used.alpha == pytest.approx(expected.alpha, rel=1e-5)  # products are taken in single precision
    change = cc.spectra.report({"fc.weight": base}, adapter=adapter, base={"module.fc.weight": base}, fast=True)
    assert change.spectra[0].rank == 12
    size = np.linalg.norm(b @ a) / np.linalg.norm(base)
    assert change.table()["change"].iloc[0] == pytest.approx(size, rel=1e-5)
    np.savez(tmp_path / "base.npz", **{"module.fc.weight": base})
    np.savez(tmp_path / "adapter.npz", **adapter)
    flags = [str(tmp_path / "base.npz"), "--adapter", str(tmp_path / "adapter.npz"), "--fast", "--format", "csv"]
    assert main(flags) == 0
    assert pd.read_csv(io.StringIO(capsys.readouterr().out))["alpha"].iloc[0] == used.alpha
    assert main([*flags, "--base", str(tmp_path / "base.npz")]) == 0
    assert pd.read_csv(io.StringIO(capsys.readouterr().out))["change"].iloc[0] == pytest.approx(size, rel=1e-5)


def test_pictures(found, network):
    pytest.importorskip("matplotlib").use("Agg")
    figure = found.plot()
    assert len(figure.axes) == 2
    labels = [label.get_text() for label in figure.axes[0].get_xticklabels()]
    assert labels == ["0.conv", "1.fc", "same"]
    figure.canvas.draw()
    one = found.plot("1.fc.weight")
    assert "shuffled weights" in [text.get_text() for text in one.axes[1].get_legend().get_texts()]
    one.canvas.draw()
    with pytest.raises(ValueError, match="which was not analysed"):
        found.plot("no")
    with pytest.raises(ValueError, match="fewer than two different eigenvalues"):
        found.plot("same.weight")
    assert len(replace(found, checkpoint=None).plot("0.conv.weight").axes) == 2
