// The shell of all explorers: controls, state in the address, readout, table, redrawing. A kind of explorer is one file,
// <kind>.js, loaded after d3, Plot and this file on pages that have it (book/_ext/explorer.py), and calls
//
//   CapExplorer.register("kind", {
//     controls({data, state, few}) → [{name, label, type: "range", min, max, step = 1, value, backwards, format}
//                               | {name, label, type: "select", options: [[value, text], …], value}
//                               | {name, label, type: "checkbox", value: true | false}]
//       Asked again after each change: limits and options may depend on the state, which is {} the first time; a value
//       that no longer fits moves to the nearest end or the default. All state is in controls, so all of it can be
//       reached by keyboard. Keep their number; `disabled: true` greys one out. `backwards`: the slider's least value is
//       at the right, as on a lag axis. `format(value)` → text beside the slider and for screen readers.
//     draw({data, state, width, dark, few, set, Plot, d3, colours}) → {figure, label, readout, table, values}
//       figure: an SVG or HTML element, `width` wide (about 330 on a phone); its height may depend on the width only.
//       label: the picture in words, for readers. readout: text or a node, two or three lines; leave out what a slider
//       says. table: {head: [text, …], rows: [[text or number, …], …]}, the numbers shown, folded below.
//       values: {name: number, text or list}, those numbers unrounded, as tests compare them: element.capValues.
//     point({phase, x, y, figure, data, state, set})          (optional)
//       The pointer on the figure: phase is "hover", "down", "drag", "up" or "leave"; x, y in the figure's own units,
//       for figure.scale("x").invert(x). The figure is replaced at each drawing; the pointer stays captured.
//     about: "how to read it, where the caption does not say so", folded with the table; or few → such a text (optional)
//     drag: true                                              (optional) a finger drags instead of scrolling the page
//   });
//
// set(name, value), set({name: value, …}): changes the state and draws once, in the next frame; element.capState is the
//   state that is shown, so a test waits for it. Data are what chapters.kit.explorer.explorer was given.
// colours: CSS values, from palette.css and explorer.css, light and dark: layer(i, n) for the i-th of n ordered things,
//   i = 1 … n, light to dark; series(i), i = 0 … 6, as the book's figures; text, muted, grid,
//   fill, accent, surface.
//   They are var(--…): give them to Plot as constants or with fill: "key" and color: {type: "identity"}, and computed in
//   the data; switching the theme then needs no drawing, but `dark` is there, and a switch draws again.
// Height: .cap-explorer[data-kind="<kind>"] in explorer.css sets --cap-height, and --cap-height-narrow for less than 560
//   pixels, to what the live explorer needs with the table folded; the picture stands in the same box, so that nothing
//   below moves. test_explorers_in_browser.py fails when they are too small.
// few: true where the page shows only some of the controls (data-controls, the names that chapters.kit.explorer was given).
//   Its reader has not read the chapter: draw and say only what she can understand. The others keep their defaults.
// CapExplorer.compose(width, height, [[svg, left, top], …]) → one SVG of several plots, for figures of more than one.
// Plot: give `width`, `marginLeft` and so on; text is 12 pixels, in the page's font. aria-labels on <g> are taken out
//   here, and the figure is role="img" with the label. The address is #<name>?key=value&…, only what differs from the
//   defaults; wrong values are the defaults. Nothing is animated. If drawing fails at first, the picture stays.
"use strict";
const CapExplorer = (() => {
  const SERIES = 7, LAYERS = 8;
  const css = (name) => `var(--cap-${name})`;
  const colours = {
    layer: (i, n) => css(`layer-${n > 1 ? 1 + Math.round(((i - 1) * (LAYERS - 1)) / (n - 1)) : LAYERS / 2}`),
    series: (i) => css(`series-${1 + (i % SERIES)}`),
    ...Object.fromEntries(["text", "muted", "grid", "fill", "accent", "surface"].map((name) => [name, css(name)])),
  };

  function element(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value !== false && value != null) made.setAttribute(name, value === true ? "" : value);
    }
    made.append(...children);
    return made;
  }

  // The value of a control that a text in the address means; undefined if none.
  function read(control, text) {
    if (control.type === "checkbox") return { 1: true, 0: false }[text];
    if (control.type === "select") return control.options.map(([value]) => value).find((each) => String(each) === text);
    const { min, max, step = 1 } = control, value = text.trim() === "" ? NaN : Number(text);
    const steps = (value - min) / step;
    return value >= min && value <= max && Math.abs(steps - Math.round(steps)) < 1e-6 ? value : undefined;
  }

  function fitting(control, value) {
    if (value === undefined) return control.value;
    if (control.type === "range") {
      const { min, max, step = 1 } = control;
      if (!Number.isFinite(value)) return control.value;
      const steps = Math.round((Math.min(max, Math.max(min, value)) - min) / step);
      return Number((min + Math.min(steps, Math.floor((max - min) / step + 1e-9)) * step).toFixed(12));
    }
    if (control.type === "select") {
      return control.options.some(([each]) => each === value) ? value : control.value;
    }
    return Boolean(value);
  }

  class Explorer {
    constructor(root, spec) {
      const shown = root.dataset.controls?.split(" "), few = Boolean(shown);
      const about = typeof spec.about === "function" ? spec.about(few) : spec.about;
      Object.assign(this, { root, spec, shown, few, name: root.dataset.name, fields: new Map(), width: 0, waiting: false });
      this.data = JSON.parse(root.querySelector(":scope > script").textContent);
      this.state = this.restored();
      this.bar = element("div", { class: "cap-controls" });
      this.stage = element("div", { class: `cap-stage${spec.drag ? " cap-drag" : ""}`, role: "img" });
      this.readout = element("div", { class: "cap-readout", "aria-live": "polite" });
      this.table = element("div", { class: "cap-table", role: "region", tabindex: 0, "aria-label": "Numbers shown" });
      this.folded = element("details", { class: "cap-numbers" });
      this.folded.append(element("summary", {}, about ? "How to read it, and the numbers" : "Numbers shown"));
      if (about) this.folded.append(element("p", { class: "cap-about" }, about));
      this.folded.append(this.table);
      this.live = element("div", { class: "cap-live", role: "group", "aria-label": "Interactive figure" });
      this.live.append(this.bar, this.stage, this.readout, this.folded);
      for (const control of this.list) if (this.shows(control.name)) this.addField(control);
      if (few && this.fields.size < shown.length) throw new Error(`${this.name}: no such control among ${shown}`);
      const reset = element("button", { type: "button", class: "cap-reset" }, "Reset");
      reset.addEventListener("click", () => this.reset());
      this.bar.append(reset);
      root.append(this.live);
      root.classList.add("is-live");
      try {
        this.draw();
      } catch (error) {
        root.classList.remove("is-live");
        this.live.remove();
        throw error;
      }
      performance.mark(`explorer ${this.name}`);
      this.folded.addEventListener("toggle", () => this.fillTable());
      this.listen();
    }

    shows(name) {
      return !this.few || this.shown.includes(name);
    }

    // State ----------------------------------------------------------------------------------------------------------

    // Defaults, and what the address says of this explorer.
    restored() {
      const [name, query = ""] = location.hash.slice(1).split("?");
      const said = new URLSearchParams(name === this.name ? query : "");
      let state = {};
      for (let pass = 0; pass < 3; pass++) {  // limits may depend on what is chosen
        for (const control of this.spec.controls({ data: this.data, state, few: this.few })) {
          const text = this.shows(control.name) ? said.get(control.name) : null;
          state = { ...state, [control.name]: (text === null ? undefined : read(control, text)) ?? control.value };
        }
      }
      return this.fitted(state);
    }

    fitted(state) {
      for (let pass = 0; pass < 3; pass++) {
        this.list = this.spec.controls({ data: this.data, state, few: this.few });
        state = Object.fromEntries(this.list.map((each) => [each.name, fitting(each, state[each.name])]));
      }
      return state;
    }

    set = (name, value) => {
      const changes = typeof name === "string" ? { [name]: value } : name;
      const state = this.fitted({ ...this.state, ...changes });
      if (Object.keys(state).every((key) => state[key] === this.state[key])) return;
      this.state = state;
      this.redraw();
      this.remember();
    };

    reset() {
      this.state = this.fitted({});
      this.redraw();
      this.remember();
    }

    remember() {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => {
        const defaults = Object.fromEntries(this.list.map((each) => [each.name, each.value]));
        const text = (value) => (typeof value === "boolean" ? String(Number(value)) : String(value));
        const changed = Object.entries(this.state).filter(([key, value]) => value !== defaults[key]);
        const query = new URLSearchParams(changed.map(([key, value]) => [key, text(value)])).toString();
        const own = location.hash.slice(1).split("?")[0] === this.name;
        if (query || own) {
          history.replaceState(history.state, "", query ? `#${this.name}?${query}` : location.pathname + location.search);
        }
      }, 250);
    }

    // Controls -------------------------------------------------------------------------------------------------------

    addField(control) {
      const id = `cap-${this.name}-${control.name}`;
      const input = control.type === "select" ? element("select", { id }) : element("input", { id, type: control.type });
      if (control.backwards) input.dir = "rtl";
      const shown = element("span", { class: "cap-value", "aria-hidden": "true" });
      const label = element("label", { for: id }, control.label);
      const box = element("div", { class: `cap-control cap-${control.type}` });
      box.append(...(control.type === "checkbox" ? [input, label] : [element("div", {}, label, " ", shown), input]));
      this.bar.append(box);
      this.fields.set(control.name, { input, shown, label });
      input.addEventListener("input", () => {
        const { type, options } = this.list.find((each) => each.name === control.name);
        const value = { checkbox: () => input.checked, range: () => Number(input.value) }[type];
        this.set(control.name, value ? value() : options[input.selectedIndex][0]);
      });
    }

    showField(control) {
      const { input, shown, label } = this.fields.get(control.name), value = this.state[control.name];
      if (label.textContent !== control.label) label.textContent = control.label;
      input.disabled = Boolean(control.disabled);
      if (control.type === "checkbox") {
        input.checked = value;
      } else if (control.type === "select") {
        const key = JSON.stringify(control.options);
        if (input.dataset.options !== key) {
          input.replaceChildren(...control.options.map(([each, text]) => element("option", { value: each }, String(text))));
          input.dataset.options = key;
        }
        input.selectedIndex = control.options.findIndex(([each]) => each === value);
      } else {
        Object.assign(input, { min: control.min, max: control.max, step: control.step ?? 1 });
        input.value = value;
        shown.textContent = control.format ? control.format(value) : String(value);
        input.setAttribute("aria-valuetext", shown.textContent);
      }
    }

    // Drawing --------------------------------------------------------------------------------------------------------

    redraw = () => {
      if (this.waiting) return;
      this.waiting = true;
      requestAnimationFrame(() => {
        this.waiting = false;
        this.draw();
      });
    };

    draw() {
      for (const control of this.list) if (this.fields.has(control.name)) this.showField(control);
      this.width = Math.floor(this.stage.clientWidth) || 330;
      const { data, state, width, few, set } = this, dark = document.documentElement.dataset.theme === "dark";
      this.result = this.spec.draw({ data, state, width, dark, few, set, Plot: window.Plot, d3: window.d3, colours });
      const { figure, label, readout = "", values } = this.result;
      for (const each of figure.querySelectorAll("[aria-label], [aria-description]")) {
        each.removeAttribute("aria-label");
        each.removeAttribute("aria-description");
      }
      this.stage.setAttribute("aria-label", label);
      this.stage.replaceChildren(figure);
      this.readout.replaceChildren(readout);
      this.fillTable();
      this.root.capValues = values;
      this.root.capState = { ...state };
    }

    fillTable() {
      const { head, rows } = this.result.table;
      this.folded.hidden = !rows.length;
      if (!this.folded.open) return;
      const first = element("tr", {}, ...head.map((text) => element("th", { scope: "col" }, String(text))));
      const body = rows.map((row) => element("tr", {}, ...row.map((cell) => element("td", {}, String(cell)))));
      this.table.replaceChildren(element("table", {}, element("thead", {}, first), element("tbody", {}, ...body)));
    }

    // Events ---------------------------------------------------------------------------------------------------------

    listen() {
      new ResizeObserver(() => {
        if (this.stage.clientWidth && Math.floor(this.stage.clientWidth) !== this.width) this.redraw();
      }).observe(this.stage);
      new MutationObserver(this.redraw).observe(document.documentElement, { attributeFilter: ["data-theme"] });
      const arrive = () => {
        if (location.hash.slice(1).split("?")[0] !== this.name) return false;
        this.root.scrollIntoView({ block: "start" });
        return true;
      };
      arrive();
      window.addEventListener("hashchange", () => {
        if (!arrive()) return;
        this.state = this.restored();
        this.redraw();
      });
      if (!this.spec.point) return;
      let pressed = false;
      const tell = (phase) => (event) => {
        const figure = this.stage.firstElementChild, svg = figure.closest("svg") || figure.querySelector("svg");
        const box = svg.getBoundingClientRect(), scale = (svg.viewBox.baseVal?.width || box.width) / box.width;
        const [x, y] = [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
        const { data, state, set } = this;
        this.spec.point({ phase, x, y, figure, data, state, set });
      };
      this.stage.addEventListener("pointerdown", (event) => {
        pressed = true;
        this.stage.setPointerCapture(event.pointerId);
        tell("down")(event);
      });
      this.stage.addEventListener("pointermove", (event) => tell(pressed ? "drag" : "hover")(event));
      for (const name of ["pointerup", "pointercancel"]) {
        this.stage.addEventListener(name, (event) => {
          pressed = false;
          tell("up")(event);
        });
      }
      this.stage.addEventListener("pointerleave", tell("leave"));
    }
  }

  function register(kind, spec) {
    for (const root of document.querySelectorAll(`.cap-explorer[data-kind="${kind}"]`)) new Explorer(root, spec);
  }

  // One SVG of several, each moved to its place: [[svg, left, top], …]. The pointer's x and y are those of the whole.
  function compose(width, height, parts) {
    const made = (tag, attributes) => {
      const each = document.createElementNS("http://www.w3.org/2000/svg", tag);
      for (const [name, value] of attributes) each.setAttribute(name, value);
      return each;
    };
    const whole = made("svg", Object.entries({ width, height, viewBox: `0 0 ${width} ${height}` }));
    for (const [svg, left, top] of parts) {
      const look = ["class", "fill", "text-anchor"].filter((name) => svg.hasAttribute(name));
      const group = made("g", [["transform", `translate(${left},${top})`], ...look.map((name) => [name, svg.getAttribute(name)])]);
      group.append(...svg.childNodes);
      whole.append(group);
    }
    return whole;
  }

  return { register, element, compose };
})();
