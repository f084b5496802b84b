"""The command's own quantities: traps, changes from a base, layers on threads, one that fails."""

import json
from dataclasses import replace

import numpy as np
import pytest

from capcore.checkpoints import of_arrays
from capcore.checkpoints.differences import difference
from capcore.commands.spectra import main
from capcore.spectra import DensityOptions, SpectraOptions, analyse_spectra
from capcore.spectra.text import lined_up

OPTIONS = SpectraOptions(DensityOptions("pooled"), null="shuffled", n_null=5, n_resamples=10)


@pytest.fixture
def network(rng):
    weights = rng.normal(size=(60, 80))
    trap = weights.copy()
    trap[3, 5] = 60.0  # shuffling does not remove one large weight
    return {"noise.weight": weights, "trap.weight": trap, "conv.weight": rng.normal(size=(12, 14, 2, 2))}


def test_numbers_are_the_same_on_threads(network):
    assert analyse_spectra(network, OPTIONS, workers=2).spectra == analyse_spectra(network, OPTIONS).spectra


def test_one_large_weight_is_one_trap(network):
    rows = {row.name: row for row in analyse_spectra(network, OPTIONS).spectra}
    assert rows["trap.weight"].traps_low >= 1 > rows["noise.weight"].traps


def test_a_change_of_rank_one(network, rng):
    """W₀ + u vᵀ: the difference has one eigenvalue, and the change is its norm over that of W₀."""
    u, v = rng.normal(size=(60, 1)), rng.normal(size=(1, 80))
    base = of_arrays({"fc": network["noise.weight"], "gone": np.ones((3, 3))})
    tuned = of_arrays({"fc": network["noise.weight"] + u @ v, "new": np.ones((20, 20))})
    report = analyse_spectra(difference(tuned, base), SpectraOptions(), base=base)
    expected = np.linalg.norm(u) * np.linalg.norm(v) / np.linalg.norm(network["noise.weight"])
    assert report.spectra[0].change == pytest.approx(expected, rel=1e-12)  # rounding of sums of 4,800 squares
    assert report.spectra[0].rank == 1
    assert [part.name for part in report.not_layers if part.weights] == ["new"]


def test_a_layer_that_fails_is_named_and_ends_nothing(network, monkeypatch):
    from capcore.spectra.analysis import layer_metrics

    def broken(densities, options):
        if densities[0].layer == "trap.weight":
            raise MemoryError("no room")
        return layer_metrics(densities, options)

    monkeypatch.setattr("capcore.spectra.analysis.layer_metrics", broken)
    report = analyse_spectra(network, OPTIONS)
    assert len(report.spectra) == 2 and "MemoryError: no room" in report.failures["trap.weight"]


def test_large_layers_have_no_interval_unless_it_was_asked_for(network):
    """The convolution has 48 eigenvalues, the others 60."""
    spared = [row.n for row in analyse_spectra(network, replace(OPTIONS, longest=48)).spectra if row.alpha_low > 0]
    assert spared == [48]
    assert all(row.alpha_low > 0 for row in analyse_spectra(network, OPTIONS).spectra)


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
    monkeypatch.setattr("capcore.spectra.analysis.analyse_layer", None)
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
    assert "expected" in capsys.readouterr().err and file.read_bytes() == before == target.read_bytes()


def test_one_file_does_not_hold_two_outputs(file, tmp_path, capsys):
    twice = ["--output", str(tmp_path / "x.png"), "--plot", str(tmp_path / "x.png")]
    assert main([str(file), *twice]) == 2 and "the file of --output" in capsys.readouterr().err


def test_an_error_of_the_program_is_one_line(file, capsys, monkeypatch):
    monkeypatch.setattr("capcore.commands.spectra._analysed", lambda *arguments: 1 / 0)
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
    text = lined_up([row], headings, 40, 2)
    assert all(len(line) <= 40 for line in text.splitlines()[:2])
    assert "none" not in text and "…" in text and text.endswith("also show: rank.")
