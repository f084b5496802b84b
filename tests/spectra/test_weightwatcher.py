"""The preset says what WeightWatcher 0.7.7 itself said (goldens/weightwatcher.json, by make_weightwatcher.py there)."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import capcore as cc
from capcore.checkpoints.opening import read_checkpoint
from capcore.commands.arguments import parser
from capcore.spectra.power_law import fit_power_law
from capcore.spectra.weightwatcher import layer_matrices, weightwatcher_details, weightwatcher_summary
from capcore.spectra.weightwatcher_fits import fit_noise, fits_as_weightwatcher
from tests.checkpoints.crafted import packed
from tests.spectra.goldens.crafted import crafted_layers

GOLDENS = json.loads((Path(__file__).parent / "goldens" / "weightwatcher.json").read_text("utf8"))
DATA = Path(__file__).parents[3] / "shared" / "data" / "checkpoints"
CRAFTED = {f"{name}.weight": weights for name, weights in crafted_layers().items()}

# Different LAPACK builds agree to some 1e-15 of the largest singular value. Measured over 306 layers: 2e-14 at most.
EXACT = {"status", "warning", "N", "M", "rf", "num_evals", "num_pl_spikes", "matrix_rank", "num_spikes"}
EXACT |= {"rank_loss", "weak_rank_loss"}
RELATIVE = 1e-10


def fitted(values):
    """The tool's fit of one spectrum."""
    (fit,) = fits_as_weightwatcher([values])
    return fit


def numbers(values):
    """JSON's values as floats: null is NaN."""
    return np.array([np.nan if value is None else float(value) for value in values])


def compare(details, golden):
    """Every column of the golden against the same of ``details``, row by row by name."""
    keys = ["longname", "slice_id"] if "slice_id" in golden else ["longname"]
    details = details.set_index(keys)
    index = list(zip(golden["name"], golden["slice_id"], strict=True)) if len(keys) == 2 else golden["name"]
    assert set(details.index) == set(index) and len(details) == len(index)
    details = details.loc[index]
    for column, expected in golden.items():
        if column in {"name", "slice_id", "summary"}:
            continue
        found = details[column].tolist()
        if column in EXACT:
            assert found == expected, column
        else:
            np.testing.assert_allclose(numbers(found), numbers(expected), rtol=RELATIVE, atol=1e-13, err_msg=column)


def summarised(details, golden):
    summary = weightwatcher_summary(details)
    assert set(summary) == set(golden["summary"])
    for name, value in golden["summary"].items():
        assert summary[name] == pytest.approx(float(value), rel=RELATIVE, nan_ok=True), name


@pytest.mark.parametrize(("form", "options"), [("pooled", {"mp_fit": True}), ("slices", {"pool": False})])
def test_crafted_layers(form, options):
    assert GOLDENS["versions"]["weightwatcher"] == "0.7.7"
    details = weightwatcher_details(CRAFTED, **options)
    compare(details, GOLDENS["crafted"][form])
    summarised(details, GOLDENS["crafted"][form])


@pytest.mark.skipif(not DATA.is_dir(), reason="needs ../shared/data, which is absent")
@pytest.mark.parametrize("file", sorted(GOLDENS["checkpoints"]))
def test_every_layer_of_the_checkpoints(file):
    golden = GOLDENS["checkpoints"][file]
    assert hashlib.sha256((DATA / file).read_bytes()).hexdigest() == golden["sha256"]
    checkpoint = read_checkpoint(DATA / file)
    details = weightwatcher_details(checkpoint, mp_fit=True)
    compare(details, golden["pooled"])
    summarised(details, golden["pooled"])
    if "slices" in golden:
        compare(weightwatcher_details(checkpoint, pool=False), golden["slices"])


def test_below_twenty_the_formula_is_another():
    values = np.exp(np.arange(1.0, 20.0))
    theirs = fitted(values)
    tail = values[values >= theirs["xmin"]]
    assert len(tail) >= 8
    assert theirs["alpha"] == pytest.approx(1 + (len(tail) - 1) / np.log(tail / tail[0]).sum())
    assert fitted(np.exp(np.arange(1.0, 21.0)))["alpha"] == pytest.approx(
        fit_power_law(np.exp(np.arange(1.0, 21.0))).alpha
    )


def test_many_at_once_are_the_same_as_one_by_one():
    """Digit for digit: small, large, failed and tied spectra in one list, whose scans must not mix."""
    rng = np.random.default_rng(3)
    spectra = [rng.pareto(1.5, size) + 1 for size in (5, 19, 20, 300, 21)]
    spectra[2:2] = [np.zeros(30), np.ones(40), 1e-9 * spectra[3]]
    for together, alone in zip(fits_as_weightwatcher(spectra), map(fitted, spectra), strict=True):
        np.testing.assert_equal(together, alone)
    assert fits_as_weightwatcher([]) == []


def test_the_threshold_does_not_follow_the_scale():
    values = np.random.default_rng(0).pareto(1.5, 200) + 1
    assert fitted(1e-4 * values)["alpha"] == pytest.approx(fitted(values)["alpha"])
    assert fitted(1e-6 * values)["num_pl_spikes"] < fitted(values)["num_pl_spikes"]
    assert fitted(1e-9 * values)["status"] == "failed"


def test_layers_that_are_left_out():
    assert layer_matrices(np.zeros((7, 50))) is None
    assert layer_matrices(np.zeros(50)) is None
    assert layer_matrices(np.zeros((1, 50, 3, 3))) is None
    assert layer_matrices(np.zeros((50_001, 8))) is None
    assert layer_matrices(np.zeros((8, 8))) is not None
    assert weightwatcher_details({"fc.kernel": np.eye(20)}).empty
    assert fit_noise(np.zeros(9), 9, 9)["mp_softrank"] == -1


def test_what_the_page_says_of_failed_layers():
    golden = GOLDENS["checkpoints"]["distiller_resnet20/checkpoint_trained_4D_regularized_5Lremoved.safetensors"][
        "pooled"
    ]
    good = [alpha for alpha, status in zip(golden["alpha"], golden["status"], strict=True) if status == "success"]
    assert (len(golden["alpha"]), len(good)) == (22, 17)
    assert (round(golden["summary"]["alpha"], 2), round(float(np.mean(good)), 2)) == (2.99, 4.16)
    assert (golden["summary"]["log_norm"], golden["summary"]["alpha_weighted"]) == ("-inf", "inf")
    assert sum(len(entry["pooled"]["name"]) for entry in GOLDENS["checkpoints"].values()) == 306


PAGE = (Path(__file__).parents[2] / "book" / "weightwatcher.md").read_text("utf8")


def test_what_the_page_shows_runs(tmp_path, monkeypatch):
    """Its code; the flags and columns that its tables name exist, and the columns called equal are equal."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    weights = {"conv.weight": rng.normal(size=(24, 20, 3, 3)), "fc.weight": rng.normal(size=(40, 60))}
    (tmp_path / "model.safetensors").write_bytes(packed({name: each.astype("f4") for name, each in weights.items()}))
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.S)
    names: dict[str, Any] = {}
    exec(code, names)
    known = parser("capcore spectra").format_help()
    flags = set(re.findall(r"--[a-z][a-z-]+", PAGE))
    assert len(flags) > 10 and not [flag for flag in flags if flag not in known]
    full, short = names["found"].to_dataframe(), names["found"].table()
    details, model = names["details"], vars(names["found"].model)
    rows = re.findall(r"^\| (`longname`.*?)\n\n", PAGE, flags=re.S | re.M)[0].splitlines()
    equal = 0
    for row in rows[:-1]:
        theirs, ours = (re.findall(r"`(\w+)`", cell) for cell in row.strip("| ").split(" | ")[:2])
        assert all(name in full or name in short or name in model or name == "traps" for name in ours), row
        same = re.search(r"\| (yes|from 20 .*|likewise|at full rank.*) \|$", row)
        if same and not set(ours) & {"alpha_hat", "log_frobenius"}:
            for a, b in zip(theirs, ours, strict=True):
                np.testing.assert_allclose(full[b].astype(float), details[a].astype(float), rtol=1e-9, err_msg=a)
                equal += 1
    assert equal == 7
    np.testing.assert_allclose(full["entropy"], details["entropy"], rtol=1e-7)
    found = cc.spectra.report(weights, fast=True, skip="conv*", base=weights | {"fc.weight": weights["fc.weight"] / 2})
    assert found.spectra[0].change == pytest.approx(1.0) and found.densities
