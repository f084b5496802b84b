"""The cell that Colab needs first, run where neither the package nor the chapters are at hand.

Without a network the repository is cloned from here, and what it depends on is what this environment has.
"""

import json
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from jinja2 import Template

from book._ext.repository_url import BUTTONS, colab_cell, define_substitutions, wheel

pytest.importorskip("IPython")
pytest.importorskip("sphinx")
ROOT = Path(__file__).resolve().parents[2]
RUN = """
import sys
from pathlib import Path
from IPython.core.interactiveshell import InteractiveShell

root, *cells = sys.argv[1:]
sys.path[:] = [place for place in sys.path if place not in ("", root)]
shell = InteractiveShell.instance()
for cell in cells:
    shell.run_cell(cell).raise_error()
for name in ("chapters", "capcore"):
    print(Path(sys.modules[name].__file__).resolve())
"""


@pytest.mark.parametrize("site", ["", "https://example.org/book/"])
@pytest.mark.parametrize("url", ["", "https://example.org/repository"])
def test_pages_install_what_there_is(url, site):
    """With matplotlib and pandas, which the first page's lines need."""
    config = SimpleNamespace(html_theme_options={"repository_url": url, "launch_buttons": {"colab_url": "x"}})
    config.myst_substitutions, config.html_context, config.ogp_site_url = {}, {}, site
    define_substitutions(SimpleNamespace(srcdir=ROOT), config)
    (command,) = [line for line in config.myst_substitutions["install"].splitlines() if line.startswith("pip install")]
    place = f"{site}{wheel(ROOT)}" if site else f"git+{url}"
    assert command == (
        f'pip install "capcore[plot,series] @ {place}"' if site or url else 'pip install ".[plot,series]"'
    )
    assert bool(config.html_theme_options["launch_buttons"]) == bool(url)
    assert [config.html_theme_options[button] for button in BUTTONS] == [bool(url)] * 3
    page = Template((ROOT / "book/_templates/404.html").read_text("utf8")).render(config.html_context)
    assert re.findall('https?://[^"]*', page) == ([site, f"{site}book/claims.html"] if site else [])
    assert ("!git clone" in config.myst_substitutions["online"]) == bool(url)


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="a copy without its history cannot be cloned")
def test_a_chapter_starts_after_the_cell(tmp_path):
    cell = list(colab_cell(ROOT.as_uri()))
    assert cell.pop(1) == '%pip install -e "book[chapters]"'
    notebook = json.loads((ROOT / "notebooks" / "idea.ipynb").read_text("utf8"))
    first = ["".join(each["source"]) for each in notebook["cells"] if each["cell_type"] == "code"][:4]
    command = [sys.executable, "-P", "-c", RUN, str(ROOT), "\n".join(cell), *first]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert str(tmp_path / "book" / "chapters") in done.stdout and str(tmp_path / "book" / "capcore") in done.stdout
