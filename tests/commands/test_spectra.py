"""``capcore spectra``: its output, what scripts rely on, and what it refuses without a trace."""

import io
import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from capcore.commands.rendering import separated
from capcore.commands.spectra import main
from capcore.spectra import DensityOptions, SpectraOptions, analyse_spectra, weightwatcher_details


@pytest.fixture
def network(tmp_path):
    """A file with two layers, one of them a convolution, and a bias."""
    rng = np.random.default_rng(0)
    path = tmp_path / "network.npz"
    arrays = {"conv.weight": rng.normal(size=(12, 14, 2, 2)), "fc.weight": rng.normal(size=(12, 30))}
    np.savez(path, **arrays, **{"fc.bias": np.zeros(12)})
    return path


@pytest.fixture
def failing(tmp_path):
    path = tmp_path / "failing.npz"
    np.savez(path, **{"fc.weight": np.random.default_rng(1).normal(size=(12, 30)), "dead.weight": np.zeros((12, 30))})
    return path


def run(*arguments):
    command = [sys.executable, "-P", "-m", "capcore", "spectra", *map(str, arguments)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=120)


def test_from_the_shell(network, tmp_path):
    done = run(network, "--format", "json", "--output", tmp_path / "out.json", "--progress")
    assert (done.returncode, done.stdout) == (0, "")
    assert "network.npz" in done.stderr and "layer" in done.stderr  # the bar
    (written,) = json.loads((tmp_path / "out.json").read_text("utf8"))["reports"]
    assert written["options"]["null"] == "shuffled" and len(written["spectra"]) == 2
    assert written["spectra"][0]["n_null"] == 100


@pytest.mark.parametrize("name", ["missing.npz", "broken.safetensors", "notes.txt"])
def test_a_bad_file_gives_one_line_and_no_trace(name, tmp_path):
    path, out = tmp_path / name, tmp_path / "out.csv"
    if name != "missing.npz":
        path.write_bytes(b"\xff" * 40)
    done = run(path, "--format", "csv", "--output", out)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr and done.stderr.startswith("capcore spectra: ") and str(path) in done.stderr
    assert len(done.stderr.splitlines()) == 1 and not out.exists()


@pytest.mark.parametrize("option", ["--plot", "--figures"])
def test_a_package_that_is_not_there_is_said(network, tmp_path, monkeypatch, capsys, option):
    monkeypatch.setattr("capcore.checks.names.find_spec", lambda name: None)
    assert main([str(network), option, str(tmp_path / "a.png")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "pip install matplotlib" in line


BARE = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("pandas", "matplotlib", "torch", "distributed"):
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Absent())
from capcore.commands.cli import main
for form in ("table", "csv", "json"):
    for more in ([], ["--preset", "weightwatcher"], ["--describe"]):
        assert main(["spectra", sys.argv[1], "--format", form, *more]) == 0
assert "scipy.stats" not in sys.modules
"""


def test_the_base_dependencies_are_enough(network):
    """Tables need no pandas, and nothing loads scipy.stats, which takes as long as all the rest."""
    command = [sys.executable, "-P", "-c", BARE, str(network)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.count("fc") >= 9


def test_output_that_nobody_reads_on_is_no_error(network):
    """As in ``capcore spectra … | head -1``."""
    command = [sys.executable, "-P", "-m", "capcore", "spectra", str(network)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert process.wait(120) == 0 and errors == ""


def test_the_table_names_what_was_not_analysed(failing, capsys):
    assert main([str(failing)]) == 0
    text = capsys.readouterr().out
    assert "fc.weight" in text and "dead.weight: All weights are zero." in text and "n_skipped" in text
    assert main([str(failing), "--strict"]) == 1
    assert "dead.weight" in capsys.readouterr().out


def test_strict_is_content_with_a_network_without_failures(network):
    assert main([str(network), "--strict"]) == 0


def test_comma_separated_values_of_several_files(network, failing, capsys):
    assert main([str(network), str(failing), "--format", "csv"]) == 0
    table = pd.read_csv(io.StringIO(capsys.readouterr().out))
    assert [*table["model"]] == ["network.npz"] * 2 + ["failing.npz"] * 2
    expected = analyse_spectra(network, SpectraOptions(DensityOptions("pooled"))).table()["alpha"]
    np.testing.assert_array_equal(table["alpha"][:2], expected)
    assert main([str(network), str(failing), "--format", "csv", "--summary"]) == 0
    assert [*pd.read_csv(io.StringIO(capsys.readouterr().out))["n_skipped"]] == [0, 1]


def test_a_folder(network, failing, capsys):
    assert main([str(network.parent), "--summary"]) == 0
    text = capsys.readouterr().out
    assert text.index("failing.npz") < text.index("network.npz") and "mean alpha hat" in text
    (network.parent / "other.npz").write_bytes(b"no archive")
    assert main([str(network.parent), "--summary"]) == 2
    found = capsys.readouterr()
    assert found.out == "" and "other.npz" in found.err
    assert main([str(network.parent), "--summary", "--keep-going"]) == 1
    found = capsys.readouterr()
    assert "network.npz" in found.out and "other.npz" in found.err


def test_the_summary_in_json_is_short(network, capsys):
    assert main([str(network), "--summary", "--format", "json"]) == 0
    (written,) = json.loads(capsys.readouterr().out)["reports"]
    assert "spectra" not in written and written["model"]["n_spectra"] == 2


def test_the_seed_decides(network, capsys):
    texts = []
    for seed in (0, 0, 1):
        main([str(network), "--format", "csv", "--bootstrap", "10", "--null", "gaussian", "--seed", str(seed)])
        texts.append(capsys.readouterr().out)
    assert texts[0] == texts[1] != texts[2]


def test_a_figure(network, failing, tmp_path, capsys):
    pytest.importorskip("matplotlib").use("Agg")
    for arguments in ([network], [network, failing]):
        path = tmp_path / "figure.png"
        assert main([*map(str, arguments), "--plot", str(path), "--null", "shuffle", "--null-draws", "2"]) == 0
        assert path.read_bytes()[:4] == b"\x89PNG"
        path.unlink()
    assert main([str(network), "--plot", str(path), "--layer", "fc.weight"]) == 0
    capsys.readouterr()
    assert main([str(network), "--plot", str(tmp_path / "no.png"), "--layer", "nothing"]) == 2
    found = capsys.readouterr()
    assert "'nothing'" in found.err and found.out == "" and not (tmp_path / "no.png").exists()


def test_the_preset_is_the_other_tools(failing, capsys):
    details = weightwatcher_details(dict(np.load(failing)))
    assert main([str(failing), "--preset", "weightwatcher", "--format", "csv"]) == 0
    table = pd.read_csv(io.StringIO(capsys.readouterr().out))
    np.testing.assert_allclose(table["alpha"], details["alpha"])
    assert main([str(failing), "--preset", "weightwatcher", "--strict"]) == 1
    assert "WeightWatcher 0.7.7" in capsys.readouterr().out
    assert main([str(failing), "--preset", "weightwatcher", "--format", "json", "--view", "slices"]) == 0
    (written,) = json.loads(capsys.readouterr().out)["networks"]
    assert written["pool"] is False and written["details"][1]["alpha"] == -1
    assert written["summary"]["alpha"] == pytest.approx(details["alpha"].mean())


@pytest.mark.parametrize("form", ["table", "csv", "json"])
def test_the_preset_of_a_file_without_its_layers(form, tmp_path, capsys):
    """The tool takes tensors whose names end in ``.weight``."""
    np.savez(tmp_path / "keras.npz", kernel=np.ones((20, 30)))
    assert main([str(tmp_path / "keras.npz"), "--preset", "weightwatcher", "--format", form]) == 1
    text = capsys.readouterr().out
    assert "model" in text and (form != "json" or json.loads(text)["networks"][0]["details"] == [])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--plot", "figure.gif"], "ends in .png"),
        (["--output", "no/such/folder/out.csv"], "no folder"),
        (["--output", "."], "the folder ."),
        (["--output", "network.npz"], "it would be overwritten"),
        (["--tail-share", "2"], "--tail-share: found 2.0"),
        (["--view", "operator"], "--grid: found None"),
        (["--null-draws", "0"], "--null-draws: found 0"),
        (["--transposed", "nothing*"], "found no tensor that it fits"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_is_written(arguments, message, network, capsys):
    assert main([str(network), *arguments]) == 2
    found = capsys.readouterr()
    assert message in found.err and found.out == "" and found.err.startswith("capcore spectra: ")


def test_not_finite_weights_are_named_or_refused(tmp_path, capsys):
    weights = np.random.default_rng(0).normal(size=(12, 30))
    np.savez(tmp_path / "nan.npz", good=weights, bad=np.where(weights > 2, np.nan, weights))
    assert main([str(tmp_path / "nan.npz"), "--non-finite", "refuse"]) == 2
    assert "NaN" in capsys.readouterr().err
    assert main([str(tmp_path / "nan.npz"), "--strict"]) == 1
    assert "bad: " in capsys.readouterr().out
    assert main([str(tmp_path / "nan.npz"), "--preset", "weightwatcher"]) == 1  # no name ends in .weight
    assert main([str(tmp_path / "nan.npz")]) == 0


@pytest.mark.parametrize("form", ["table", "csv", "json"])
@pytest.mark.parametrize("more", [[], ["--summary"], ["--describe"], ["--preset", "weightwatcher"], ["--fast"]])
def test_a_file_of_which_nothing_is_analysed_is_no_success(network, tmp_path, capsys, form, more):
    np.savez(tmp_path / "odd.npz", **{"a.weight": np.ones((12, 12), complex), "b.bias": np.zeros(12)})
    assert main([str(tmp_path / "odd.npz"), "--format", form, *more]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "odd.npz: found nothing to analyse" in line and "network" not in line
    assert (
        main([str(network), str(tmp_path / "odd.npz"), "--format", form, *more, "--output", str(tmp_path / "o")]) == 1
    )
    assert (tmp_path / "o").stat().st_size and "odd.npz" in capsys.readouterr().err


def test_names_that_a_spreadsheet_would_compute_are_text(tmp_path, capsys):
    odd = ["=1+1", "+1", "-1", "@SUM(1)"]
    np.savez(tmp_path / "a.npz", **{name: np.random.default_rng(0).normal(size=(12, 30)) for name in odd})
    assert main([str(tmp_path / "a.npz"), "--fast", "--format", "csv"]) == 0
    table = pd.read_csv(io.StringIO(capsys.readouterr().out))
    assert [*table["name"]] == [f"'{name}" for name in odd] and (table["log_spectral"] > 0).all()
    assert separated([{"a": "\tx", "b": -1.5, "c": "x=1"}]) == "a,b,c\n'\tx,-1.5,x=1\n"


def test_the_preset_names_and_counts_layers_as_the_tool(network, tmp_path, capsys):
    """All tensors called ``.weight`` count, also those without a row; names of wrappers do not."""
    arrays = {f"state_dict.{name}": values for name, values in np.load(network).items()}
    np.savez(tmp_path / "wrapped.npz", **{"state_dict.norm.weight": np.ones(3)}, **arrays)
    assert main([str(tmp_path / "wrapped.npz"), "--preset", "weightwatcher", "--format", "csv"]) == 0
    table = pd.read_csv(io.StringIO(capsys.readouterr().out))
    assert [*table["layer_id"]] == [2, 3] and [*table["name"]] == [*table["longname"]] == ["conv", "fc"]
    details = weightwatcher_details({"a.b.fc.weight": np.random.default_rng(0).normal(size=(12, 30))})
    assert details[["layer_id", "name", "longname"]].to_numpy().tolist() == [[1, "fc", "a.b.fc"]]
