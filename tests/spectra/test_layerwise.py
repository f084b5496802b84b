"""The command's own quantities: traps, changes from a base, layers on threads and on a cluster, one that fails."""

import json

import numpy as np
import pytest

from capcore.checkpoints.differences import Opening, difference
from capcore.commands.cluster import on_dask
from capcore.commands.spectra import main
from capcore.commands.tables import lined_up
from capcore.spectra import DensityOptions, SpectraOptions, analyse_spectra, of_arrays
from capcore.spectra.layerwise import Asked, affordable, analyse_layers

OPTIONS = SpectraOptions(DensityOptions("pooled"), null="shuffled", n_null=5, n_resamples=10)


@pytest.fixture
def network(rng):
    weights = rng.normal(size=(60, 80))
    trap = weights.copy()
    trap[3, 5] = 60.0  # shuffling does not remove one large weight
    return {"noise.weight": weights, "trap.weight": trap, "conv.weight": rng.normal(size=(12, 14, 2, 2))}


NULL = ("null_low", "null_median", "null_high", "n_null")


def without_null(rows):
    return [{name: value for name, value in vars(row).items() if name not in NULL} for row in rows]


def test_rows_are_those_of_the_function(network):
    """But for the null, which is drawn by shape here, the numbers are the report's own, on threads as well."""
    expected = without_null(analyse_spectra(network, OPTIONS).spectra)
    found = [analyse_layers(of_arrays(network), OPTIONS, Asked(), workers=workers) for workers in (1, 2)]
    assert found[0][0].spectra == found[1][0].spectra and found[0][1] == found[1][1]
    assert without_null(found[0][0].spectra) == expected


def test_one_large_weight_is_one_trap(network):
    _, beside = analyse_layers(of_arrays(network), OPTIONS, Asked())
    assert beside["trap.weight"]["traps_low"] >= 1 > beside["noise.weight"]["traps"]


def test_a_change_of_rank_one(network, rng):
    """W₀ + u vᵀ: the difference has one eigenvalue, and the change is its norm over that of W₀."""
    u, v = rng.normal(size=(60, 1)), rng.normal(size=(1, 80))
    base = of_arrays({"fc": network["noise.weight"], "gone": np.ones((3, 3))})
    tuned = of_arrays({"fc": network["noise.weight"] + u @ v, "new": np.ones((20, 20))})
    report, beside = analyse_layers(difference(tuned, base), SpectraOptions(), Asked(), base=base)
    expected = np.linalg.norm(u) * np.linalg.norm(v) / np.linalg.norm(network["noise.weight"])
    assert beside["fc"]["change"] == pytest.approx(expected, rel=1e-12)  # rounding of sums of 4,800 squares
    assert report.spectra[0].rank == 1
    assert [part.name for part in report.not_layers if part.weights] == ["new"]


def test_a_layer_that_fails_is_named_and_ends_nothing(network, monkeypatch):
    def broken(layer, options):
        if layer.name == "trap.weight":
            raise MemoryError("no room")
        return analyse_layer(layer, options)

    from capcore.spectra.analysis import analyse_layer

    monkeypatch.setattr("capcore.spectra.layerwise.analyse_layer", broken)
    report, _ = analyse_layers(of_arrays(network), OPTIONS, Asked())
    assert len(report.spectra) == 2 and "MemoryError: no room" in report.failures["trap.weight"]


def test_what_is_spared_depends_on_size_alone(network):
    """Matrices of 8192 rows have an interval, those of 8193 none; a number that was asked for holds for both."""
    small, large = (of_arrays({"fc": np.broadcast_to(np.float32(1), (n, n))}) for n in (8192, 8193))
    layers = [OPTIONS.layers(each).layers[0] for each in (small, large)]
    spared = Asked(resamples_given=False)
    assert [affordable(layer, OPTIONS, spared).n_resamples for layer in layers] == [10, 0]
    assert all(affordable(layer, OPTIONS, spared).null == "shuffled" for layer in layers)
    assert all(affordable(layer, OPTIONS, Asked()) == OPTIONS for layer in layers)


@pytest.mark.slow
def test_on_a_cluster(network, tmp_path):
    distributed = pytest.importorskip("distributed")
    path = tmp_path / "network.npz"
    np.savez(path, **network)
    opening = Opening(str(path))
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as here:
        over = on_dask(here.scheduler_address, opening, json.dumps(OPTIONS.to_dict()), Asked())
        report, _ = analyse_layers(opening.open(), OPTIONS, Asked(), over=over)
    assert report.spectra == analyse_layers(of_arrays(network), OPTIONS, Asked())[0].spectra


@pytest.mark.slow
def test_the_command_on_a_cluster(network, tmp_path, rng, capsys):
    """A folder of networks against a base: what workers open themselves is what the command opens."""
    distributed = pytest.importorskip("distributed")
    (tmp_path / "tuned").mkdir()
    for name, weights in {"base": network, "tuned/a": _moved(network, rng), "tuned/b": _moved(network, rng)}.items():
        np.savez(tmp_path / f"{name}.npz", **weights)
    line = [str(tmp_path / "tuned"), "--base", str(tmp_path / "base.npz"), "--null-draws", "2", "--format", "json"]
    assert main(line) == 0
    here = json.loads(capsys.readouterr().out)
    with distributed.LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None) as there:
        assert main([*line, "--scheduler", there.scheduler_address]) == 0
    assert json.loads(capsys.readouterr().out) == here
    assert [len(report["spectra"]) for report in here["reports"]] == [3, 3]


def _moved(network, rng):
    return {name: weights + rng.normal(size=weights.shape) for name, weights in network.items()}


def test_an_adapter_against_its_base(tmp_path, rng, capsys):
    """s·B·A, whose rank is the adapter's, and its norm over that of the layer which it changes."""
    a, b, base = rng.normal(size=(12, 30)), rng.normal(size=(20, 12)), rng.normal(size=(20, 30))
    for folder in ("adapter", "base"):
        (tmp_path / folder).mkdir()
    pair = {"base_model.model.fc.lora_A.weight": a, "base_model.model.fc.lora_B.weight": b}
    np.savez(tmp_path / "adapter" / "adapter_model.npz", **pair)
    (tmp_path / "adapter" / "adapter_config.json").write_text(json.dumps({"lora_alpha": 6, "r": 12}))
    np.savez(tmp_path / "base" / "model.npz", **{"fc.weight": base, "other.weight": base})
    line = [str(tmp_path / "adapter"), "--base", str(tmp_path / "base"), "--fast", "--format", "json"]
    assert main(line) == 0
    (written,) = json.loads(capsys.readouterr().out)["reports"]
    (row,) = written["spectra"]
    assert (row["name"], row["rank"]) == ("fc.weight", 12)
    expected = np.linalg.norm(b @ a) / 2 / np.linalg.norm(base)
    assert written["beside"]["fc.weight"]["change"] == pytest.approx(expected, rel=1e-5)  # products in single precision


@pytest.fixture
def file(network, tmp_path):
    path = tmp_path / "network.npz"
    np.savez(path, **network)
    return path


def test_layers_are_chosen(file, capsys):
    assert (
        main([str(file), "--fast", "--layers", "*a*", "--layers", "conv", "--skip", "trap*", "--format", "json"]) == 0
    )
    (written,) = json.loads(capsys.readouterr().out)["reports"]
    assert [row["name"] for row in written["spectra"]] == ["conv.weight"]
    assert main([str(file), "--skip", "tarp.weight"]) == 2
    assert "'trap.weight'" in capsys.readouterr().err
    assert main([str(file), "--preset", "weightwatcher", "--layers", "trap", "--format", "json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["networks"][0]["details"]) == 1


def test_nothing_is_computed_to_describe(file, capsys, monkeypatch):
    monkeypatch.setattr("capcore.spectra.layerwise.analyse_layers", None)
    assert main([str(file), "--describe", "--minimum", "50"]) == 0
    text = capsys.readouterr().out
    assert "2 layers would be analysed" in text and "4 matrices of 12 × 14: 12 eigenvalue(s) each" in text


def test_a_figure_of_each_spectrum(file, tmp_path):
    pytest.importorskip("matplotlib")
    figures = tmp_path / "figures"
    assert main([str(file), "--fast", "--layers", "trap", "--figures", str(figures)]) == 0
    assert [path.name for path in figures.iterdir()] == ["0001-trap.weight.png"]


@pytest.mark.parametrize("name", ["model.safetensors.index.json", "config.json", "link"])
def test_no_file_of_a_network_is_overwritten(name, file, tmp_path, capsys):
    target = tmp_path / name
    target.hardlink_to(file)
    before = file.read_bytes()
    assert main([str(file), "--fast", "--output", str(target)]) == 2
    assert "would be overwritten" in capsys.readouterr().err and file.read_bytes() == before == target.read_bytes()


def test_one_file_does_not_hold_two_outputs(file, tmp_path, capsys):
    twice = ["--output", str(tmp_path / "x.png"), "--plot", str(tmp_path / "x.png")]
    assert main([str(file), *twice]) == 2 and "--plot: found the file of --output" in capsys.readouterr().err


def test_an_error_of_the_program_is_one_line(file, capsys, monkeypatch):
    monkeypatch.setattr("capcore.commands.spectra._answer", lambda *arguments: 1 / 0)
    assert main([str(file)]) == 3
    assert "ZeroDivisionError" in (said := capsys.readouterr().err) and len(said.splitlines()) == 1
    with pytest.raises(ZeroDivisionError):
        main([str(file), "--traceback"])


def test_no_escape_of_a_file_name_reaches_the_terminal(file, capsys):
    evil = file.with_name("a\x1b[31mb.npz")
    file.rename(evil)
    assert main([str(evil), "--fast", "--progress"]) == 0 and main([str(evil), "--layers", "no"]) == 2
    found = capsys.readouterr()
    assert "a\\x1b[31mb.npz" in found.out and "\x1b[31m" not in found.out + found.err


def test_a_table_fits_its_terminal():
    row = {"name": "a.very.long.name.of.a.layer.that.goes.on.weight", "alpha": 2.5, "rank": 7, "none": None}
    headings = {"name": "layer", "alpha": "alpha", "rank": "rank", "none": "none"}
    text = lined_up([row], headings, 40, ["rank"])
    assert all(len(line) <= 40 for line in text.splitlines()[:2])
    assert "none" not in text and "…" in text and text.endswith("also show: rank.")
