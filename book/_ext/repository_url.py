"""Sphinx extension: buttons, and pages that name the repository, take its address from ``_config.yml``.

The substitution ``install`` is the command that installs the package, with what its pictures and tables need, and
``online`` how to read it without installing anything. Without an address, the package is installed from the folder, and
there are no buttons. The page that stands for missing ones links to ``ogp_site_url``, if there is one.
"""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config

BUTTONS = ("use_repository_button", "use_edit_page_button", "use_issues_button")


def define_substitutions(app: Sphinx, config: Config) -> None:
    """Define the substitutions, and the buttons, from the theme's ``repository_url``."""
    options = config.html_theme_options
    url = options.get("repository_url", "")
    options.update(dict.fromkeys(BUTTONS, bool(url)))
    command = f'```console\npip install "capcore[plot,series] @ git+{url}"\n```'
    online = [
        "The rocket at the top of each chapter opens it on Binder, in an environment built from `environment.yml`. On",
        "Colab a first cell fetches the book and installs the package:",
        *("", "```text", *colab_cell(url), "```"),
    ]
    if not url:
        options["launch_buttons"] = {}
        command = 'In the folder of this book:\n\n```console\npip install ".[plot,series]"\n```'
        online = ["Once the book has a public address, buttons at the top of each chapter open it on Binder and Colab."]
    config.html_context["site"] = config.ogp_site_url
    config.myst_substitutions.update(repository=url, install=command, online="\n".join(online))


def colab_cell(url: str) -> tuple[str, ...]:
    """Lines of the cell. A kernel that runs already does not see what was installed in place: so the last one."""
    return (
        f"!git clone --depth 1 {url} book",
        '%pip install -e "book[chapters]"',
        "%cd book/notebooks",
        'import sys; sys.path.insert(0, "..")',
    )


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the handler."""
    app.connect("config-inited", define_substitutions)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
