"""How findings are drawn: the table of claims, the counts by verdict and the links between pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from docutils import nodes
from sphinx.application import Sphinx

from chapters.claims.collection import Finding
from chapters.claims.criteria import digits
from chapters.claims.notation import pieces
from chapters.claims.registry import Check, Claim
from chapters.claims.verdicts import MARKS, VERDICTS

PAGE_KEY = "claims_table"
"""Key of a page's metadata: the prefixes that it lists, or ``-`` where it shows claims in another way."""

EVERYTHING = "*"
"""The prefix of a page that lists all claims."""

COLUMNS = {"What the source says": 42, "What was found": 42, "Chapter": 16}


class Page:
    """Draws findings for one page, with links relative to it."""

    def __init__(self, app: Sphinx, docname: str) -> None:
        self.builder, self.env, self.docname = app.builder, app.env, docname

    def link(self, text: str, docname: str | None, anchor: str = "", title: str = "") -> nodes.Node:
        """A link to an anchor of another page, or plain text where there is no such page."""
        if docname is None or self.builder.format != "html":
            return nodes.inline(text=text)
        uri = self.builder.get_relative_uri(self.docname, docname) if docname != self.docname else ""
        uri = f"{uri}#{anchor}" if anchor else uri
        attributes = {"reftitle": title} if title else {}
        return nodes.reference("", text, refuri=uri, internal=True, **attributes)

    def row_link(self, finding: Finding) -> nodes.Node:
        """A link to the claim's row on the page that lists it."""
        for name, metadata in self.env.metadata.items():
            if _lists(metadata, finding.claim.id):
                return self.link(finding.claim.id, name, finding.claim.slug, finding.verdict)
        return self.link(finding.claim.id, None)

    def notebook(self, claim: Claim) -> str | None:
        """The page made from the claim's notebook."""
        name = f"notebooks/{claim.notebook}"  # a page of the reference may have the same last name
        return name if claim.notebook and name in self.env.found_docs else None

    def table(self, prefix: str, findings: list[Finding]) -> nodes.Node:
        """One row per claim, with classes for the filter of ``claims.js``."""
        rows = [self.row(finding) for finding in findings]
        anchors = [f"claims-{each.lower()}" for each in dict.fromkeys(f.claim.id.split(".")[0] for f in findings)]
        table = _boxed(_table(COLUMNS, rows, "claims-table", "colwidths-given"), f"claims-{prefix.lower() or 'all'}")
        table["ids"] += [anchor for anchor in anchors if anchor not in table["ids"]]
        return table

    def row(self, finding: Finding) -> nodes.row:
        """The statement, its id and where; verdict, its sentence and, folded, numbers and criteria; the chapter."""
        claim, verdict = finding.claim, finding.verdict
        head = [_line(claim.claim), _line(f"{claim.id} · {claim.source}", "claims-where")]
        found = nodes.paragraph("", "", nodes.strong(text=f"{MARKS[verdict]} {verdict}"), classes=["claims-verdict"])
        found += [nodes.Text(". "), *_line(claim.sentence).children] if claim.sentence else []
        page = self.notebook(claim)
        anchor = claim.anchor if page and claim.checks and claim.checks[0].name in finding.values else ""
        title = self.env.titles[page].astext() if page else "–"
        tail = [_line(self.link(title, page, anchor, f"Evidence for {claim.id}"))]
        cells: list[list[nodes.Node]] = [head, [found, *_folded(finding)], tail]
        classes = [f"source-{claim.id.split('.')[0]}", f"verdict-{nodes.make_id(verdict)}", f"chapter-{claim.notebook}"]
        return nodes.row("", *(nodes.entry("", *cell) for cell in cells), ids=[claim.slug], classes=classes)

    def summary(self, findings: list[Finding]) -> nodes.Node:
        """Counts by verdict for each source, and links to its rows."""
        shown = [verdict for verdict in VERDICTS if any(finding.verdict == verdict for finding in findings)]
        groups: dict[str, list[Finding]] = {}
        for finding in findings:
            groups.setdefault(finding.claim.id.split(".")[0], []).append(finding)
        rows = [self.summary_row(prefix, group, shown) for prefix, group in groups.items()]
        counts = Counter(finding.verdict for finding in findings)
        heads = ["Source", *(f"{MARKS[verdict]} {verdict}" for verdict in shown), "all"]
        total = ["all", *(str(counts[verdict]) for verdict in shown), str(len(findings))]
        rows.append(nodes.row("", *(nodes.entry("", _line(text)) for text in total)))
        if self.builder.format == "html":
            for row in rows:
                _label(row, heads)
        return _boxed(_table(dict.fromkeys(heads, 10), rows, "claims-summary"), "claims-summary")

    def summary_row(self, prefix: str, group: list[Finding], shown: list[str]) -> nodes.row:
        """The counts of one source."""
        source = group[0].claim.source.split(",")[0]
        listing = (name for name, data in self.env.metadata.items() if _lists(data, prefix))
        counts = Counter(finding.verdict for finding in group)
        numbers = [*(str(counts[verdict]) for verdict in shown), str(len(group))]
        name = self.link(f"{source} ({prefix})", next(listing, None), f"claims-{prefix.lower()}")
        return nodes.row("", *(nodes.entry("", _line(cell)) for cell in (name, *numbers)))


def _lists(metadata: dict[str, str], name: str) -> bool:
    """Whether a page with this metadata lists the claims whose ids start like ``name``."""
    listed = metadata.get(PAGE_KEY, "-").split()
    return any(name.startswith(prefix) or prefix == EVERYTHING for prefix in listed if prefix != "-")


NODES = {
    "text": nodes.Text,
    "sup": lambda part: nodes.superscript(text=part),
    "sub": lambda part: nodes.subscript(text=part),
}


def _line(content: str | nodes.Node, *classes: str) -> nodes.paragraph:
    children = [NODES[kind](part) for kind, part in pieces(content)] if isinstance(content, str) else [content]
    return nodes.paragraph("", "", *children, classes=list(classes))


def _label(row: nodes.row, heads: list[str]) -> None:
    """Repeat the column's head in each cell; only screens too narrow for columns show it."""
    for entry, head in zip(row.children, heads, strict=True):
        entry.insert(0, nodes.paragraph("", "", nodes.Text(head), classes=["claims-label"]))


def _folded(finding: Finding) -> list[nodes.Node]:
    """Kind, checks and the first edition's verdict, folded away where the format can fold."""
    claim = finding.claim
    body: list[nodes.Node] = [_line(f"A claim of kind {claim.kind}, its sentence of the form {claim.form}.")]
    if claim.checks:
        items = [nodes.list_item("", _check_line(check, finding)) for check in claim.checks]
        body.append(nodes.bullet_list("", *items, classes=["claims-numbers"]))
    if claim.open:
        body.append(_line(f"The source leaves open: {claim.open}."))
    if claim.first_edition:
        why = claim.changed or "a new word for the same judgement"
        body.append(_line(f"First edition: {claim.first_edition}; {why}"))
    body += [_line(f"Third edition: {change}") for change in claim.history]
    return _details("numbers and criteria", body)


def _details(summary: str, body: Sequence[nodes.Node]) -> list[nodes.Node]:
    opening = nodes.raw("", f"<details><summary>{summary}</summary>", format="html")
    return [opening, *body, nodes.raw("", "</details>", format="html")]


def _check_line(check: Check, finding: Finding) -> nodes.paragraph:
    role = f" [{check.remark}]" if check.remark else ""
    compared = f"{check.statement} Criterion {check.test}: {check.why}"
    if check.name not in finding.values:
        return _line(f"– {check.quantity}: not recorded ({check.test}){role}. {compared}")
    mark = "✓" if finding.outcomes[check.name] else "✗"
    if check.role == "counterexample":
        mark = "found:" if finding.outcomes[check.name] else "none found:"
    found = digits(check.test.rounded(finding.values[check.name]))
    return _line(f"{mark} {check.quantity}: {found} ({check.test}){role}. {compared}")


def _table(columns: dict[str, int], rows: list[nodes.row], *classes: str) -> nodes.table:
    heads = nodes.row("", *(nodes.entry("", _line(column)) for column in columns))
    group = nodes.tgroup("", *(nodes.colspec(colwidth=width) for width in columns.values()), cols=len(columns))
    group += [nodes.thead("", heads), nodes.tbody("", *rows)]
    return nodes.table("", group, classes=[*classes, "longtable"])


def _boxed(table: nodes.table, anchor: str) -> nodes.container:
    return nodes.container("", table, ids=[anchor], classes=["claims-box"])
