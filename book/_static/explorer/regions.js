// Regions along training: a plane through three images, cut into the polygons on which a network is affine, by epoch.
//
// Data: the stored result "plane_networks" (chapters/linear_regions/plane.py): networks of two inputs, in 16 bits. The
// plane is cut here, as chapters.shared.complexity.slices.partition_slice does.
"use strict";
(() => {
  const KINDS = { right: "true labels", shuffled: "shuffled labels" };
  const percent = (value) => `${(100 * value).toFixed(0)} %`;
  const MEASURES = {  // in the list, above the curve, and how a value is written
    polygons: ["regions", "regions in this square", (value) => value.toLocaleString("en")],
    linear: ["breakpoints, segment", "breakpoints on a segment", (value) => value.toFixed(1)],
    circle: ["breakpoints, circle", "breakpoints around a circle", (value) => value.toFixed(0)],
    train: ["accuracy, training", "accuracy on training images", percent],
    test: ["accuracy, test", "accuracy on test images", percent],
  };
  const PALE = ["#DCE9F5", "#F7E0D0", "#D5EEE3", "#F3DDEB", "#F9EBC8", "#DDF0FA", "#E4E4E4", "#FFFFFF", "#CFCFEA", "#E9D9C6"];
  const DEEP = ["#1d3a57", "#5a3319", "#1d4a37", "#55294a", "#54430f", "#17455c", "#3d3d3d", "#0b0b0b", "#2f2f6b", "#453322"];

  // Layers of a packed network: (fan_in + 1) rows of fan_out numbers, weights and then biases.
  function unpacked({ widths, scales, weights }) {
    const view = new DataView(Uint8Array.from(atob(weights), (letter) => letter.charCodeAt(0)).buffer);
    let place = 0;
    return scales.map((scale, layer) => {
      const [rows, columns] = [widths[layer], widths[layer + 1]];
      const numbers = new Float64Array((rows + 1) * columns);
      for (let i = 0; i < numbers.length; i++) numbers[i] = view.getInt16(2 * place++, true) * scale;
      return { rows, columns, numbers };
    });
  }

  // Sums of a layer's units as affine functions of the plane, (constant, u, v) of each; below: the same of its inputs.
  function summed({ rows, columns, numbers }, below) {
    const sums = new Float64Array(3 * columns);
    for (let j = 0; j < columns; j++) sums[3 * j] = numbers[rows * columns + j];
    for (let i = 0; i < rows; i++) {
      const [constant, u, v] = [below[3 * i], below[3 * i + 1], below[3 * i + 2]];
      if (!constant && !u && !v) continue;
      for (let j = 0; j < columns; j++) {
        const weight = numbers[i * columns + j];
        sums[3 * j] += weight * constant;
        sums[3 * j + 1] += weight * u;
        sums[3 * j + 2] += weight * v;
      }
    }
    return sums;
  }
  const at = (sums, j, [x, y]) => sums[3 * j] + sums[3 * j + 1] * x + sums[3 * j + 2] * y;
  const middle = (polygon) => {
    let [x, y] = [0, 0];
    for (const corner of polygon) [x, y] = [x + corner[0], y + corner[1]];
    return [x / polygon.length, y / polygon.length];
  };
  function rectified(sums, place) {
    const after = new Float64Array(sums.length);
    for (let j = 0; 3 * j < sums.length; j++) {
      if (at(sums, j, place) > 0) for (let c = 3 * j; c < 3 * j + 3; c++) after[c] = sums[c];
    }
    return after;
  }

  // A convex polygon's parts on either side of a line of unit slope: [low, high], or [polygon] if all is on one.
  function halves(polygon, line, margin) {
    const heights = new Float64Array(polygon.length);
    let [least, most] = [0, 0];
    for (let i = 0; i < polygon.length; i++) {
      const height = at(line, 0, polygon[i]);
      heights[i] = Math.abs(height) <= margin ? 0 : height;
      if (heights[i] < least) least = heights[i];
      if (heights[i] > most) most = heights[i];
    }
    if (!least || !most) return [polygon];
    const low = [], high = [];
    for (let i = 0; i < polygon.length; i++) {
      const next = i + 1 < polygon.length ? i + 1 : 0, [a, b] = [polygon[i], polygon[next]];
      if (heights[i] <= 0) low.push(a);
      if (heights[i] >= 0) high.push(a);
      if (heights[i] * heights[next] < 0) {
        const part = heights[i] / (heights[i] - heights[next]);
        low.push([a[0] + part * (b[0] - a[0]), a[1] + part * (b[1] - a[1])]);
        high.push(low[low.length - 1]);
      }
    }
    return [low, high];
  }

  function parts(polygon, sums, margin) {
    let found = [polygon];
    for (let j = 0; 3 * j < sums.length; j++) {
      const steep = Math.hypot(sums[3 * j + 1], sums[3 * j + 2]);
      if (!steep) continue;
      const line = [sums[3 * j] / steep, sums[3 * j + 1] / steep, sums[3 * j + 2] / steep];
      if (halves(polygon, line, margin).length < 2) continue;
      const after = [];
      for (const part of found) after.push(...halves(part, line, margin));
      found = after;
    }
    return found;
  }

  // Polygons of the square from −half to half on which the network is affine, each with its largest logit's class.
  function cut(layers, half) {
    const margin = 1e-12 * 2 * half, square = [[-half, -half], [half, -half], [half, half], [-half, half]];
    let cells = [[square, summed(layers[0], [0, 1, 0, 0, 0, 1])]];
    for (const layer of layers.slice(1)) {
      const after = [];
      for (const [cell, sums] of cells) {
        for (const part of parts(cell, sums, margin)) after.push([part, summed(layer, rectified(sums, middle(part)))]);
      }
      cells = after;
    }
    return cells.map(([polygon, logits]) => ({ polygon, winner: largest(logits, middle(polygon)) }));
  }
  const largest = (logits, place) => d3.maxIndex(d3.range(logits.length / 3), (j) => at(logits, j, place));
  const winner = (layers, [x, y]) => {
    const inputs = layers.slice(0, -1).reduce((below, layer) => rectified(summed(layer, below), [0, 0]), [x, 0, 0, y, 0, 0]);
    return largest(summed(layers[layers.length - 1], inputs), [0, 0]);
  };

  // Class → middle of the largest square on its area that is away from the images, on a grid.
  function widest(layers, half, images, n = 32) {
    const owner = new Int8Array(n * n), side = new Uint8Array(n * n), step = (2 * half) / n, best = new Map();
    const place = (i) => -half + (i + 0.5) * step;
    const square = (i, j, own) => (i < 0 || j < 0 || owner[i * n + j] !== own ? 0 : side[i * n + j]);
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < n; j++) {
        const near = images.some(([, u, v]) => Math.hypot(place(i) - u, place(j) - v) < 0.12 * half);
        const own = (owner[i * n + j] = near ? -1 : winner(layers, [place(i), place(j)])), here = i * n + j;
        if (near) continue;
        side[here] = 1 + Math.min(square(i - 1, j, own), square(i, j - 1, own), square(i - 1, j - 1, own));
        if (side[here] > 0.09 * n && side[here] > (best.get(own)?.side ?? 0)) {
          const back = (side[here] - 1) / 2;
          best.set(own, { side: side[here], at: [place(i - back), place(j - back)] });
        }
      }
    }
    return best;
  }

  const cuts = new Map();
  function slice(data, kind, step) {
    const key = `${kind} ${step}`;
    if (!cuts.has(key)) {
      const layers = unpacked(data.kinds[kind].networks[step]), cells = cut(layers, data.half);
      const areas = cells.map(({ polygon }) => Math.abs(d3.polygonArea(polygon)));
      const paths = d3.groups(cells, (cell) => cell.winner)
        .map(([winner, some]) => [winner, some.map(({ polygon }) => `M${polygon.map((corner) => corner.map((c) => c.toFixed(3)).join()).join("L")}Z`).join("")]);
      const perimeter = d3.sum(cells, ({ polygon }) => d3.polygonLength(polygon));
      cuts.set(key, { areas, paths, boundary: (perimeter - 8 * data.half) / 2, digits: widest(layers, data.half, data.images) });
    }
    return cuts.get(key);
  }

  function controls({ data }) {
    const { epochs } = data;
    return [
      { name: "labels", label: "Learns", type: "select", options: Object.entries(KINDS), value: "right" },
      { name: "step", label: "Epochs:", type: "range", min: 0, max: epochs.length - 1, value: epochs.length - 1, format: (step) => String(epochs[step]) },
      { name: "measure", label: "Curve", type: "select", options: Object.entries(MEASURES).map(([name, [text]]) => [name, text]), value: "polygons" },
    ];
  }

  let curve = null;  // of the last drawing: where it is, and its axis of epochs

  function draw({ data, state, width, dark, Plot, colours }) {
    const { labels, step, measure } = state, { epochs, half, images } = data;
    const found = slice(data, labels, step), kind = data.kinds[labels];
    const wide = width >= 560, side = wide ? Math.round(0.56 * width) : width;
    const right = wide ? width - side - 12 : width, below = wide ? side : 180;
    const height = wide ? side : side + 8 + below;
    const figure = d3.create("svg").attr("viewBox", [0, 0, width, height]).attr("width", width).attr("height", height);

    const x = d3.scaleLinear([-half, half], [0, side]), y = d3.scaleLinear([-half, half], [side, 0]);
    const plane = figure.append("g").attr("transform", `translate(${side / 2},${side / 2}) scale(${side / (2 * half)},${-side / (2 * half)})`);
    for (const [winner, path] of found.paths) {
      plane.append("path").attr("d", path).attr("fill", (dark ? DEEP : PALE)[winner]).attr("stroke", colours.text)
        .attr("stroke-width", wide ? 0.45 : 0.35).attr("vector-effect", "non-scaling-stroke").attr("stroke-linejoin", "bevel");
    }
    for (const [winner, { at: [u, v] }] of found.digits) {
      figure.append("rect").attr("x", x(u) - 7).attr("y", y(v) - 9).attr("width", 14).attr("height", 18).attr("rx", 2)
        .attr("fill", colours.surface).attr("stroke", colours.muted);
      figure.append("text").attr("x", x(u)).attr("y", y(v) + 4.5).attr("text-anchor", "middle").attr("fill", "currentColor").text(winner);
    }
    for (const [digit, u, v] of images) {
      figure.append("circle").attr("cx", x(u)).attr("cy", y(v)).attr("r", 5).attr("fill", colours.series(1)).attr("stroke", colours.surface);
      figure.append("text").attr("x", x(u) + 8).attr("y", y(v) - 5).attr("fill", "currentColor").attr("font-size", 15).attr("font-weight", 700)
        .attr("stroke", colours.surface).attr("stroke-width", 3).attr("paint-order", "stroke").text(digit);
    }

    const [, title, written] = MEASURES[measure];
    const rows = Object.keys(KINDS).flatMap((name, i) => epochs.map((epoch, s) => ({ name, i, s, value: data.kinds[name][measure][s] })));
    const ends = rows.filter(({ s }) => s === epochs.length - 1), top = written === percent ? 1 : d3.max(rows, ({ value }) => value);
    const plot = Plot.plot({
      width: right, height: below, marginLeft: 44, marginRight: 14, marginTop: 30, marginBottom: 38,
      x: { type: "point", domain: d3.range(epochs.length) },
      y: { domain: [0, 1.12 * top] },
      marks: [
        Plot.axisX({ ticks: d3.range(0, epochs.length), tickFormat: (s) => (right < 420 && s && (epochs.length - 1 - s) % 2 ? "" : epochs[s]), label: "epochs of training", labelAnchor: "center", color: colours.text }),
        Plot.axisY({ ticks: 5, label: null, color: colours.text, tickFormat: written }),
        Plot.gridY({ ticks: 5, stroke: colours.grid, strokeOpacity: 1 }),
        Plot.text([title], { frameAnchor: "top-left", dx: -40, dy: -26, fill: colours.text, fontWeight: 600 }),
        Plot.ruleX([step], { stroke: colours.accent, strokeWidth: 1.5 }),
        ...[0, 1].map((kind) => Plot.line(rows.filter(({ i }) => i === kind),
          { x: "s", y: "value", stroke: colours.series(kind), strokeWidth: 2, strokeDasharray: kind ? "5,4" : null })),
        Plot.dot(rows, { x: "s", y: "value", symbol: ({ i }) => (i ? "square" : "circle"), r: 3, fill: ({ i }) => colours.series(i) }),
        Plot.dot(rows.filter(({ s, name }) => s === step && name === labels), { x: "s", y: "value", r: 6, stroke: colours.text, strokeWidth: 2 }),
        ...ends.map((end, i) => {  // above, or below, all of the curve that the name covers
          const above = end.value > ends[1 - i].value || (i && end.value === ends[0].value);
          const covered = rows.filter((row) => row.i === i && row.s > epochs.length - 5);
          return Plot.text([end], { x: "s", y: () => (above ? d3.max : d3.min)(covered, ({ value }) => value), text: () => KINDS[end.name],
            textAnchor: "end", dx: 6, dy: above ? -13 : 15, fill: colours.series(i), stroke: colours.surface, strokeWidth: 4 });
        }),
      ],
    });
    const [left, upper] = wide ? [side + 12, 0] : [0, side + 8];
    figure.append(() => d3.select(plot).attr("x", left).attr("y", upper).node());
    curve = { left, upper, right, below, scale: plot.scale("x") };

    const of = (name) => MEASURES[name][2](kind[name][step]), regions = MEASURES.polygons[2](found.areas.length);
    const node = CapExplorer.element("div");
    node.append(
      CapExplorer.element("div", {}, `${regions} regions in this square. Breakpoints: ${of("linear")} on a segment between two images, ${of("circle")} around a circle.`),
      CapExplorer.element("div", {}, `Accuracy: ${of("train")} training, ${of("test")} test.`),
    );
    return {
      figure: figure.node(),
      label: `The plane through three images, cut into ${regions} polygons; network after ${epochs[step]} epochs with ${KINDS[labels]}. ` +
        `Beside it, ${title} over the epochs, for both kinds of labels.`,
      readout: node,
      table: {
        head: ["epochs", ...Object.values(MEASURES).map(([each]) => each)],
        rows: epochs.map((epoch, s) => [epoch, ...Object.entries(MEASURES).map(([name, [, , shown]]) => shown(kind[name][s]))]),
      },
      values: {
        polygons: found.areas.length, areas: [...found.areas].sort((a, b) => a - b), boundary: found.boundary,
        ...Object.fromEntries(["linear", "circle", "train", "test"].map((name) => [name, kind[name][step]])),
      },
    };
  }

  // A place on the curve is an epoch.
  function point({ phase, x, y, data, set }) {
    if (!curve || (phase !== "down" && phase !== "drag")) return;
    const { left, upper, right, below, scale } = curve;
    if (x < left || x > left + right || y < upper || y > upper + below) return;
    const away = data.epochs.map((_, step) => Math.abs(scale.apply(step) - (x - left)));
    set("step", d3.minIndex(away));
  }

  CapExplorer.register("regions", { controls, draw, point });
})();
