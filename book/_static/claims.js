// The claims page: filters by source, verdict and chapter, and a search, above the table. Without it the table is whole.
const KINDS = { source: "all sources", verdict: "all verdicts", chapter: "all chapters" };
const SOURCES = { P1: "paper 1", P2: "paper 2", P3: "paper 3", S4: "slides", N2: "note" };

function valueOf(row, kind) {
  const found = [...row.classList].find((name) => name.startsWith(`${kind}-`));
  return found ? found.slice(kind.length + 1) : "";
}

function labelOf(row, kind, value) {
  if (kind === "source") return SOURCES[value] || value;
  if (kind === "verdict") return row.querySelector(".claims-verdict strong").textContent;
  return row.lastElementChild.textContent.trim();
}

function addFilters(table) {
  const rows = [...table.tBodies[0].rows];
  const bar = document.createElement("form");
  bar.className = "claims-filter";
  bar.setAttribute("role", "search");
  const selects = Object.entries(KINDS).map(([kind, all]) => {
    const select = document.createElement("select");
    select.setAttribute("aria-label", all);
    select.add(new Option(all, ""));
    const seen = new Set();
    for (const row of rows) {
      const value = valueOf(row, kind);
      if (value && !seen.has(value)) {
        seen.add(value);
        select.add(new Option(labelOf(row, kind, value), value));
      }
    }
    bar.append(select);
    return [kind, select];
  });
  const search = Object.assign(document.createElement("input"), { type: "search", placeholder: "search the claims" });
  search.setAttribute("aria-label", "search the claims");
  const count = document.createElement("output");
  bar.append(search, count);
  const apply = () => {
    const words = search.value.toLowerCase().match(/\S+( \d\S*)*/g) ?? []; // "Figure 5" is one word
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase().replace(/\s+/g, " ");
      row.hidden = selects.some(([kind, select]) => select.value && valueOf(row, kind) !== select.value)
        || words.some((word) => !text.includes(word));
      shown += !row.hidden;
    }
    count.textContent = `${shown} of ${rows.length} claims`;
  };
  bar.addEventListener("input", apply);
  bar.addEventListener("submit", (event) => event.preventDefault());
  table.closest(".claims-box").before(bar);
  const openTarget = () => {
    const source = location.hash.match(/^#claims-(\w+)$/);
    if (source) {
      bar.reset();
      selects[0][1].value = source[1].toUpperCase();
      apply();
    }
    const row = rows.find((each) => each.id && `#${each.id}` === location.hash);
    if (row) {
      bar.reset();
      apply();
      row.scrollIntoView();
    }
  };
  addEventListener("hashchange", openTarget);
  apply();
  openTarget();
}

document.querySelectorAll("table.claims-table").forEach(addFilters);
