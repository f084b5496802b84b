"""Run the test suite under other arithmetic: other processors' BLAS kernels, no SIMD in NumPy, other versions.

``python scripts/arithmetic.py [SETTING …] [-- PYTEST ARGUMENTS]``, or ``make arithmetic``. Without names all settings
run, notebooks and slow tests included; the kernels of the notebooks inherit the setting. What a setting asks for is
looked up in a fresh process before its tests start: one that this machine cannot give is skipped, with the reason,
and never counts as passed. Logs go to ``_build/arithmetic``. Exit status 1 where a test fails or nothing could run.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

from capcore.results.text_table import text_table

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "_build" / "arithmetic"
COMPUTING = {"numpy", "scipy", "python-flint", "jax", "jaxlib", "ml-dtypes", "optax", "pandas", "scikit-learn"}
NEWER = ("3.14", "3.13", "3.12")
PROBE = """
import json, platform
import numpy as np, scipy, scipy.linalg, threadpoolctl
for dtype in "fdFD":  # the kernels themselves: a processor without their instructions stops here
    a = np.eye(96, dtype=dtype) + np.ones((96, 96), dtype) / 96
    scipy.linalg.svd(scipy.linalg.inv(a @ a)), scipy.linalg.eigh(a), scipy.linalg.qr(a)
pools = [pool for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"]
print(json.dumps({
    "kernels": sorted({pool.get("architecture", pool["internal_api"]) for pool in pools}),
    "threads": sorted({pool["num_threads"] for pool in pools}),
    "features": np.show_config(mode="dicts")["SIMD Extensions"].get("found", []),
    "versions": [platform.python_version(), np.__version__, scipy.__version__],
}))
"""


@dataclass(frozen=True)
class Setting:
    """One kind of arithmetic: OpenBLAS kernels, NumPy without its dispatched loops, BLAS threads, versions."""

    name: str
    about: str
    core: str = ""
    plain: bool = False
    threads: int = 1
    versions: str = ""

    def environment(self, features: list[str]) -> dict[str, str]:
        """Variables for a process, from what NumPy finds beyond its baseline."""
        inherited = {k: v for k, v in os.environ.items() if k not in ("OPENBLAS_CORETYPE", "NPY_DISABLE_CPU_FEATURES")}
        pools = ("CAPCORE_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
        threads = dict.fromkeys(pools, str(self.threads))
        kernels = {"OPENBLAS_CORETYPE": self.core} if self.core else {}
        loops = {"NPY_DISABLE_CPU_FEATURES": " ".join(features)} if self.plain else {}
        compiled = {"CAPCORE_XLA": "full"}  # with the care that XLA takes for users, as make test does not
        return inherited | threads | kernels | loops | compiled | {"JUPYTER_PREFER_ENV_PATH": "1"}

    def missed(self, plain: dict, found: dict) -> str:
        """Why ``found`` is not what was asked for, or ''; ``plain`` is what the same Python finds without it."""
        if self.core and found["kernels"] != [self.core]:
            kernels = ", ".join(found["kernels"]) or "none"
            return f"asked for the kernels of {self.core}, OpenBLAS runs those of {kernels}"
        if self.plain and not plain["features"]:
            return "NumPy finds nothing beyond its baseline on this processor"
        if self.plain and found["features"]:
            return f"NumPy still uses {', '.join(found['features'])}"
        if found["threads"] != [self.threads]:
            return f"asked for {self.threads} BLAS threads, found {found['threads']}"
        return ""


ILLEGAL = "illegal instruction"
SETTINGS = [
    Setting("haswell", "OpenBLAS kernels with AVX2", core="Haswell"),
    Setting("skylakex", "OpenBLAS kernels with AVX-512", core="SkylakeX"),
    Setting("zen", "OpenBLAS kernels for AMD Zen", core="Zen"),
    Setting("nehalem", "OpenBLAS kernels with SSE4.2 only", core="Nehalem"),
    Setting("plain-numpy", "NumPy without its dispatched SIMD loops", plain=True),
    Setting("one-thread", "one BLAS thread, as locked: the reference"),
    Setting("two-threads", "two BLAS threads", threads=2),
    Setting("oldest", "the oldest versions that pyproject.toml admits of what computes", versions="lowest-direct"),
    Setting("newest", "the newest versions of what computes, on the newest Python found", versions="highest"),
]


@dataclass
class Outcome:
    """What became of a setting."""

    setting: Setting
    found: dict = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    skipped: str = ""
    broken: str = ""

    def row(self) -> list[str]:
        """Its line of the table."""
        kernels = ", ".join(self.found.get("kernels", []))
        details = [f"{self.found['threads'][0]} thread(s)", *self.found["features"][-1:]] if self.found else []
        numbers = [str(self.counts.get(kind, "")) for kind in ("passed", "failed", "skipped")]
        return [self.setting.name, kernels, ", ".join(details), " ".join(self.found.get("versions", [])), *numbers]


def environment_with(resolution: str, folder: Path) -> Path | str:
    """The Python of an environment in ``folder``, or why there is none.

    ``resolution`` is uv's: "lowest-direct", the lower bounds of pyproject.toml, or "highest", on the newest Python
    that is installed. What is not among ``COMPUTING`` is held at the version of the lock.
    """
    python = sys.executable
    if resolution == "highest":
        python = next(filter(None, map(installed_python, NEWER)), sys.executable)
    folder.mkdir(parents=True, exist_ok=True)
    held = folder / "held.txt"
    held.write_text("\n".join(held_versions()) + "\n")
    installed = folder / "venv" / "bin" / "python"
    install = ["pip", "install", "-q", "--python", str(installed)]
    steps = [
        ["venv", "-q", "--no-python-downloads", "--clear", "--python", python, str(folder / "venv")],
        [*install, "--resolution", resolution, "--upgrade", "-c", str(held), "-r", "pyproject.toml", *locked_words()],
        [*install, "--no-deps", "-e", "."],
    ]
    for step in steps:
        done = subprocess.run([sys.executable, "-P", "-m", "uv", *step], cwd=ROOT, capture_output=True, text=True)
        if done.returncode:
            return f"uv {step[0]} failed: {(done.stderr.strip().splitlines() or ['no reason given'])[-1]}"
    return installed


def held_versions() -> list[str]:
    """Those of the lock that stay: its lines for the other packages, without the lines of hashes below each."""
    lines = re.findall(r"^\w.*?(?= \\$)", (ROOT / "requirements.lock").read_text(), re.MULTILINE)
    return [line for line in lines if line.split("==")[0] not in COMPUTING]


def installed_python(version: str) -> str:
    """Where this version is, or ''; none is fetched."""
    find = [sys.executable, "-P", "-m", "uv", "python", "find", "--no-python-downloads", version]
    return subprocess.run(find, cwd=ROOT, capture_output=True, text=True).stdout.strip()


def locked_words() -> list[str]:
    """The options that name the extras and groups of the lock, as the Makefile has them."""
    (words,) = re.findall(r"^LOCKED := (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    return words.split()


def probe(python: Path, environment: dict[str, str]) -> dict | str:
    """What a fresh process finds, or why it stopped."""
    done = subprocess.run([python, "-P", "-c", PROBE], env=environment, capture_output=True, text=True, cwd=ROOT)
    if done.returncode == -4:
        return f"{ILLEGAL}: this processor cannot run these kernels"
    if done.returncode:
        return f"the probe ended with status {done.returncode}: {(done.stderr.strip().splitlines() or [''])[-1]}"
    return json.loads(done.stdout)


def run(setting: Setting, arguments: list[str]) -> Outcome:
    """Look up what the setting gives, and run the tests where it is what was asked for."""
    python: Path | str = Path(sys.executable)
    if setting.versions:
        python = environment_with(setting.versions, RESULTS / setting.name)
        if isinstance(python, str):
            return Outcome(setting, broken=python)
    assert isinstance(python, Path)
    default = probe(python, Setting("", "").environment([]))
    if isinstance(default, str):
        return Outcome(setting, broken=default)
    environment = setting.environment(default["features"])
    found = probe(python, environment)
    if isinstance(found, str):
        illegal = found.startswith(ILLEGAL)
        return Outcome(setting, skipped=found) if illegal else Outcome(setting, broken=found)
    if reason := setting.missed(default, found):
        return Outcome(setting, found, skipped=reason)
    report, log = RESULTS / f"{setting.name}.xml", RESULTS / f"{setting.name}.log"
    report.unlink(missing_ok=True)
    print(f"{setting.name}: running, see {log}", flush=True)
    command = [str(python), "-P", "-m", "pytest", "-m", "not site", "-n", "auto", "--maxprocesses", "4"]
    command += ["--dist", "loadfile", "-p", "no:cacheprovider", f"--junitxml={report}", "-o", "junit_family=xunit1"]
    with log.open("w") as file:
        done = subprocess.run([*command, *arguments], env=environment, cwd=ROOT, stdout=file, stderr=file)
    counts, failures = read(report) if report.exists() else ({"passed": 0, "skipped": 0}, [])
    if done.returncode not in (0, 1):
        failures.append(f"(pytest ended with status {done.returncode})")
    return Outcome(setting, found, counts | {"failed": len(failures)}, failures)


def read(report: Path) -> tuple[dict[str, int], list[str]]:
    """Counts and the names of what failed, from pytest's XML."""
    counts, failures = dict.fromkeys(("passed", "failed", "skipped"), 0), []
    for case in ElementTree.parse(report).iter("testcase"):
        kinds = {child.tag for child in case}
        if kinds & {"failure", "error"}:
            failures.append(f"{case.get('file')}::{case.get('name')}")
        counts["failed" if kinds & {"failure", "error"} else "skipped" if "skipped" in kinds else "passed"] += 1
    return counts, failures


def table(outcomes: list[Outcome]) -> str:
    """One line per setting, and below them why others were not run, and the names of what failed."""
    heads = ["setting", "kernels", "threads, SIMD in NumPy", "Python NumPy SciPy", "passed", "failed", "skipped"]
    lines = [text_table([outcome.row() for outcome in outcomes], heads, "<")]
    for outcome in outcomes:
        if why := outcome.skipped or outcome.broken:
            lines.append(f"{outcome.setting.name}: not run: {why}")
        lines += [f"{outcome.setting.name}: FAILED {name}" for name in outcome.failures]
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    """Run the settings chosen and print the table."""
    own, rest = arguments, []
    if "--" in arguments:
        own, rest = arguments[: arguments.index("--")], arguments[arguments.index("--") + 1 :]
    parser = argparse.ArgumentParser(prog="arithmetic.py", description=__doc__.split("\n")[0])
    names = [setting.name for setting in SETTINGS]
    parser.add_argument("settings", nargs="*", metavar="SETTING", help=f"{', '.join(names)}; default: all")
    parser.add_argument("--list", action="store_true", help="list the settings and stop")
    options = parser.parse_args(own)
    if unknown := set(options.settings) - set(names):
        parser.error(f"setting: found {', '.join(sorted(unknown))}, expected some of {', '.join(names)}.")
    if options.list:
        print("\n".join(f"{setting.name:12} {setting.about}" for setting in SETTINGS))
        return 0
    RESULTS.mkdir(parents=True, exist_ok=True)
    outcomes = [run(setting, rest) for setting in SETTINGS if setting.name in (options.settings or names)]
    print(table(outcomes))
    for outcome in outcomes:
        if outcome.skipped and "GITHUB_ACTIONS" in os.environ:
            print(f"::warning title={outcome.setting.name} was not run::{outcome.skipped}")
    ran = [outcome for outcome in outcomes if outcome.counts]
    return int(not ran or any(outcome.failures or outcome.broken for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
