"""What axe-core finds on a page of the site, but for what is the theme's own."""

import json

from axe_playwright_python.base import AXE_SCRIPT

THEME = {"region": ".logo__image"}  # rule → what it is about: the logo above the contents stands in no landmark
CODE = ["pre", "dt.sig"]  # thousands of elements in a dozen colours, which are compared once, on a page of its own


def violations(page, *, code=False, contrast=True, rules=()):
    """What is wrong, a line each; ``rules`` alone where given. Contrast, and that of ``code``, can be left out."""
    if not page.evaluate("!!window.axe"):
        page.evaluate(AXE_SCRIPT)
    options = {"preload": False, "resultTypes": ["violations"]}  # nothing is asked of a host
    if not contrast:
        options["rules"] = {"color-contrast": {"enabled": False}}
    if rules:
        options["runOnly"] = list(rules)
    context = {"include": [["html"]], "exclude": [] if code else [[selector] for selector in CODE]}
    found = page.evaluate("([context, options]) => axe.run(context, options)", [context, options])
    return [
        f"{violation['id']}: {json.dumps(node['target'])} {node['html'][:200]} {node['failureSummary']}"
        for violation in found["violations"]
        for node in violation["nodes"]
        if THEME.get(violation["id"], "no class") not in f".{' .'.join(classes(node['html']))}"
    ]


def classes(html):
    """The classes of an element."""
    return html.partition('class="')[2].partition('"')[0].split()
