"""Sphinx directives that show the registry of claims with the numbers found in this very build.

``{claims-table}`` lists the claims, or with an argument those whose id starts with it; ``{claims-summary}`` counts
the verdicts, ``{claims-settings}`` and ``{claims-forms}`` list the registry's common settings and criteria; the role
``{claim}`P1.02` `` links to a row from any page.
Numbers come from the notebooks as MyST-NB executed them, read once all pages are read, so that the order of pages does
not matter. A verdict that differs from the committed one is a warning.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from claims_page import EVERYTHING, PAGE_KEY, Page  # type: ignore[import-not-found]  # a neighbour in this folder
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole

from chapters.claims.collection import Finding, collect
from chapters.claims.criteria import ClaimsError
from chapters.claims.registry import Registry, load

logger = logging.getLogger(__name__)


class ClaimsTable(nodes.General, nodes.Element):
    """Stands for the rows of one prefix until all notebooks have run."""


class ClaimsSummary(nodes.General, nodes.Element):
    """Stands for the counts by verdict until all notebooks have run."""


class ClaimReference(nodes.Inline, nodes.TextElement):
    """Stands for a link to a row until the page that holds it is known."""


def registry_of(env: BuildEnvironment) -> Registry:
    """The registry that the configuration value ``claims_registry`` names, relative to the source folder."""
    return load(Path(env.srcdir) / env.config.claims_registry)


class ClaimsDirective(SphinxDirective):
    """What the directives share: they depend on the registry and are resolved late."""

    def note_page(self, prefix: str = "") -> Registry:
        """The registry, after noting that this page shows it."""
        registry = registry_of(self.env)
        self.env.note_dependency(str(registry.path))
        metadata = self.env.metadata[self.env.docname]
        metadata[PAGE_KEY] = f"{metadata.get(PAGE_KEY, '')} {prefix}".strip() or "-"
        return registry


class ClaimsTableDirective(ClaimsDirective):
    """``{claims-table}`` or ``{claims-table} PREFIX``."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        """A placeholder for the rows."""
        prefix = "".join(self.arguments)
        if not any(claim.id.startswith(prefix) for claim in self.note_page(prefix or EVERYTHING)):
            raise self.error(f"claims-table: found no claim whose id starts with {prefix!r}.")
        return [ClaimsTable(prefix=prefix)]


class ClaimsSummaryDirective(ClaimsDirective):
    """``{claims-summary}``."""

    def run(self) -> list[nodes.Node]:
        """A placeholder for the counts."""
        self.note_page()
        return [ClaimsSummary()]


class ClaimsSettingsDirective(ClaimsDirective):
    """``{claims-settings}``."""

    def run(self) -> list[nodes.Node]:
        """The list."""
        items = [nodes.list_item("", nodes.paragraph(text=setting)) for setting in self.note_page().settings]
        return [nodes.bullet_list("", *items)]


class ClaimsFormsDirective(ClaimsDirective):
    """``{claims-forms}``."""

    def run(self) -> list[nodes.Node]:
        """The list."""
        forms = self.note_page().forms
        lines = [nodes.paragraph("", f": {form.criterion}") for form in forms]
        for form, line in zip(forms, lines, strict=True):
            line.insert(0, nodes.strong(text=form.name))
        return [nodes.bullet_list("", *(nodes.list_item("", line) for line in lines))]


class ClaimRole(SphinxRole):
    """``{claim}`P1.02` ``."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """A placeholder for the link, or a warning for an unknown claim."""
        try:
            claim = registry_of(self.env)[self.text.strip()]
        except ClaimsError as error:
            message = self.inliner.reporter.warning(str(error), line=self.lineno)
            return [self.inliner.problematic(self.rawtext, self.rawtext, message)], [message]
        self.env.metadata[self.env.docname].setdefault(PAGE_KEY, "-")
        return [ClaimReference("", claim.id, claim=claim.id)], []


class Site:
    """The findings of one build, collected after all pages are read, and the nodes drawn from them."""

    findings: dict[str, Finding]

    def gather(self, app: Sphinx, env: BuildEnvironment) -> list[str]:
        """Collect the evidence, warn where it disagrees with the registry, and have every such page written anew."""
        pages = [name for name in env.found_docs if PAGE_KEY in env.metadata.get(name, {})]
        if not pages:
            return []
        registry = registry_of(env)
        folder = Path(getattr(getattr(env, "mystnb_config", None), "output_folder", "") or app.outdir)
        executed = sorted(folder / f"{name}.ipynb" for name in env.found_docs)
        try:
            self.findings = collect([path for path in executed if path.is_file()], registry)
        except ClaimsError as error:
            logger.warning("claims: %s", error, location=pages[0], type="claims", subtype="evidence")
            self.findings = collect([], registry)
            return pages
        for finding in self.findings.values():
            if finding.changed:
                logger.warning(
                    "claims: %s is '%s' in this build, '%s' in %s%s; if that is right, run the notebooks and then "
                    "python -m chapters claims collect --write",
                    *(finding.claim.id, finding.verdict, finding.claim.verdict, registry.path.name),
                    f" (missing: {', '.join(finding.missing)})" if finding.missing else "",
                    location=pages[0],
                    type="claims",
                    subtype="verdict",
                )
        return pages

    def resolve(self, app: Sphinx, doctree: nodes.document, docname: str) -> None:
        """Replace the placeholders of one page."""
        page = Page(app, docname)
        for node in list(doctree.findall(ClaimsTable)):
            prefix = node["prefix"]
            findings = [finding for finding in self.findings.values() if finding.claim.id.startswith(prefix)]
            node.replace_self(page.table(prefix, findings))
        for node in list(doctree.findall(ClaimsSummary)):
            node.replace_self(page.summary(list(self.findings.values())))
        for node in list(doctree.findall(ClaimReference)):
            node.replace_self(page.row_link(self.findings[node["claim"]]))


def add_stylesheet(app: Sphinx, config: Any) -> None:
    """Serve ``_static/claims.css``, which stands beside this extension's folder, unless the site already does."""
    folder = Path(__file__).resolve().parent.parent / "_static"
    if all((Path(app.confdir) / entry).resolve() != folder for entry in config.html_static_path):
        config.html_static_path.append(str(folder))


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    site = Site()
    app.add_config_value("claims_registry", "book/claims.yml", "env")
    for node in (ClaimsTable, ClaimsSummary, ClaimReference):
        app.add_node(node)
    app.add_directive("claims-table", ClaimsTableDirective)
    app.add_directive("claims-summary", ClaimsSummaryDirective)
    app.add_directive("claims-settings", ClaimsSettingsDirective)
    app.add_directive("claims-forms", ClaimsFormsDirective)
    app.add_role("claim", ClaimRole())
    app.add_css_file("claims.css")
    app.add_js_file("claims.js", loading_method="defer")
    app.connect("config-inited", add_stylesheet)
    app.connect("env-updated", site.gather)
    app.connect("doctree-resolved", site.resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
