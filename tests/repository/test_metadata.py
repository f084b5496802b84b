"""Workflows, citation and hooks agree with one another; the hooks of ``.pre-commit-config.yaml`` see to their form."""

import json
import re
import tomllib
import zipfile

import pytest
import yaml

import capcore
from scripts import check_versions, release_sites

VERSION = capcore.__version__


def test_a_workflow_runs_what_ci_runs_and_publishes_the_site(root):
    jobs = yaml.safe_load((root / ".github/workflows/ci.yml").read_text())["jobs"]
    script = (root / ".ci" / "run").read_text()
    parts = [("checks", "checks", "make check"), ("test", "tests", "make test"), ("site", "site", "make book")]
    for job, part, first in parts:
        assert f"bash .ci/run {part}" in [step.get("run") for step in jobs[job]["steps"]] and first in script
    (upload,) = (step for step in jobs["site"]["steps"] if "upload-pages-artifact" in step.get("uses", ""))
    assert upload["with"]["path"] == "_build/html"
    assert jobs["deploy"]["needs"] == ["checks", "package", "test", "site"]


def test_all_tests_of_the_site_are_where_ci_looks_for_them(root):
    """A test marked so elsewhere would run nowhere."""
    (folder,) = re.findall(r'MARKERS="site and not slow" .*ARGS=(\S+)', (root / ".ci" / "run").read_text())
    tests = [path for part in ("tests", "capcore", "chapters") for path in (root / part).rglob("*.py")]
    marked = [path for path in tests if re.search(r"\bmark\.(site|browser)\b", path.read_text("utf8"))]
    assert marked and [path for path in marked if not path.is_relative_to(root / folder)] == []


@pytest.mark.parametrize("name", ["CITATION.cff", ".zenodo.json", "CHANGELOG.md"])
def test_another_version_than_the_projects_is_reported(name, root, tmp_path, capsys):
    for each in ("pyproject.toml", "CITATION.cff", ".zenodo.json", "CHANGELOG.md"):
        text = (root / each).read_text("utf8")
        (tmp_path / each).write_text(text.replace(VERSION, "9.9.9", 1) if each == name else text, "utf8")
    assert check_versions.main([], tmp_path) == 1 and capsys.readouterr().out.startswith(name)
    assert check_versions.main(["--tag", "v" + VERSION], root) == 0
    assert check_versions.main(["--tag", "v9.9.9"], root) == 1


def test_sites_of_releases_are_laid_beside_the_newest(tmp_path, capsys):
    """Those that have one; the newest is marked as the one that banners point to."""
    site = tmp_path / "_build/html"
    site.mkdir(parents=True)
    assets = {"v0.2.0": [release_sites.ASSET], "v0.1.1": [], "v0.1.0": [release_sites.ASSET, "wheel"]}

    def run(*arguments):
        _, what, *rest = arguments
        if what == "list":
            return json.dumps([{"tagName": tag} for tag in assets])
        if what == "view":
            return json.dumps({"assets": [{"name": name} for name in assets[rest[0]]]})
        with zipfile.ZipFile(site / release_sites.ASSET, "w") as archive:
            archive.writestr("index.html", f"site of {rest[0]}")
        return ""

    (tmp_path / "_config.yml").write_text('sphinx: {config: {ogp_site_url: ""}}')
    assert release_sites.main(tmp_path, run) == 0 and [*site.iterdir()] == []
    (tmp_path / "_config.yml").write_text("sphinx: {config: {ogp_site_url: https://example.org/}}")
    assert release_sites.main(tmp_path, run) == 0 and "v0.2.0\nv0.1.0" in capsys.readouterr().out
    assert {path.name for path in site.iterdir()} == {"v0.2.0", "v0.1.0", "versions.json"}
    assert (site / "v0.1.0/index.html").read_text() == "site of v0.1.0"
    newest, older = json.loads((site / "versions.json").read_text())
    assert newest == {"version": "0.2.0", "url": "https://example.org/", "preferred": True}
    assert older == {"version": "0.1.0", "url": "https://example.org/v0.1.0/", "preferred": False}


def test_every_hook_is_a_tool_of_the_lock_and_all_of_them_run(root):
    """So no version stands twice, and no hook is fetched from elsewhere."""
    config = yaml.safe_load((root / ".pre-commit-config.yaml").read_text())
    hooks = [hook for repository in config["repos"] for hook in repository["hooks"]]
    assert {repository["repo"] for repository in config["repos"]} == {"local"}
    assert all(hook["entry"].startswith(".venv/bin/") for hook in hooks if hook["language"] == "system")
    assert {hook["language"] for hook in hooks} == {"system", "pygrep"}
    assert "make check" in (root / ".ci" / "run").read_text()


def test_the_repository_has_one_address(root):
    """Where it has one: until then nothing names any."""
    configured = yaml.safe_load((root / "_config.yml").read_text())["repository"]["url"]
    assert yaml.safe_load((root / "CITATION.cff").read_text()).get("repository-code", "") == configured
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    assert project.get("urls", {}).get("Repository", "") == configured
    for page in [*(root / "book").rglob("*.md"), root / "README.md", root / "CONTRIBUTING.md"]:
        assert (configured or "git+") not in page.read_text(), f"{page.name}: write {{{{ install }}}} in its place"
