// Wide formulas, tables and code scroll inside their own box. Each box that does so says on which side there is more
// (custom.css fades that edge), can be reached with the keyboard, and has a name for screen readers.
(() => {
  const names = {
    "mjx-container[display='true']": "",
    ".pst-scrollable-table-container, .capcore-wide, .text_html:not(:has(> .capcore-claim, > .capcore-wide))": "Wide table, scrolls sideways",
    "div.highlight > pre": "Code, scrolls sideways",
  };

  function mark(box) {
    const left = box.scrollLeft;
    const right = box.scrollWidth - box.clientWidth - left;
    box.classList.toggle("more-left", left > 2);
    box.classList.toggle("more-right", right > 2);
  }

  function watch(box, name) {
    const scrolls = box.scrollWidth > box.clientWidth + 1;
    if (scrolls) {
      box.tabIndex = 0;
      if (name) {
        box.setAttribute("role", "group");
        box.setAttribute("aria-label", name);
      }
    }
    mark(box);
  }

  function start() {
    const sizes = new ResizeObserver((changed) => changed.forEach(({ target }) => watch(target, target.dataset.scrolls)));
    for (const [boxes, name] of Object.entries(names)) {
      for (const box of document.querySelectorAll(`.bd-content :is(${boxes})`)) {
        box.dataset.scrolls = name;
        box.addEventListener("scroll", () => mark(box), { passive: true });
        sizes.observe(box);
      }
    }
  }

  // A link into a folded part opens it.
  function unfold() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const folded = target && target.closest("details:not([open])");
    if (folded) {
      folded.open = true;
      target.scrollIntoView();
    }
  }
  window.addEventListener("hashchange", unfold);

  window.addEventListener("load", () => {
    unfold();
    const formulas = window.MathJax && window.MathJax.startup && window.MathJax.startup.promise;
    Promise.resolve(formulas).then(start);
  });
})();
