"""Ctrl-C on a build: it stops within seconds, keeps what is executed, leaves no kernel, and the next build goes on."""

import os
import re
import signal
import time
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell

from tests.sweeps.processes import until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="no /proc to look for kernels in"),
]
SOON = 10.0
"""Seconds: nbclient looks once a second whether its kernel lives, and a busy machine may take a few more."""
OTHERS, LONG = ("u", "v"), ("y", "z")
"""Notebooks: those that end at once, as the small book's own does, and those that take minutes without a file "fast".

They are executed in the order of their names, so that no quick one waits behind a long one.
"""


def in_the_environment_of(text):
    """Processes that were started with this text in their environment."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if text.encode() in (folder / "environ").read_bytes() and (folder / "cmdline").read_bytes():
                found.add(int(folder.name))
        except OSError:  # of another user, or gone
            continue
    return found


@pytest.fixture
def long_book(small_book):
    """A book of five notebooks, of which the last two take minutes."""
    notebook = nbformat.read(small_book.root / "notebooks/x.ipynb", 4)
    toc = small_book.root / "_toc.yml"
    for name in (*OTHERS, *LONG):
        seconds = 300 if name in LONG else 0
        code = (
            f"import time, pathlib\npathlib.Path('../started-{name}').touch()\n"
            f"time.sleep(0 if pathlib.Path('../fast').exists() else {seconds})"
        )
        notebook.cells = [*notebook.cells[:2], new_code_cell(code, id="last")]
        nbformat.write(notebook, small_book.root / f"notebooks/{name}.ipynb")
        toc.write_text(toc.read_text() + f"- file: notebooks/{name}\n")
    return small_book


def cached(book):
    return list((book.root / "_build/.jupyter_cache").glob("*/executed/*/base.ipynb"))


def test_an_interrupted_build_stops_keeps_what_is_done_and_can_go_on(long_book, tmp_path):
    mark = f"CAPCORE_TEST_OF_INTERRUPTS={tmp_path}"
    build = long_book.start(CAPCORE_TEST_OF_INTERRUPTS=str(tmp_path))
    started = [long_book.root / f"started-{name}" for name in LONG]
    until(lambda: len(cached(long_book)) == 3 and any(path.exists() for path in started))
    kernels = in_the_environment_of(mark)
    assert len(kernels) > 1

    begin = time.monotonic()
    os.killpg(build.pid, signal.SIGINT)  # as a terminal does
    out, err = build.communicate(timeout=60)
    assert time.monotonic() - begin < SOON
    assert build.returncode != 0
    (said,) = re.findall(r"^Stopped: .*$", out + err, re.MULTILINE)
    assert said == "Stopped: 3 of 5 notebooks are executed and kept; `make book` goes on from there."
    assert "Traceback" not in err
    assert len(cached(long_book)) == 3
    until(lambda: not in_the_environment_of(mark), SOON)

    (long_book.root / "fast").touch()
    for path in started:
        path.unlink(missing_ok=True)
    finished = {path: path.stat().st_mtime_ns for path in cached(long_book)}
    done = long_book.build()
    assert done.returncode == 0, done.stdout + done.stderr
    assert all(path.stat().st_mtime_ns == before for path, before in finished.items())
    assert all(path.exists() for path in started)
    assert len(cached(long_book)) == 5
