"""Sphinx extension: buttons, install lines and pages that name the repository take addresses from ``_config.yml``.

The substitution ``install`` is the command that installs the package, with what its pictures and tables need, and
``online`` how to read it without installing anything. A published site offers its own wheel. Without any address, the
package is installed from the folder, and there are no buttons. The page that stands for missing ones links to
``ogp_site_url``, if there is one.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config

BUTTONS = ("use_repository_button", "use_edit_page_button", "use_issues_button")


def define_substitutions(app: Sphinx, config: Config) -> None:
    """Define the substitutions, and the buttons, from the theme's ``repository_url``."""
    options = config.html_theme_options
    url = options.get("repository_url", "")
    options.update(dict.fromkeys(BUTTONS, bool(url)))
    site = config.ogp_site_url
    online = [
        "The rocket at the top of each chapter opens it on Binder, in an environment built from `environment.yml`. On",
        "Colab a first cell fetches the book and installs the package:",
        *("", "```text", *colab_cell(url), "```"),
    ]
    if site or url:
        place = f"{site}{wheel(app.srcdir)}" if site else f"git+{url}"
        command = f'```console\npip install "capcore[plot,series] @ {place}"\n```'
    else:
        command = 'In the folder of this book:\n\n```console\npip install ".[plot,series]"\n```'
    if not url:
        options["launch_buttons"] = {}
        online = ["Once the book has a public address, buttons at the top of each chapter open it on Binder and Colab."]
    config.html_context["site"] = site
    config.myst_substitutions.update(repository=url, install=command, online="\n".join(online))


def wheel(root: str | Path) -> str:
    """Place of the package's wheel in the site.

    >>> wheel(Path(__file__).parents[2]).startswith("_static/wheel/capcore-")
    True
    """
    project = tomllib.loads(Path(root, "pyproject.toml").read_text("utf8"))["project"]
    return f"_static/wheel/{project['name']}-{project['version']}-py3-none-any.whl"


def build_wheel(app: Sphinx, error: Exception | None) -> None:
    """Build it into the site."""
    if error is None and app.builder.name == "html":
        folder = Path(app.outdir, wheel(app.srcdir)).parent
        command = [sys.executable, "-P", "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
        subprocess.run(command, cwd=app.srcdir, check=True, capture_output=True)


def colab_cell(url: str) -> tuple[str, ...]:
    """Lines of the cell. A kernel that runs already does not see what was installed in place: so the last one."""
    return (
        f"!git clone --depth 1 {url} book",
        '%pip install -e "book[chapters]"',
        "%cd book/notebooks",
        'import sys; sys.path.insert(0, "..")',
    )


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the handlers."""
    app.connect("config-inited", define_substitutions)
    app.connect("build-finished", build_wheel)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
