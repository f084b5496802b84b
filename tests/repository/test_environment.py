"""pyproject.toml, requirements.lock and environment.yml agree, and the lock names no host."""

import ast
import os
import re
import sys
import tomllib

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from capcore.checks.names import EXTRAS


@pytest.fixture(scope="module")
def settings(root):
    return tomllib.loads((root / "pyproject.toml").read_text())


@pytest.fixture(scope="module")
def project(settings):
    return settings["project"]


def requirements(groups, name):
    """What a dependency group lists, and the groups that it includes."""
    for entry in groups[name]:
        yield from requirements(groups, entry["include-group"]) if isinstance(entry, dict) else [entry]


@pytest.fixture(scope="module")
def locked(root):
    """Name → the versions that the lock allows on some platform."""
    versions = {}
    for line in re.findall(r"^\w.*", (root / "requirements.lock").read_text(), re.MULTILINE):
        requirement = Requirement(line.rstrip(" \\"))
        versions.setdefault(requirement.name, []).append(str(requirement.specifier).removeprefix("=="))
    return versions


def test_lock_is_pinned_and_names_no_host(root, locked):
    text = (root / "requirements.lock").read_text()
    assert not re.search(r"https?:|--(extra-)?index-url|--find-links|file:", text)
    assert all(re.fullmatch(r"[\w.+!]+", version) for versions in locked.values() for version in versions)


def test_every_file_that_is_installed_has_a_hash(root):
    entries = re.split(r"^(?=\w)", (root / "requirements.lock").read_text(), flags=re.MULTILINE)[1:]
    assert all(re.fullmatch(r"[^\n]* \\\n( +--hash=sha256:[0-9a-f]{64}( \\)?\n)+", entry) for entry in entries)
    assert {"uv", "hatchling", "editables"} <= {entry.split("==")[0] for entry in entries}  # what installs the others


def extra(project, name):
    """Name → what is required of it, of all that an extra lists itself and through other extras."""
    found = {}
    for one in map(Requirement, project["optional-dependencies"][name]):
        for other in one.extras if one.name == project["name"] else ():
            found |= extra(project, other)
        found |= {} if one.extras else {one.name: str(one)}
    return found


def test_extras_hold_what_refusals_name(project):
    of_users = {"plot", "series", "jax", "torch", "files"}
    assert set(project["optional-dependencies"]) == {*of_users, "all", "chapters"}
    of_each = {library: name for name in of_users for library in extra(project, name)}
    assert of_each == EXTRAS and set(extra(project, "all")) == set(EXTRAS)


def test_the_package_needs_what_it_imports_at_once(root, project):
    """Those of extras are imported within functions, or in modules that nothing imports at once."""
    trees = (ast.parse(path.read_text("utf8")) for path in (root / "capcore").rglob("*.py"))
    lines = [node for tree in trees for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {getattr(node, "module", None) or node.names[0].name for node in lines}
    needed = {name.split(".")[0] for name in names} - {*sys.stdlib_module_names, *EXTRAS, "capcore"}
    assert needed == {Requirement(line).name.replace("-", "_") for line in project["dependencies"]}


def test_lock_satisfies_the_project(root, settings, project, locked):
    resolved = dict(re.findall(r"--(extra|group) (\w+)", (root / "Makefile").read_text()))
    assert resolved["extra"] == "chapters", "the lock rule of the Makefile names the extra it resolves"
    wanted = [*project["dependencies"], *extra(project, resolved["extra"]).values()]
    wanted += requirements(settings["dependency-groups"], resolved["group"])
    for requirement in map(Requirement, wanted):
        assert requirement.name in locked, f"{requirement.name}: not in requirements.lock, run make lock"
        for version in locked[requirement.name]:
            assert version in requirement.specifier, f"{requirement}: locked at {version}, run make lock"


def test_conda_environment_follows_the_lock(root, project):
    environment = yaml.safe_load((root / "environment.yml").read_text())
    assert environment["name"] == project["name"]
    *conda, pip = environment["dependencies"]
    assert pip == {"pip": ["-r requirements.lock"]}
    assert "pip" in conda
    (python,) = (entry.split("=")[1] for entry in conda if entry.startswith("python="))
    assert f"{python}.0" in SpecifierSet(project["requires-python"])


def test_the_package_itself_has_no_hash_and_is_installed_afterwards(root):
    """pip refuses a folder beside requirements with hashes."""
    install = "pip install --no-deps --no-build-isolation -e ."
    assert os.access(root / "postBuild", os.X_OK) and f"python -P -m {install}\n" in (root / "postBuild").read_text()
    assert f"\n$ {install}\n" in (root / "book" / "reproduce.md").read_text()
