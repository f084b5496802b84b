"""The suite under other arithmetic: what is not given is not counted, and what fails is named."""

import re
import sys
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
TESTS = "import os, pytest\n\n\ndef test_core():\n    assert os.environ['OPENBLAS_CORETYPE'] == 'Haswell'\n\n\n"
TESTS += "def test_other():\n    raise ValueError\n\n\ndef test_left_out():\n    pytest.skip('so')\n"


@pytest.fixture
def arithmetic(monkeypatch, tmp_path):
    from scripts import arithmetic

    monkeypatch.setattr(arithmetic, "RESULTS", tmp_path)
    monkeypatch.setattr(sys, "argv", ["arithmetic.py"])
    return arithmetic


def test_what_does_not_compute_stays_as_locked(arithmetic):
    held = [Requirement(line) for line in arithmetic.held_versions()]
    assert len(held) > 150 and all(re.fullmatch(r"==[\w.]+", str(each.specifier)) for each in held)
    names = {each.name for each in held}
    assert not names & arithmetic.COMPUTING and {"pytest", "nbval", "aiohttp"} <= names


def found(**changes):
    return {"kernels": ["Haswell"], "threads": [1], "features": ["AVX2"], "versions": ["3.11", "2.4"], **changes}


@pytest.mark.parametrize(
    ("name", "plain", "now", "reason"),
    [
        ("haswell", found(), found(), ""),
        ("skylakex", found(), found(), "asked for the kernels of SkylakeX, OpenBLAS runs those of Haswell"),
        ("zen", found(), found(kernels=[]), "asked for the kernels of Zen, OpenBLAS runs those of none"),
        ("plain-numpy", found(), found(features=[]), ""),
        ("plain-numpy", found(features=[]), found(features=[]), "NumPy finds nothing beyond its baseline"),
        ("plain-numpy", found(), found(), "NumPy still uses AVX2"),
        ("two-threads", found(), found(), r"asked for 2 BLAS threads, found \[1\]"),
    ],
)
def test_what_was_asked_for_is_looked_up(arithmetic, name, plain, now, reason):
    (setting,) = (setting for setting in arithmetic.SETTINGS if setting.name == name)
    assert bool(setting.missed(plain, now)) == bool(reason)
    assert re.search(reason, setting.missed(plain, now))


def test_kernels_that_do_not_take_effect_are_not_counted(arithmetic, monkeypatch):
    monkeypatch.setattr(arithmetic.subprocess, "run", lambda *a, **k: pytest.fail("tests were run"))
    monkeypatch.setattr(arithmetic, "probe", lambda python, environment: found())
    outcome = arithmetic.run(arithmetic.Setting("vax", "", core="VAX"), [])
    assert outcome.skipped and not outcome.counts
    assert "not run: asked for the kernels of VAX" in arithmetic.table([outcome])


def test_an_illegal_instruction_is_said(arithmetic):
    python = Path(sys.executable)
    arithmetic.PROBE = "import os, signal\nos.kill(os.getpid(), signal.SIGILL)"
    assert arithmetic.probe(python, arithmetic.SETTINGS[0].environment([])).startswith("illegal instruction")


@pytest.mark.slow
def test_tests_run_and_failures_are_named(arithmetic, monkeypatch, tmp_path):
    monkeypatch.setattr(arithmetic, "probe", lambda python, environment: found())
    path = tmp_path / "test_it.py"
    path.write_text(TESTS)
    outcome = arithmetic.run(arithmetic.SETTINGS[0], [str(path), "-n", "0", f"--rootdir={tmp_path}"])
    assert outcome.counts == {"passed": 1, "failed": 1, "skipped": 1}
    (failure,) = outcome.failures
    assert failure.endswith("::test_other")
    assert f"haswell: FAILED {failure}" in arithmetic.table([outcome])


@pytest.mark.slow
def test_a_run_that_breaks_off_has_failed(arithmetic, monkeypatch, tmp_path):
    monkeypatch.setattr(arithmetic, "probe", lambda python, environment: found())
    outcome = arithmetic.run(arithmetic.SETTINGS[0], [str(tmp_path / "absent.py"), "-n", "0"])
    assert outcome.failures == ["(pytest ended with status 4)"] and outcome.counts["failed"] == 1


def test_settings_are_listed_and_unknown_ones_refused(arithmetic, capsys):
    assert arithmetic.main(["--list"]) == 0
    names = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert names == [setting.name for setting in arithmetic.SETTINGS]
    with pytest.raises(SystemExit):
        arithmetic.main(["has-well"])
    assert "setting: found has-well, expected some of haswell" in capsys.readouterr().err


def test_the_job_runs_every_setting(arithmetic):
    jobs = yaml.safe_load((ROOT / ".github/workflows/extended.yml").read_text())["jobs"]
    assert jobs["arithmetic"]["strategy"]["matrix"]["setting"] == [setting.name for setting in arithmetic.SETTINGS]


def test_the_workflows_name_tests_that_there_are():
    texts = [path.read_text() for path in (ROOT / ".github/workflows").glob("*.yml")]
    assert [name for name in re.findall(r"tests/[\w/.]+", " ".join(texts)) if not (ROOT / name).exists()] == []
