"""Sphinx extension: pages that name the repository take its address from ``_config.yml``.

The substitution ``install`` is the command that installs the package, and ``colab_install`` the cell that also fetches
the book.
"""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config


def define_substitutions(app: Sphinx, config: Config) -> None:
    """Define the substitutions from the theme's ``repository_url``."""
    url = config.html_theme_options["repository_url"]
    config.myst_substitutions["repository"] = url
    config.myst_substitutions["install"] = f'```console\npip install "capcore @ git+{url}"\n```'
    config.myst_substitutions["colab_install"] = "\n".join(("```text", *colab_cell(url), "```"))


def colab_cell(url: str) -> tuple[str, ...]:
    """Lines of the cell. A kernel that runs already does not see what was installed in place: so the last one."""
    return (
        f"!git clone --depth 1 {url} book",
        '%pip install -e "book[autodiff,spectra,sweep]"',
        "%cd book/notebooks",
        'import sys; sys.path.insert(0, "..")',
    )


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the handler."""
    app.connect("config-inited", define_substitutions)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
