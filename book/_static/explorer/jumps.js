// From jumps to heat: a unit of capacity on its way through N = L − 1 layers, and where it arrives: by the layers one by
// one, by the lattice law that many layers with the same rates tend to, and by the heat kernel of the same variance.
// Everything is computed here, to rounding. Data: {depths: [L, …], spreads: [D, …]}; the first depth is where D is meant.
"use strict";
CapExplorer.register("jumps", (() => {
  const RATIOS = [1, 2, 4, 8, 16], SEEN = 10, UNITS = 9;

  function squared({ depths }, { depth, exponent }, spread) {  // weight of either neighbour: D/N₀ (N₀/N)^2a
    const here = depths[depth] - 1, first = depths[0] - 1;
    return (spread / first) * (first / here) ** (2 * exponent);
  }

  function dilations({ depths }, state) {  // of the N layers, lowest first, from 1 to the ratio
    const n = depths[state.depth] - 1;
    return Array.from({ length: n }, (_, l) => Math.round(RATIOS[state.ratio] ** (l / (n - 1))));
  }

  const variance = (step, all) => 2 * step * all.reduce((sum, d) => sum + d * d, 0);

  // Capacity one layer further down. A unit at y keeps `stay` and sends `send` to either side, by d; what passes the edge
  // before index 0 is lost, folded back, or never sent, and then a unit there keeps and sends what `near` says. Capacity
  // outside from … to is zero; ends below 1e-40 are dropped, as numbers near the least possible ones are slow.
  function below({ c, from, to }, d, { stay, send, near }, boundary) {
    const next = new Float64Array(c.length), last = Math.min(c.length - 1, to + d);
    let lost = 0;
    for (let y = from; y <= to; y++) next[y] = stay * c[y];
    for (let y = from + d; y <= last; y++) next[y] += send * c[y - d];
    for (let y = Math.max(0, from - d); y <= to - d; y++) next[y] += send * c[y + d];
    for (let y = from; y < Math.min(d, to + 1); y++) {
      if (boundary === "absorbing") lost += send * c[y];
      if (boundary === "reflecting") next[d - y - 1] += send * c[y];
      if (boundary === "renormalised") {
        next[y] += (near.stay - stay) * c[y];
        next[y + d] += (near.send - send) * c[y];
      }
    }
    const range = { from: boundary === "reflecting" && from < d ? 0 : Math.max(0, from - d), to: Math.max(last, Math.min(d, c.length) - 1) };
    while (range.from < range.to && next[range.from] < 1e-40) next[range.from++] = 0;
    while (range.from < range.to && next[range.to] < 1e-40) next[range.to--] = 0;
    return { c: next, ...range, lost };
  }

  function byLayers(start, all, step, leak, boundary) {
    const kept = 1 - leak / all.length;
    const near = { stay: (kept * (1 - 2 * step)) / (1 - step), send: (kept * step) / (1 - step) };
    const weights = { stay: kept * (1 - 2 * step), send: kept * step, near };
    let law = start, mass = 1, side = 0, edge = 0;
    for (let l = all.length - 1; l >= 0; l--) {  // from the output down
      law = below(law, all[l], weights, boundary);
      side += (1 - kept) * mass;
      edge += law.lost;
      mass = kept * mass - law.lost;
    }
    return { capacity: law.c, masses: [mass, side, edge] };
  }

  // exp(Σ rates · jumps), layer by layer: for each dilation a Poisson number of jumps, of which half go to either side.
  function byLattice(start, all, step, leak, boundary) {
    const halves = { stay: 0, send: 0.5, near: { stay: 0.5, send: 0.5 } };
    const counts = new Map();
    for (const d of [...all].reverse()) counts.set(d, (counts.get(d) ?? 0) + 1);
    let law = start;
    for (const [d, count] of counts) {
      const pieces = Math.ceil((2 * step * count) / 200), jumps = (2 * step * count) / pieces;  // e^−200 is a number
      for (let piece = 0; piece < pieces; piece++) {
        const c = new Float64Array(law.c.length);
        let moved = law, weight = Math.exp(-jumps), { from, to } = law;
        for (let k = 0; k < jumps || weight > 1e-18; weight *= jumps / ++k) {
          if (k) moved = below(moved, d, halves, boundary);
          for (let y = moved.from; y <= moved.to; y++) c[y] += weight * moved.c[y];
          [from, to] = [Math.min(from, moved.from), Math.max(to, moved.to)];
        }
        law = { c, from, to };
      }
    }
    return law.c.map((v) => Math.exp(-leak) * v);
  }

  function heat(y, at, spread, leak, boundary) {
    const kernel = (x) => Math.exp((-x * x) / (2 * spread) - leak) / Math.sqrt(2 * Math.PI * spread);
    if (boundary === "none") return kernel(y - at);
    return boundary === "absorbing" ? kernel(y - at) - kernel(y + at + 2) : kernel(y - at) + kernel(y + at + 1);
  }

  function laws(data, state) {
    const all = dilations(data, state), step = squared(data, state, data.spreads[state.spread]);
    const { leak, boundary } = state, spread = variance(step, all);
    const range = Math.ceil(9 * Math.sqrt(spread) + 12 * RATIOS[state.ratio]);  // with what is beyond below 1e-12
    const at = boundary === "none" ? range : state.distance;
    const start = { c: new Float64Array(at + range + 1), from: at, to: at };
    start.c[at] = 1;
    const { capacity, masses } = byLayers(start, all, step, leak, boundary);
    const lattice = byLattice(start, all, step, leak, boundary);
    const flow = capacity.map((_, y) => heat(y, at, spread, leak, boundary));
    return { all, step, spread, at, layers: capacity, masses, lattice, flow };
  }

  const total = (c) => c.reduce((sum, v) => sum + v, 0);
  const misplaced = (found, expected) =>
    found.reduce((sum, v, y) => sum + Math.abs(v - expected[y]), 0) / 2 / total(expected);
  function deviation(c) {
    const all = total(c), mean = c.reduce((sum, v, y) => sum + y * v, 0) / all;
    return Math.sqrt(c.reduce((sum, v, y) => sum + (y - mean) ** 2 * v, 0) / all);
  }

  // Single units, with random numbers that are the same at every drawing.
  function walks({ all, step, at }, { leak, boundary }) {
    const paths = [], n = all.length;
    for (let unit = 0; unit < UNITS; unit++) {
      let seed = 7919 * (unit + 1), y = at, end = "";
      const random = () => {  // mulberry32
        let t = (seed = (seed + 0x6d2b79f5) | 0);
        t = Math.imul(t ^ (t >>> 15), t | 1);
        t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
        return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
      };
      const path = [[y, 0]];
      for (let l = 0; l < n && !end; l++) {
        const d = all[n - 1 - l], u = random(), away = random() < leak / n;
        if (away) end = "side";
        const near = boundary === "renormalised" && y < d, send = near ? step / (1 - step) : step;
        let to = y;
        if (!away && u < send) to = y + d;
        else if (!away && u < 2 * send && !near) to = y - d;
        if (to < 0 && boundary === "reflecting") to = -1 - to;
        if (to < 0 && boundary === "absorbing") [to, end] = [-1, "edge"];
        if (to !== y || end) path.push([y, (l + 0.5) / n], [to, (l + 0.5) / n]);
        y = to;
      }
      if (!end) path.push([y, 1]);
      paths.push({ path, end, apart: (0.6 * (unit + 0.5)) / UNITS - 0.3 });
    }
    return paths;
  }

  function controls({ data, state }) {
    const begin = Math.min(1, data.depths.length - 1);  // at the first number of layers a changes nothing
    const { depth = begin, exponent = 0.5, spread = 0, ratio = 0, boundary = "none" } = state;
    const steps = data.spreads.map((each) => squared(data, { depth, exponent }, each));
    const most = steps.filter((each) => 2 * each <= 1 + 1e-12).length - 1;  // a layer sends no more than it has
    const step = steps[Math.min(spread, most)];
    const far = Math.ceil(3 * Math.sqrt(variance(step, dilations(data, { depth, ratio }))));
    return [
      { name: "depth", label: "Layers", type: "range", min: 0, max: data.depths.length - 1, value: begin,
        format: (i) => data.depths[i].toLocaleString("en") },
      { name: "exponent", label: "Weights ∝ 1/Lᵃ, a", type: "range", min: 0, max: 1, step: 0.25, value: 0.5 },
      { name: "spread", label: `D at ${data.depths[0]} layers`, type: "range", min: 0, max: most, value: 0,
        format: (i) => String(data.spreads[i]) },
      { name: "ratio", label: "Dilation ratio", type: "range", min: 0, max: RATIOS.length - 1, value: 0,
        format: (i) => String(RATIOS[i]) },
      { name: "leak", label: "Leak α", type: "range", min: 0, max: 3, step: 0.25, value: 0 },
      { name: "boundary", label: "Edge", type: "select", value: "none",
        options: ["none", "absorbing", "reflecting", "renormalised"].map((each) => [each, each]) },
      { name: "distance", label: "Output to edge", type: "range", min: 0, max: Math.min(60, Math.max(3, far)), value: 2,
        disabled: boundary === "none" },
    ];
  }

  function draw({ data, state, width, Plot, colours }) {
    const found = laws(data, state), { at, spread, layers, lattice, flow } = found, { boundary } = state;
    const depth = data.depths[state.depth].toLocaleString("en"), reach = Math.max(3, 3.2 * Math.sqrt(spread)) + 0.5;
    const edge = boundary === "none" ? -reach : Math.max(-reach, -at - 0.5);
    const shown = Array.from(layers, (_, y) => y - at).filter((x) => x > edge && x < reach);
    const narrow = width < 500, common = { width, marginLeft: 44, marginRight: 12, color: { type: "identity" } };
    const x = { domain: [boundary === "none" ? -reach : Math.max(-reach, -at - 1.5), reach] };
    const wall = boundary === "none" || x.domain[0] === -reach ? null
      : Plot.rectX([0], { x1: x.domain[0], x2: edge, fill: colours.grid, fillOpacity: 0.6 });
    const units = walks(found, state);
    const paths = units.flatMap(({ path, apart }, unit) =>
      path.map(([y, t]) => ({ x: y - at + apart, t, unit, colour: colours.series(unit) })));
    const ends = units.filter(({ end }) => end)
      .map(({ path, apart }) => ({ x: path.at(-1)[0] - at + apart, t: path.at(-1)[1] }));
    const above = Plot.plot({
      ...common, height: narrow ? 150 : 170, marginTop: 20, marginBottom: 6, x: { ...x, axis: null }, clip: true,
      y: { domain: [1, 0], ticks: [0, 0.5, 1], label: `t, from the output (0) to the input (1): ${UNITS} units`, labelArrow: "none" },
      marks: [
        wall,
        Plot.line(paths, { x: "x", y: "t", z: "unit", stroke: "colour", strokeWidth: 1.5, clip: true }),
        Plot.dot(ends, { x: "x", y: "t", symbol: "times", stroke: colours.text, strokeWidth: 2, clip: true }),
      ],
    });
    const points = shown.map((each) => ({ x: each, layers: layers[each + at], lattice: lattice[each + at] }));
    const fine = Array.from({ length: 241 }, (_, i) => edge + ((reach - edge) * i) / 240);
    const kernel = fine.map((each) => ({ x: each, heat: heat(each + at, at, spread, state.leak, boundary) }));
    const most = 1.1 * Math.max(...points.flatMap((p) => [p.layers, p.lattice]), ...kernel.map((p) => p.heat));
    const many = shown.length > 120;
    const names = [[`${depth} layers`, "circle", 0], ["many layers", "square", 1], ["heat equation", "line", 6]];
    const bottom = Plot.plot({
      ...common, height: narrow ? 210 : 230, marginTop: 24, marginBottom: 36, symbol: { type: "identity" },
      x: { ...x, label: "position (from the output)", labelAnchor: "center", labelArrow: "none", ticks: narrow ? 5 : 9 },
      y: { domain: [0, most], ticks: 4, grid: true, label: "capacity per position", labelArrow: "none" },
      marks: [
        wall,
        Plot.line(kernel, { x: "x", y: "heat", stroke: colours.series(6), strokeWidth: 1.5 }),
        many
          ? [Plot.line(points, { x: "x", y: "lattice", stroke: colours.series(1), strokeWidth: 3, strokeOpacity: 0.8 }),
             Plot.line(points, { x: "x", y: "layers", stroke: colours.series(0), strokeWidth: 1.5, strokeDasharray: "4 2" })]
          : [Plot.dot(points, { x: "x", y: "lattice", symbol: "square", r: 5.5, stroke: colours.series(1), strokeWidth: 2 }),
             Plot.dot(points, { x: "x", y: "layers", r: 3.5, fill: colours.series(0) })],
        names.map(([text, symbol, i], row) => [
          Plot.text([text], { frameAnchor: "top-right", textAnchor: "start", dx: -80, dy: 14 * row, fill: colours.text }),
          symbol === "line" || many
            ? Plot.text([["▪ ▪", "━━", "──"][row]], { frameAnchor: "top-right", dx: -86, dy: 14 * row, fill: colours.series(i) })
            : Plot.dot([0], { frameAnchor: "top-right", dx: -95, dy: 14 * row + 6, symbol, r: i ? 5 : 3.5,
              fill: i ? "none" : colours.series(i), stroke: colours.series(i), strokeWidth: 2 }),
        ]),
        Plot.ruleY([0], { stroke: colours.muted }),
      ],
    });
    const figure = CapExplorer.element("div", {}, above, bottom);
    figure.positionAt = (pixel) => Math.round(above.scale("x").invert(pixel));
    const own = { layers: layers[at], lattice: lattice[at], heat: flow[at] };
    const off = { layers: misplaced(layers, lattice), heat: misplaced(lattice, flow) };
    const percent = (share) => `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)}%`, three = (v) => Number(v.toPrecision(3));
    const [input, side, edgeLoss] = found.masses;
    const where = state.leak || boundary === "absorbing"
      ? ` ${percent(input)} of a unit reaches the input`
        + (state.leak ? `, ${percent(side)} the side inputs` : "") + (boundary === "absorbing" ? `, ${percent(edgeLoss)} is lost at the edge` : "") + "."
      : "";
    const window = Array.from({ length: 2 * SEEN + 1 }, (_, i) => i - SEEN + at);
    const every = Math.ceil(shown.length / 101);
    return {
      figure,
      label: `Above, ${UNITS} units of capacity on their way from the output to the input. Below, the capacity of each position: `
        + `for ${depth} layers, for many layers, and by the heat equation.`,
      readout: `At the output's own position: ${three(own.layers)}; many layers ${three(own.lattice)}; heat equation ${three(own.heat)}. `
        + `Share misplaced: ${percent(off.layers)} between ${depth} and many layers, ${percent(off.heat)} between many layers and the heat equation. `
        + `Standard deviation ${three(deviation(layers))} positions.${where}`,
      table: {
        head: ["position", `${depth} layers`, "many layers", "heat equation"],
        rows: shown.filter((_, i) => i % every === 0).map((each) =>
          [each, ...[layers, lattice, flow].map((law) => law[each + at].toPrecision(4))]),
      },
      values: {
        ...Object.fromEntries(Object.entries({ layers, lattice, heat: flow }).map(([name, law]) => [name, window.map((y) => law[y] ?? 0)])),
        masses: found.masses, deviation: deviation(layers), variance: spread, squared: found.step,
        misplaced_layers: off.layers, misplaced_heat: off.heat,
      },
    };
  }

  function point({ phase, x, figure, state, set }) {
    const position = figure.positionAt(x);
    if (!["down", "drag"].includes(phase) || (phase === "down" && position >= 0)) return;
    set({ boundary: state.boundary === "none" ? "absorbing" : state.boundary, distance: Math.max(0, -position) });
  }

  const about = "Every layer sends a squared weight of D/N to either side, or more or less if a is not one half: the networks with the "
    + "first number of layers are the same at every a. The widest dilation is next to the output. A leak of α/N in each layer goes to side inputs. "
    + "Click left of the output to put an edge there. A cross: a unit that leaks, or is lost at the edge.";
  return { controls, draw, point, about };
})());
