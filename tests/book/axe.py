"""What axe-core finds on a page of the site, but for what is the theme's own."""

import json

from axe_playwright_python.base import AXE_SCRIPT

THEME = {"region": ".logo__image"}  # rule → what it is about: the logo above the contents stands in no landmark
CODE = ["pre", "dt.sig"]  # thousands of elements in a dozen colours, which are compared once, on a page of its own

# To compare the contrast of every element takes two thirds of the time of all rules.
MARK_EXAMPLES = """skipped => {
    // Of all texts with one colour, size and weight on one background, the first, the middle and the last are marked.
    // A text in a box that is placed over others, or in a drawing, is compared with those of the same box only.
    const behind = new Map(), groups = new Map();
    const ground = element => {
        if (!element) return "";
        if (!behind.has(element)) {
            const style = getComputedStyle(element);
            const painted = ["backgroundColor", "backgroundImage", "opacity", "filter", "mixBlendMode"];
            const own = painted.map(name => style[name]).join();
            const apart = !["static", "relative"].includes(style.position) || element.matches("svg");
            const plain = own === "rgba(0, 0, 0, 0),none,1,none,normal" && !apart;
            const above = ground(element.parentElement);
            behind.set(element, plain ? above : [above, own, apart ? behind.size : ""].join("/"));
        }
        return behind.get(element);
    };
    for (const element of document.body.querySelectorAll("*")) {
        const says = [...element.childNodes].some(node => node.nodeType === 3 && node.data.trim());
        const field = element.matches("input, select, textarea");
        if (!(says || field) || element.closest(skipped)) continue;
        if (!element.checkVisibility({ visibilityProperty: true })) continue;
        const { color, fontSize, fontWeight, textShadow } = getComputedStyle(element);
        const key = [ground(element), color, fontSize, fontWeight, textShadow, field].join(";");
        if (!groups.has(key)) groups.set(key, []);
        groups.get(key).push(element);
    }
    for (const each of document.querySelectorAll("[data-example]")) each.removeAttribute("data-example");
    for (const alike of groups.values()) {
        for (const at of [0, alike.length >> 1, alike.length - 1]) alike[at].dataset.example = "";
    }
    return groups.size;
}"""


def violations(page, *, whole=False, rules=()):
    """What is wrong, a line each. ``whole``: for code as well, and the contrast of every element, not of examples.

    ``rules``: these alone.
    """
    if not page.evaluate("!!window.axe"):
        page.evaluate(AXE_SCRIPT)
    assert whole or page.evaluate(MARK_EXAMPLES, ", ".join(CODE)), "the page has a text to compare"
    compared = {"id": "color-contrast", "selector": "*" if whole else "[data-example]"}
    page.evaluate("rule => axe.configure({ rules: [rule] })", compared)
    options = {"preload": False, "resultTypes": ["violations"]}  # nothing is asked of a host
    if rules:
        options["runOnly"] = list(rules)
    context = {"include": [["html"]], "exclude": [] if whole else [[selector] for selector in CODE]}
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
