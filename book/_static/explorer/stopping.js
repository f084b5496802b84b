// What a stopped run shows: two stacks with the same layers in another order, trained until the loss is as chosen.
//
// data: the stored result stopped_stacks, {levels, stacks: {order: {dilations, total, runs: {method: [{iterations, loss,
// converged, excess, total, per_input}, …]}}}}; each list is in the order of training, and its last entry is the end.
"use strict";
{
  const NARROW = 560, PROFILE = 190, COURSE = 150;
  const METHODS = [["l-bfgs-b", "L-BFGS-B"], ["gauss-newton", "Gauss–Newton"]];
  const percent = d3.format(".0%"), capital = (word) => word[0].toUpperCase() + word.slice(1);

  function scientific(x) {
    const [digits, exponent] = x.toExponential(0).split("e");
    const power = `10${[...String(Math.abs(exponent))].map((each) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[each]).join("").replace(/^/, "⁻")}`;
    return digits === "1" ? power : `${digits}·${power}`;
  }

  // Where a run stands: where it first has the loss, or at its end if that is above.
  function stopped({ runs }, method, level) {
    const run = runs[method], found = run.find(({ loss }) => loss <= 1.001 * level);
    const { per_input, ...rest } = found ?? run[run.length - 1], third = Math.floor(per_input.length / 3);
    return { ...rest, per_input, reached: Boolean(found), far: d3.sum(per_input.slice(-third)) / d3.sum(per_input) };
  }

  const words = (text, width, height, { Plot }, options) =>
    Plot.plot({ width, height, margin: 0, marks: [Plot.text(text, { frameAnchor: "bottom-left", dy: -4, ...options })] });

  // Capacity per input where the run stands, above it the layers, and as a line what the lowest loss shows.
  function profile(order, { dilations, runs }, { per_input }, width, { Plot, colours }) {
    const best = d3.least(Object.values(runs).flat(), ({ loss }) => loss).per_input, n = best.length;
    const deepest = Math.log2(d3.max(dilations)) + 1, each = per_input.map((value, lag) => ({ value, lag }));
    const layers = dilations.map((dilation, i) => ({ i, size: Math.log2(dilation) + 1 }));
    const strip = Plot.plot({
      width: 130, height: 30, margin: 0, x: { domain: [-0.5, dilations.length - 0.5], axis: null }, y: { domain: [0, deepest], axis: null },
      marks: [Plot.rectY(layers, {
        x1: (d) => d.i - 0.5, x2: (d) => d.i + 0.5, y: "size", inset: 0.5, fill: (d) => colours.layer(d.size, deepest),
      })],
      color: { type: "identity" },
    });
    const bars = Plot.plot({
      width, height: PROFILE - 34, marginLeft: 34, marginRight: 8, marginTop: 8, marginBottom: 34,
      x: { domain: [n - 0.5, -0.5], ticks: [], label: null },
      y: { domain: [0, 1], ticks: [0, 0.5, 1], label: null },
      marks: [
        Plot.rectY(each, { x1: (d) => d.lag - 0.5, x2: (d) => d.lag + 0.5, y: "value", fill: colours.series(0), fillOpacity: 0.65 }),
        Plot.ruleY([0], { stroke: colours.muted }),
        Plot.line(best, { x: d3.range(n), y: best, curve: "step", stroke: colours.text, strokeWidth: 1 }),
        Plot.axisX({ ticks: [n - 1, 128, 64, 0].filter((lag) => lag < n), label: null }),
        Plot.text(["← past · lag · now →"], { frameAnchor: "bottom", dy: 32, fill: colours.muted }),
      ],
    });
    const title = words([`${order}: capacity per input`], width - 140, 34, { Plot }, { fontWeight: "bold" });
    return CapExplorer.compose(width, PROFILE, [[title, 0, 0], [strip, width - 138, 2], [bars, 0, 34]]);
  }

  function course({ stacks }, method, level, width, { Plot, colours }) {
    const look = { tiled: {}, repeated: { strokeDasharray: "5 3" } }, runs = Object.entries(stacks);
    const all = runs.flatMap(([, stack]) => Object.values(stack.runs).flat());
    return Plot.plot({
      width, height: COURSE, marginLeft: 44, marginRight: 70, marginTop: 20, marginBottom: 34,
      x: { type: "log", domain: [10, d3.max(all, (d) => d.iterations)], label: "iterations", labelAnchor: "center", labelArrow: "none", ticks: 3, tickFormat: "," },
      y: { type: "log", domain: [d3.min(all, (d) => d.loss) / 4, 0.2], label: null, ticks: 4, tickFormat: (x) => (x >= 1e-12 ? scientific(x) : "") },
      marks: [
        Plot.text(["loss"], { frameAnchor: "top-left", dy: -18, dx: -40, fontWeight: "bold" }),
        Plot.ruleY([level], { stroke: colours.accent, strokeWidth: 1.5 }),
        runs.map(([order, stack]) => {
          const run = stack.runs[method], options = { x: "iterations", y: "loss", stroke: colours.text };
          return [
            Plot.line(run, { ...options, ...look[order] }),
            Plot.dot([stopped(stack, method, level)], { ...options, stroke: colours.surface, fill: colours.accent, r: 5 }),
            Plot.text([run[run.length - 1]], { ...options, stroke: null, text: () => order, textAnchor: "start", dx: 9, dy: order === "tiled" ? -5 : 5 }),
          ];
        }),
      ],
    });
  }

  function sentence(order, found) {
    const steps = `${found.iterations.toLocaleString("en")} iterations`;
    const where = found.reached ? `after ${steps}` : `ended at ${scientific(found.loss)} after ${steps}${found.converged ? ", at an optimum" : ""}`;
    return `${capital(order)}, ${where}: ${percent(found.far)} of the capacity on the farthest third; ` +
      `${percent(found.excess)} of the squared error beyond the limit of an optimum.`;
  }

  CapExplorer.register("stopping", {
    about:
      "Both stacks start from random weights. A run is stopped where it first has the chosen loss, or shown at its end. At an " +
      "optimum the squared error at an input is at most (1 − κ) times the whole; the part beyond that limit has not been " +
      "removed yet. Click among the losses to choose one.",

    controls({ data }) {
      return [
        { name: "level", label: "Stop at a loss of", type: "range", min: 0, max: data.levels.length - 1, value: 6,
          format: (i) => scientific(data.levels[i]) },
        { name: "method", label: "Optimiser", type: "select", value: METHODS[0][0], options: METHODS },
      ];
    },

    draw({ data, state, width, Plot, colours }) {
      const tools = { Plot, colours }, level = data.levels[state.level], narrow = width < NARROW;
      const each = narrow ? width : Math.floor((width - 16) / 2), orders = Object.keys(data.stacks);
      const found = orders.map((order) => stopped(data.stacks[order], state.method, level));
      const said = ["bars: where training stops · line: at the lowest loss of all runs", "steps: the layers’ dilations"];
      const top = narrow ? 34 : 18, legend = words([said.join(narrow ? "\n" : " · ")], width, top, tools, { fill: colours.muted });
      const profiles = orders.map((order, i) =>
        [profile(order, data.stacks[order], found[i], each, tools), narrow ? 0 : i * (each + 16), top + (narrow ? i * (PROFILE + 6) : 0)]);
      const below = top + (narrow ? 2 : 1) * (PROFILE + 6);
      const losses = course(data, state.method, level, width, tools);
      const figure = Object.assign(CapExplorer.compose(width, below + COURSE, [[legend, 0, 0], ...profiles, [losses, 0, below]]), { losses, below });
      const shown = (name) => Object.fromEntries(orders.map((order, i) => [`${order} ${name}`, found[i][name]]));
      const names = ["iterations", "loss", "excess", "far", "total", "per_input", "reached"];
      return {
        figure,
        label: `Capacity per input of two stacks where training stopped, and their losses by iteration. ${orders.map((order, i) => sentence(order, found[i])).join(" ")}`,
        readout: CapExplorer.element("div", {}, ...orders.map((order, i) => CapExplorer.element("div", {}, sentence(order, found[i])))),
        table: {
          head: ["lag", ...orders],
          rows: d3.range(found[0].per_input.length).map((lag) => [lag, ...found.map(({ per_input }) => per_input[lag].toFixed(3))]),
        },
        values: Object.assign({}, ...names.map(shown)),
      };
    },

    // A height among the losses is the loss at which training stops.
    point({ phase, y, figure, data, set }) {
      const { losses, below } = figure;
      if ((phase !== "down" && phase !== "drag") || y < below) return;
      const loss = losses.scale("y").invert(y - below);
      set("level", d3.minIndex(data.levels, (level) => Math.abs(Math.log(level / loss))));
    },
  });
}
