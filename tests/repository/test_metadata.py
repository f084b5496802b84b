"""Workflows, citation and licences are valid and agree with one another."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

WORKFLOWS = sorted((Path(__file__).resolve().parents[2] / ".github" / "workflows").glob("*.yml"))


def run(root, *command):
    done = subprocess.run(
        [Path(sys.executable).with_name(command[0]), *command[1:]], cwd=root, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflow_is_valid(root, path):
    run(root, "check-jsonschema", "--builtin-schema", "vendor.github-workflows", str(path))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflow_is_secure(root, path):
    run(root, "zizmor", "--offline", "--pedantic", "--no-progress", str(path))


def test_a_workflow_runs_what_ci_runs_and_publishes_the_site(root):
    jobs = yaml.safe_load((root / ".github/workflows/ci.yml").read_text())["jobs"]
    script = (root / ".ci" / "run").read_text()
    for job, part, first in (("test", "tests", "make test"), ("site", "site", "make book")):
        assert f"bash .ci/run {part}" in [step.get("run") for step in jobs[job]["steps"]] and first in script
    (upload,) = (step for step in jobs["site"]["steps"] if "upload-pages-artifact" in step.get("uses", ""))
    assert upload["with"]["path"] == "_build/html"
    assert jobs["deploy"]["needs"] == ["test", "site"]


def test_citation_is_valid(root):
    run(root, "check-jsonschema", "--builtin-schema", "vendor.citation-file-format", "CITATION.cff")


def test_citation_agrees_with_the_project(root):
    citation = yaml.safe_load((root / "CITATION.cff").read_text())
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    assert citation["version"] == project["version"]
    assert citation["license"] == project["license"]
    assert [author["name"] for author in citation["authors"]] == [author["name"] for author in project["authors"]]
    assert [reference["title"][:19] for reference in citation["references"]] == [
        "Capacity allocation",
        "Scaling up deep neu",
        "Universality and ca",
    ]


def test_the_repository_has_one_address(root):
    configured = yaml.safe_load((root / "_config.yml").read_text())["repository"]["url"]
    assert yaml.safe_load((root / "CITATION.cff").read_text())["repository-code"] == configured
    assert tomllib.loads((root / "pyproject.toml").read_text())["project"]["urls"]["Repository"] == configured
    for page in [*(root / "book").rglob("*.md"), root / "README.md", root / "CONTRIBUTING.md"]:
        assert configured not in page.read_text(), f"{page.name}: write {{{{ repository }}}} instead of the address"


def test_licences(root):
    assert "Redistributions in binary form must reproduce" in (root / "LICENSE").read_text()
    text = (root / "LICENSE-TEXT").read_text()
    assert "Creative Commons Attribution 4.0 International" in re.sub(r"\s+", " ", text)
    assert "Section 8 -- Interpretation" in text


def test_changelog_has_the_version(root):
    version = tomllib.loads((root / "pyproject.toml").read_text())["project"]["version"]
    assert f"## {version}" in (root / "CHANGELOG.md").read_text()
