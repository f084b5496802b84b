// A spectrum and its tail: the power law from a chosen eigenvalue on, its exponent, its distance, and other spectra.
//
// Data: the stored result "tails" (chapters/spectra/tails.py). Exponents and distances are computed here from the
// eigenvalues, as capcore.spectra.power_law does; what other spectra have in their place is stored for each beginning.
"use strict";
(() => {
  // Exponent, its textbook error and the Kolmogorov–Smirnov distance of the tail of ascending values from index k on.
  function fitted(values, k) {
    const n = values.length - k, gaps = new Float64Array(n);
    let sum = 0;
    for (let j = 0; j < n; j++) sum += gaps[j] = Math.log(values[k + j] / values[k]);
    const rate = n / sum;
    let distance = 0;
    for (let j = 0; j < n; j++) distance = Math.max(distance, Math.abs(1 - Math.exp(-rate * gaps[j]) - j / n));
    return { x_min: values[k], alpha: 1 + rate, sigma: rate / Math.sqrt(n), distance, n_tail: n };
  }

  // Every beginning of every spectrum, and the one with the least distance, which Clauset's method takes.
  const scans = new Map();
  function scan(spectrum) {
    if (!scans.has(spectrum.name)) {
      const values = spectrum.eigenvalues;
      const tails = values.slice(0, -1).map((_, k) => fitted(values, k));
      scans.set(spectrum.name, { tails, best: d3.leastIndex(tails, (a, b) => a.distance - b.distance) });
    }
    return scans.get(spectrum.name);
  }

  const chosen = (data, name) => data.spectra.find((each) => each.name === name) ?? data.spectra[0];
  const short = (value) => Number(value.toPrecision(value < 10 ? 2 : 3)).toString();
  const size = (value) => (value < 1e-3 ? Number(value.toPrecision(3)).toExponential() : String(Number(value.toPrecision(3)))).replace("-", "−");

  function controls({ data, state }) {
    const spectrum = chosen(data, state.spectrum), { tails, best } = scan(spectrum);
    const options = data.spectra.map(({ name, label }) => [name, label]);
    const format = (shift) => size(tails[best + shift].x_min) + (shift ? "" : ", automatic");
    return [
      { name: "spectrum", label: "Eigenvalues of", type: "select", options, value: "trained" },
      { name: "shift", label: "Tail from", type: "range", min: -best, max: tails.length - 1 - best, value: 0, format },
    ];
  }

  function words(spectrum, tail, best, automatic) {
    const { n_others, others, own, interval } = spectrum, k = spectrum.eigenvalues.length - tail.n_tail;
    const asSmall = (number) => `${number || "none"} of them ${number === 1 ? "has" : "have"} an α as small`;
    const [alpha, error] = [tail.alpha, 1.96 * tail.sigma].map((each) => each.toFixed(2));
    const lines = [
      `α = ${alpha} ± ${error}, fitted to ${tail.n_tail} of ${spectrum.eigenvalues.length} eigenvalues; distance ${tail.distance.toFixed(3)}.`,
      `Compared with ${n_others} spectra of ${others}: with as many eigenvalues in the tail, ${asSmall(spectrum.smaller[k])}.`,
      automatic
        ? `With the beginning chosen anew, 95 % of resamples have α from ${short(interval[0])} to ${short(interval[1])}; 95 % of those spectra, ` +
          `from ${short(own.low)} to ${short(own.high)}, and ${asSmall(own.smaller)}.`
        : `The distance is smallest, ${best.distance.toFixed(3)}, at xₘᵢₙ = ${size(best.x_min)}.`,
    ];
    const node = CapExplorer.element("div");
    for (const line of lines) node.append(CapExplorer.element("div", {}, line));
    return node;
  }

  let panels = [];  // of the last drawing: where they are, and their axis of eigenvalues

  function draw({ data, state, width, Plot, colours }) {
    const spectrum = chosen(data, state.spectrum), values = spectrum.eigenvalues, n = values.length;
    const { tails, best } = scan(spectrum), k = best + state.shift, tail = tails[k];
    const low = Math.min(values[Math.floor(0.25 * n)], tail.x_min) / 1.1, domain = [low, 1.15 * values[n - 1]];
    const shown = d3.range(n).filter((j) => values[j] >= low), starts = shown.filter((j) => j < n - 1);
    const share = (j) => (n - j) / n;

    const wide = width >= 560, left = wide ? Math.round(0.56 * width) : width, right = wide ? width - left - 8 : width;
    const top = 22, heights = wide ? [336, 162, 178] : [236, 122, 138];
    const at = wide
      ? [[0, top], [left + 8, top], [left + 8, top + heights[1]]]
      : [[0, top], [0, top + heights[0]], [0, top + heights[0] + heights[1]]];
    const axes = (x, y, title, numbers = true) => [
      Plot.axisX({ ticks: 4, label: x, labelAnchor: "center", labelArrow: "none", color: colours.text, tickFormat: numbers ? size : () => "" }),
      Plot.axisY({ ...y, label: null, color: colours.text }),
      Plot.text([title], { frameAnchor: "top-left", dx: -36, dy: -20, fill: colours.text }),
      Plot.gridY({ ...y, stroke: colours.grid, strokeOpacity: 1 }),
    ];
    const common = { marginLeft: 44, marginRight: 8, marginTop: 22, x: { type: "log", domain } };
    const here = Plot.ruleX([tail.x_min], { stroke: colours.accent, strokeWidth: 1.5 });

    const line = [[tail.x_min, share(k)], [values[n - 1], share(k) * (values[n - 1] / tail.x_min) ** (1 - tail.alpha)]];
    const decades = d3.range(0, Math.ceil(Math.log10(n))).map((power) => 10 ** -power);
    const survival = Plot.plot({
      ...common, width: left, height: heights[0], marginBottom: 36,
      r: { type: "identity" },
      y: { type: "log", domain: [0.6 / n, 1.3] },
      marks: [
        ...axes("eigenvalue λ", { ticks: decades, tickFormat: "~g" }, "share of the eigenvalues at least as large"),
        Plot.areaX(shown, { x1: (j) => Math.max(spectrum.low[j], low), x2: (j) => Math.max(spectrum.high[j], low), y: share, fill: colours.fill, clip: true }),
        here,
        Plot.dot(shown, { x: (j) => values[j], y: share, r: (j) => (j < k ? 1.2 : 2.6), fill: (j) => (j < k ? colours.muted : colours.series(0)) }),
        Plot.line(line, { stroke: colours.accent, strokeWidth: 2.5, clip: true }),
        Plot.text([best], { x: (j) => values[j], y: share, text: () => "▼", dy: -11, fill: colours.text }),
      ],
    });
    const ceiling = Math.max(12, 1.2 * tail.alpha);
    const exponents = Plot.plot({
      ...common, width: right, height: heights[1], marginBottom: 10,
      y: { type: "log", domain: [1, ceiling] },
      marks: [
        ...axes(null, { ticks: [1, 2, 5, 10, 20, 50].filter((tick) => tick <= ceiling), tickFormat: "d" }, "exponent α from xₘᵢₙ on", false),
        Plot.areaY(starts, { x: (j) => values[j], y1: (j) => spectrum.alpha_low[j], y2: (j) => spectrum.alpha_high[j], fill: colours.fill, clip: true }),
        here,
        Plot.line(starts, { x: (j) => values[j], y: (j) => tails[j].alpha, stroke: colours.series(0), clip: true }),
        Plot.ruleX([tail], { x: "x_min", y1: Math.max(1, tail.alpha - 1.96 * tail.sigma), y2: tail.alpha + 1.96 * tail.sigma, stroke: colours.text, strokeWidth: 2.5, clip: true }),
        Plot.dot([tail], { x: "x_min", y: "alpha", r: 4, fill: colours.text }),
      ],
    });
    const distances = Plot.plot({
      ...common, width: right, height: heights[2], marginBottom: 26,
      y: { domain: [0, Math.max(0.3, 1.1 * tail.distance)] },
      marks: [
        ...axes(null, { ticks: 4 }, "distance (Kolmogorov–Smirnov) from xₘᵢₙ on"),
        here,
        Plot.line(starts, { x: (j) => values[j], y: (j) => tails[j].distance, stroke: colours.series(0), clip: true }),
        Plot.text([tails[best]], { x: "x_min", y: "distance", text: () => "▼", dy: -11, fill: colours.text }),
        Plot.dot([tail], { x: "x_min", y: "distance", r: 4, fill: colours.text }),
      ],
    });

    const height = top + (wide ? heights[0] : d3.sum(heights));
    const figure = d3.create("svg").attr("viewBox", [0, 0, width, height]).attr("width", width).attr("height", height);
    panels = [survival, exponents, distances].map((plot, i) => {
      figure.append(() => d3.select(plot).attr("x", at[i][0]).attr("y", at[i][1]).node());
      return { x: at[i][0], y: at[i][1], width: i ? right : left, height: heights[i], scale: plot.scale("x") };
    });
    legend(figure, width, colours);

    const row = (j) => [size(values[j]), n - j, tails[j].alpha.toFixed(3), tails[j].distance.toFixed(3), spectrum.smaller[j]];
    const every = d3.range(0, tails.length, Math.ceil(tails.length / 12));
    return {
      figure: figure.node(),
      label: `Shares of ${n} eigenvalues (${spectrum.label}) above their size, on logarithmic axes: ${tail.n_tail} of them ` +
        `from ${size(tail.x_min)} on, beside a line of slope ${(1 - tail.alpha).toFixed(2).replace("-", "−")}. ` +
        "Exponent and distance for every beginning of the tail.",
      readout: words(spectrum, tail, tails[best], k === best),
      table: {
        head: ["xₘᵢₙ", "eigenvalues", "α", "KS distance", `as small, of ${spectrum.n_others}`],
        rows: [...new Set([...every, best, k])].sort((a, b) => a - b).map(row),
      },
      values: { ...tail, log_x_min: Math.log(tail.x_min), log_best: Math.log(values[best]), smaller: spectrum.smaller[k] },
    };
  }

  function legend(figure, width, colours) {
    const items = [
      ["●", colours.series(0), "tail"],
      ["━", colours.accent, "power law"],
      ["■", colours.fill, "95 % of others"],
      ["▼", colours.text, "best fit"],
    ];
    let x = 4, y = 12;
    for (const [sign, colour, text] of items) {
      const long = 26 + 5.8 * text.length;
      if (x + long > width + 14 && x > 4) [x, y] = [4, y + 17];
      const entry = figure.append("text").attr("x", x).attr("y", y).attr("fill", "currentColor");
      entry.append("tspan").attr("fill", colour).text(sign);
      entry.append("tspan").attr("dx", 5).text(text);
      x += long;
    }
  }

  // The nearest eigenvalue below the pointer becomes the beginning of the tail.
  function point({ phase, x, y, data, state, set }) {
    if (phase !== "down" && phase !== "drag") return;
    const panel = panels.find((each) => x >= each.x && x <= each.x + each.width && y >= each.y && y <= each.y + each.height);
    if (!panel) return;
    const { tails, best } = scan(chosen(data, state.spectrum)), wanted = panel.scale.invert(x - panel.x);
    const k = d3.leastIndex(tails, (a, b) => Math.abs(Math.log(a.x_min / wanted)) - Math.abs(Math.log(b.x_min / wanted)));
    set("shift", k - best);
  }

  CapExplorer.register("tail", { controls, draw, point });
})();
