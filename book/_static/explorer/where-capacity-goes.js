// Where capacity goes: capacity per input of a dilated stack, below the tree of taps that leads to every lag.
// Data: chapters/hierarchical/where_capacity_goes.py.
"use strict";
(() => {
  const PROCESSES = {
    PowerLaw: "power law",
    FractionalGaussianNoise: "fractional Gaussian noise",
    AR1: "AR(1)",
    DampedCosine: "damped cosine",
    RationalQuadratic: "rational quadratic",
  };
  const ORDERS = {
    "fine first": () => "1, 2, 4, … (paper)",
    "coarse first": (depth) => `${2 ** (depth - 1)}, …, 2, 1`,
    alternating: (depth) => `1, ${2 ** (depth - 1)}, 2, …`,
  };
  const ALIKE = "alike";
  const listed = (text) => text.split(",").join(", ");

  // What the data say in a state: the model, its optimum, and where L-BFGS-B stops; capacities as numbers.
  function found(data, { depth, order, channels, gaps, process }) {
    const model = data.models[`${depth} ${order} ${gaps === ALIKE ? channels : gaps}`], i = data.families.indexOf(process);
    const read = ([total, loss, profile, iterations]) => ({
      total,
      loss,
      iterations,
      capacities: profile ? profile.split(" ").map((each) => each / 1000) : Array(2 ** depth).fill(1),
    });
    return { model, optimum: read(model.optimum[i]), lbfgs: read(model.lbfgs[i]) };
  }

  const binary = (lag, depth) => lag.toString(2).padStart(depth, "0");
  const taps = (lag, dilations) => dilations.map((dilation) => Math.floor(lag / dilation) % 2);

  function power(loss) {
    if (loss === 0) return "zero up to rounding";
    const [digits, exponent] = loss.toExponential(1).split("e");
    return `${digits} · 10${[...exponent].map((each) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(each)] ?? "").join("")}`;
  }

  function controls({ data, state, few }) {
    const depth = state.depth ?? Math.max(...data.depths), n = 2 ** depth;
    const fine = (state.order ?? "fine first") === "fine first";
    const lists = data.lists.filter((each) => fine && each.length === depth - 1).map(String);
    const widest = 2 ** Math.floor(depth / 2);
    const capacity = (lag) => {
      if (few || state.process === undefined || lag >= n || state.channels > widest) return "";
      const { optimum, lbfgs } = found(data, state);
      return `, capacity ${(state.lbfgs ? lbfgs : optimum).capacities[lag].toFixed(2)}`;
    };
    return [
      { name: "process", label: few ? "Process to predict" : "Process", type: "select", value: "PowerLaw",
        options: data.families.map((each) => [each, PROCESSES[each]]) },
      { name: "channels", label: "Channels", type: "range", min: 1, max: widest, value: Math.min(2, widest),
        disabled: (state.gaps ?? ALIKE) !== ALIKE },
      { name: "lag", label: few ? "Samples back" : "Lag", type: "range", min: 0, max: n - 1, value: Math.min(8, n - 1), backwards: true,
        format: (lag) => `${lag}${capacity(lag)}` },
      { name: "depth", label: "Layers", type: "range", min: Math.min(...data.depths), max: Math.max(...data.depths),
        value: Math.max(...data.depths), format: (value) => `${value}, ${2 ** value} inputs` },
      { name: "gaps", label: "Channels per gap", type: "select", value: ALIKE, disabled: !lists.length,
        options: [[ALIKE, "all alike"], ...lists.map((each) => [each, listed(each)])] },
      { name: "order", label: "Dilations, upwards", type: "select", value: "fine first",
        options: data.orders.map((each) => [each, ORDERS[each](depth)]) },
      { name: "lbfgs", label: "Paper’s optimiser", type: "checkbox", value: false },
    ];
  }

  // The tree from the output down to the inputs: an edge for every tap, with the layer it belongs to.
  function treeOf(dilations) {
    const edges = [];
    let reached = [0];
    for (let layer = dilations.length; layer > 0; layer--) {
      const step = dilations[layer - 1];
      for (const at of reached) for (const to of [at, at + step]) edges.push({ layer, at, to });
      reached = reached.flatMap((at) => [at, at + step]);
    }
    return edges;
  }

  function draw({ data, state, width, few, Plot, colours }) {
    const { depth, lag, process } = state, n = 2 ** depth, narrow = width < 560;
    const { model, optimum, lbfgs } = found(data, state), shown = state.lbfgs ? lbfgs : optimum;
    const { dilations, forward } = model, path = taps(lag, dilations);
    const [tree, gap, bars, top, bottom] = narrow ? [114, 34, 130, 24, 38] : [156, 36, 180, 24, 40];
    const level = (l) => 1 + (gap + (tree * l) / depth) / bars;
    const layerColour = (layer) => colours.layer(layer, depth);
    const barColour = (each) => {
      const switched = taps(each, dilations).flatMap((tap, l) => (tap ? [l + 1] : []));
      return switched.length > 1 ? colours.fill : switched.length ? layerColour(switched[0]) : colours.text;
    };
    const edges = treeOf(dilations);
    const above = (layer) => dilations.slice(layer).reduce((sum, step, i) => sum + step * path[layer + i], 0);
    const onPath = path.map((tap, i) => ({ layer: i + 1, at: above(i + 1), to: above(i) }));
    const link = { x1: "at", x2: "to", y1: (d) => level(d.layer), y2: (d) => level(d.layer - 1), stroke: (d) => layerColour(d.layer) };
    const rows = dilations.map((step, i) => ({ layer: i + 1, step, adds: forward[i] }));
    const beside = (dx, head, text) => [
      Plot.text(rows, { x: -0.5, y: (d) => level(d.layer - 0.5), dx, text, textAnchor: "end", fill: colours.text }),
      Plot.text([head], { x: -0.5, y: level(depth), dx, dy: -13, text: (d) => d, textAnchor: "end", fill: colours.muted }),
    ];
    const columns = few
      ? beside(56, "", (d) => `${d.step} apart`)
      : [...beside(52, "dilation", (d) => String(d.step)), ...beside(88, "units", (d) => `+${d.adds}`)];
    const value = shown.capacities[lag].toFixed(2);
    const named = few ? `${back(lag)}: ${value}` : `lag ${lag} = ${binary(lag, depth)}₂: ${value}`;
    const half = lag < n / 2;
    const figure = Plot.plot({
      width,
      height: top + tree + gap + bars + bottom,
      marginTop: top,
      marginRight: few ? 60 : 92,
      marginBottom: bottom,
      marginLeft: few ? 40 : 30,
      x: { domain: [n - 0.5, -0.5], axis: null },
      y: { domain: [0, level(depth)], axis: null },
      color: { type: "identity" },
      marks: [
        Plot.rect([lag], { x1: (d) => d - 0.5, x2: (d) => d + 0.5, y1: 0, y2: level(0), fill: colours.accent, fillOpacity: 0.25 }),
        Plot.ruleY([1], { stroke: colours.muted, strokeDasharray: "4 3" }),
        Plot.rectY(shown.capacities, { x1: (d, i) => i - 0.5, x2: (d, i) => i + 0.5, y: (d) => d, fill: (d, i) => barColour(i),
          insetLeft: narrow ? 0 : 0.5, insetRight: narrow ? 0 : 0.5 }),
        state.lbfgs ? Plot.lineY(optimum.capacities, { x: (d, i) => i, y: (d) => d, curve: "step", stroke: colours.text, strokeWidth: 1.2 }) : null,
        Plot.ruleY([0], { stroke: colours.muted }),
        Plot.link(edges, { ...link, strokeWidth: 0.8, strokeOpacity: 0.75 }),
        Plot.link(onPath, { ...link, strokeWidth: 3.5, strokeLinecap: "round" }),
        Plot.dot([0], { x: 0, y: level(depth), r: 3.5, fill: colours.text }),
        Plot.text(["output"], { x: 0, y: level(depth), dx: -8, dy: -13, textAnchor: "end", fill: colours.muted }),
        Plot.text([named], {
          x: lag + (half ? -0.5 : 0.5), y: 1, dy: -11, textAnchor: half ? "end" : "start", fontWeight: 600, fill: colours.text,
          stroke: colours.surface, strokeWidth: 3 }),
        ...columns,
        Plot.axisY([0, 0.5, 1], { label: null, tickFormat: (d) => (few && d === 1 ? "1 unit" : String(d)) }),
        Plot.axisX([0, n / 4, n / 2, (3 * n) / 4, n - 1], { label: few ? "← past · samples back · now →" : "← past · lag · now →", labelAnchor: "center", labelArrow: "none",
          tickFormat: (d) => String(d) }),
      ],
    });
    const words = inWords({ state, model, optimum, lbfgs, shown });
    return { figure, ...words, ...(few ? { readout: inFewWords({ lag, model, optimum }), table: shortTable(optimum) } : {}) };
  }

  const back = (lag) => (lag === 0 ? "the latest sample" : `${lag} sample${lag > 1 ? "s" : ""} back`);

  // Between 0 and 1 capacity ranks the inputs; it is no share of a change that the model would follow.
  function inFewWords({ lag, model, optimum: { total, capacities } }) {
    const value = capacities[lag], most = model.generic_total;
    const above = capacities.filter((each) => each > value + 1e-9).length;
    const noticed = value > 0.9995 ? ": every change of the target there is noticed" : `: ${above} of ${capacities.length} inputs get more`;
    const more = total < most ? ` (other weights that predict as well may have more, up to ${most})` : "";
    const which = lag === 0 ? "latest input" : `input ${back(lag)}`;
    return `${model.n_params} weights, ${total} units${more}. The ${which} gets ${value.toFixed(2)}${noticed}.`;
  }

  function shortTable({ capacities }) {
    return { head: ["samples back", "capacity"], rows: capacities.map((each, lag) => [lag, each.toFixed(3)]) };
  }

  function inWords({ state, model, optimum, lbfgs, shown }) {
    const { depth, process, gaps, channels } = state, n = 2 ** depth;
    const width = gaps === ALIKE ? `${channels} channel${channels > 1 ? "s" : ""}` : `${listed(gaps)} channels`;
    const recent = shown.capacities.slice(0, n / 2).reduce((sum, each) => sum + each, 0);
    const singular = shown.total < model.generic_total ? ` (singular weights: others with the same loss may have another κ, at most ${model.generic_total})` : "";
    const loss = state.lbfgs
      ? `${power(lbfgs.loss)} after ${lbfgs.iterations.toLocaleString("en")} iterations of L-BFGS-B, ${power(optimum.loss)} at the optimum (outlined)`
      : power(optimum.loss);
    return {
      label: `Capacity per input of a stack of ${depth} layers with ${width}, ${PROCESSES[process]}, and the path of taps to one lag.`,
      readout: `${model.n_params} weights, κ = ${shown.total}${singular}. In the recent half of the inputs: ${
        Math.round((100 * recent) / shown.total)}%. Loss: ${loss}.`,
      table: {
        head: ["lag", "binary", state.lbfgs ? "L-BFGS-B" : "capacity", ...(state.lbfgs ? ["optimum"] : [])],
        rows: shown.capacities.map((each, lag) => [
          lag, binary(lag, depth), each.toFixed(3), ...(state.lbfgs ? [optimum.capacities[lag].toFixed(3)] : []),
        ]),
      },
      values: {
        capacities: shown.capacities,
        total: shown.total,
        generic_total: model.generic_total,
        n_params: model.n_params,
        loss: shown.loss,
        adds: model.forward,
        taps: taps(state.lag, model.dilations),
      },
    };
  }

  function point({ phase, x, figure, set }) {
    if (phase !== "leave" && phase !== "up") set("lag", Math.round(figure.scale("x").invert(x)));
  }

  const about = (few) => (few ? ABOUT_FEW : ABOUT);
  const ABOUT_FEW = "Below: each bar is the capacity of one past sample; the bars add up to the number of units. Above: the "
    + "model. Each of its layers joins two values, so many samples apart as its line says at the right, and the bold path leads "
    + "to the sample that you chose. A bar has the colour of a layer if its sample differs from the latest in that layer alone. "
    + "At 1 the trained model notices every change of the target there, at 0 none.";
  const ABOUT = "Above the bars: the taps from the output down to every input, the path to the chosen lag in bold; at the "
    + "right, each layer’s dilation, and the units of capacity that it adds to the layers nearer the input. A bar has the colour of a "
    + "layer if its lag is reached by the other tap of that layer alone. The paper’s "
    + "optimiser is L-BFGS-B, here with at most 2,000 iterations from one random start; where it stops also depends on rounding.";

  CapExplorer.register("where-capacity-goes", { controls, draw, point, about });
})();
