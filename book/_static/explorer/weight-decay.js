// A trained network at one weight decay after another: how many of its parameters count, where, and what is foretold.
//
// data: the stored result weight_decays, {decays, starts: [[{total, training, tests, losses, pixels, most, least}, …], …],
// images: {number: {label, greys}}}; a list of each start over the decays, most and least as [image, leverage].
"use strict";
{
  const NARROW = 560, SIDE = 8, COURSE = 170, MOST = 0.8;  // losses beyond are of networks that learn nothing
  const percent = d3.format(".1%"), number = (x, digits = 2) => x.toFixed(digits);

  function correlation(a, b) {
    const [x, y] = [a, b].map((values) => values.map((each) => each - d3.mean(values)));
    const product = (p, q) => d3.sum(p, (each, i) => each * q[i]);
    return product(x, y) / Math.sqrt(product(x, x) * product(y, y));
  }

  const cells = (values) => values.map((value, i) => ({ value, row: Math.floor(i / SIDE), column: i % SIDE }));

  function map({ pixels }, side, { Plot, colours }) {
    const most = d3.max(pixels);
    return Plot.plot({
      width: side, height: side + 22, margin: 2, marginTop: 24, color: { type: "identity" },
      x: { domain: d3.range(SIDE), axis: null, padding: 0.04 }, y: { domain: d3.range(SIDE), axis: null, padding: 0.04 },
      marks: [
        Plot.cell(cells(pixels), { x: "column", y: "row", fill: (d) => colours.shade(d.value / most), stroke: colours.grid, strokeWidth: 0.5 }),
        Plot.text(["capacity of the pixels"], { frameAnchor: "top-left", dy: -21, dx: -1, fontWeight: "bold" }),
      ],
    });
  }

  // What the shades of the map mean at this weight decay.
  function scale({ pixels }, side, { colours }) {
    const most = d3.max(pixels);
    return CapExplorer.bar(side, "", ["0", number(most / 2), number(most)], colours);
  }

  // Two rows of images, those with most capacity and those with least; label and leverage below each.
  function images(data, { most, least }, width, height, { Plot, colours }) {
    const count = most.length, line = (height - 22) / 2, unit = Math.min((line - 26) / SIDE, width / (count * (SIDE + 2) - 2));
    const placed = [most, least].flatMap((which, j) => which.map(([i, leverage], k) =>
      ({ ...data.images[i], leverage, x: k * (SIDE + 2) * unit, y: 22 + j * line })));
    const dots = placed.flatMap(({ greys, x, y }) => cells(greys).map(({ value, row, column }) => ({ value, x: x + column * unit, y: y + row * unit })));
    const box = (size) => ({ x1: "x", x2: (d) => d.x + size, y1: "y", y2: (d) => d.y + size });
    const plain = (size) => ({ domain: [0, size], range: [0, size], axis: null });
    return Plot.plot({
      width, height, margin: 0, x: plain(width), y: plain(height),
      marks: [
        Plot.rect(dots, { ...box(1.02 * unit), fill: colours.text, fillOpacity: (d) => d.value / 16 }),
        Plot.rect(placed, { ...box(SIDE * unit), stroke: colours.grid }),
        Plot.text(placed, { x: (d) => d.x + (SIDE / 2) * unit, y: (d) => d.y + SIDE * unit, dy: 11, text: (d) => `${d.label}: ${number(d.leverage, d.leverage < 0.1 ? 3 : 2)}` }),
        Plot.text(["images with most capacity, and with least"], { frameAnchor: "top-left", dy: 3, fontWeight: "bold" }),
      ],
    });
  }

  // Lines over the weight decay, of every start or of both kinds of images, with dots where it is chosen.
  function course(data, at, title, lines, y, width, { Plot, colours }) {
    const points = lines.flatMap(({ values, ...look }, z) => values.map((value, i) => ({ decay: data.decays[i], value, z, ...look })));
    return Plot.plot({
      width, height: COURSE, marginLeft: 40, marginRight: 14, marginTop: 26, marginBottom: 36, color: { type: "identity" },
      x: { type: "log", label: "weight decay", labelAnchor: "center", labelArrow: "none", ticks: 4, tickFormat: "~r" },
      y: { label: null, ticks: 4, ...y },
      marks: [
        Plot.ruleX([data.decays[at]], { stroke: colours.accent, strokeWidth: 2 }),
        Plot.line(points, { x: "decay", y: "value", z: "z", stroke: "colour", strokeWidth: (d) => (d.thin ? 0.8 : 2), clip: true }),
        Plot.dot(points.filter((d) => d.decay === data.decays[at] && !d.thin), { x: "decay", y: "value", fill: "colour", stroke: colours.surface, r: 5, clip: true }),
        lines.filter(({ name }) => name).map(({ name, values, colour, dy }) =>
          Plot.text([name], { x: d3.min(data.decays), y: values[0], textAnchor: "start", dx: 4, dy, fill: colour, stroke: colours.surface, strokeWidth: 3 })),
        Plot.text([title], { frameAnchor: "top-left", dy: -23, dx: -34, fontWeight: "bold" }),
      ],
    });
  }

  CapExplorer.register("weight-decay", {
    about:
      "Networks like this page's, from three starts, trained to an optimum at each weight decay; each optimum starts from that of the next " +
      "weaker decay. Left: capacity of the linear functions of each pixel. Right: the images with " +
      "most and with least capacity; label and leverage. Below left: all starts, the chosen one thicker. Below right: mean loss of the chosen one on its training images, with each left out, on test images, and with the total over N added to the first. Click below to choose a decay.",

    controls({ data }) {
      const last = data.decays.length - 1;
      return [
        { name: "at", label: "Weight decay", type: "range", min: 0, max: last, value: data.decays.indexOf(1),
          format: (at) => String(data.decays[at]) },
        { name: "start", label: "First weights", type: "select", value: 0, options: data.starts.map((_, i) => [i, `seed ${i}`]) },
      ];
    },

    draw({ data, state, width, Plot, colours }) {
      const tools = { Plot, colours }, { at, start } = state, run = data.starts[start], seen = run[at];
      const narrow = width < NARROW, side = narrow ? 210 : Math.min(240, Math.round(0.38 * width)), top = side + 22 + CapExplorer.BAR - 14;
      const rest = narrow ? width : width - side - 24, half = narrow ? width : Math.floor((width - 12) / 2);
      const row = narrow ? 228 : top, second = narrow ? top + row + 8 : top + 8, third = narrow ? second + COURSE : second;
      const starts = data.starts.map((each, i) => ({ values: each.map(({ total }) => total), colour: i === start ? colours.text : colours.muted, thin: i !== start })).sort((a, b) => b.thin - a.thin);
      const kinds = Object.keys(seen.losses).map((name, i) => ({ name, colour: colours.series(i), dy: name === "tests" ? 9 : -8, values: run.map((each) => each.losses[name]) }));
      const totals = course(data, at, "parameters that count", starts, { domain: [0, d3.max(data.starts.flat(), (d) => d.total)] }, half, tools);
      const losses = course(data, at, "mean loss, and what foretells that of the tests", kinds, { domain: [0, MOST] }, half, tools);
      const panels = [[totals, 0, second], [losses, narrow ? 0 : half + 12, third]];
      const figure = CapExplorer.compose(width, third + COURSE, [
        [map(seen, side, tools), narrow ? (width - side) / 2 : 0, 0],
        [scale(seen, side, tools), narrow ? (width - side) / 2 : 0, side + 8],
        [images(data, seen, rest, row, tools), narrow ? 0 : side + 24, narrow ? top + 4 : 0],
        ...panels,
      ]);
      figure.panels = panels;
      const others = data.starts.filter((_, i) => i !== start).map((each) => correlation(seen.pixels, each[at].pixels));
      const usual = correlation(seen.pixels, run[data.decays.indexOf(1)].pixels), linear = d3.sum(seen.pixels);
      return {
        figure,
        label: `Capacity of 8 × 8 pixels at weight decay ${data.decays[at]}, the images with most and least, and courses over the weight decay.`,
        readout: `${number(seen.total, seen.total < 10 ? 1 : 0)} parameters count, ${number(linear, linear < 10 ? 1 : 0)} of them for linear functions of the pixels. ` +
          `Loss on test images ${number(seen.losses.tests)}; left out ${number(seen.losses["left out"])}, with the total over N ${number(seen.losses["total over N"])}, training ${number(seen.losses.training)}. ` +
          `Recognised: ${percent(seen.tests)} of the test images. Correlation of the map ` +
          `with those of other starts: ${others.map((each) => number(each)).join(", ")}; with that of decay 1: ${number(usual)}.`,
        table: { head: ["row", "column", "capacity"], rows: cells(seen.pixels).map(({ row: r, column: c, value }) => [r, c, number(value, 3)]) },
        values: { total: seen.total, linear, tests: seen.tests, training: seen.training, losses: Object.values(seen.losses), pixels: seen.pixels, others, usual, most: seen.most.flat(), least: seen.least.flat() },
      };
    },

    // A place along the weight decays, in either panel, is the one shown.
    point({ phase, x, y, figure, data, set }) {
      const [panel, left] = figure.panels.findLast(([, left, top]) => x >= left && y >= top) ?? [];
      if (!panel || (phase !== "down" && phase !== "drag")) return;
      const decay = panel.scale("x").invert(x - left);
      set("at", d3.minIndex(data.decays, (each) => Math.abs(Math.log(each / decay))));
    },
  });
}
