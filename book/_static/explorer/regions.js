// Regions along training: a plane through three images, cut into the polygons on which a network is affine, by epoch.
//
// Data: the stored result "plane_networks" (chapters/linear_regions/plane.py): networks of two inputs, in 16 bits. The
// plane is cut here, as capcore.complexity.slices.partition_slice does.
"use strict";
(() => {
  const KINDS = { right: "true labels", shuffled: "shuffled labels" };
  const MEASURES = {
    polygons: ["regions in this square", (value) => value.toLocaleString("en")],
    linear: ["breakpoints on a segment", (value) => value.toFixed(1)],
    circle: ["breakpoints around a circle", (value) => value.toFixed(0)],
    train: ["right on training images", (value) => `${(100 * value).toFixed(0)} %`],
    test: ["right on new images", (value) => `${(100 * value).toFixed(0)} %`],
  };
  const PALE = ["#DCE9F5", "#F7E0D0", "#D5EEE3", "#F3DDEB", "#F9EBC8", "#DDF0FA", "#E4E4E4", "#FFFFFF", "#CFCFEA", "#E9D9C6"];
  const DEEP = ["#1d3a57", "#5a3319", "#1d4a37", "#55294a", "#54430f", "#17455c", "#3d3d3d", "#0b0b0b", "#2f2f6b", "#453322"];

  // Layers of a packed network: for each unit its weights and, last, its bias.
  function unpacked({ widths, scales, weights }) {
    const bytes = Uint8Array.from(atob(weights), (letter) => letter.charCodeAt(0));
    const view = new DataView(bytes.buffer);
    let place = 0;
    return scales.map((scale, layer) => {
      const units = Array.from({ length: widths[layer + 1] }, () => new Float64Array(widths[layer] + 1));
      for (let i = 0; i <= widths[layer]; i++) {
        for (const unit of units) unit[i] = view.getInt16(2 * place++, true) * scale;
      }
      return units;
    });
  }

  // Sums of affine functions (constant, u, v) of the plane: what each unit of a layer adds up.
  const summed = (units, below) => units.map((unit) => {
    const sum = [unit[below.length], 0, 0];
    for (let i = 0; i < below.length; i++) for (let c = 0; c < 3; c++) sum[c] += unit[i] * below[i][c];
    return sum;
  });
  const at = ([constant, u, v], [x, y]) => constant + u * x + v * y;
  const middle = (polygon) => [d3.mean(polygon, (corner) => corner[0]), d3.mean(polygon, (corner) => corner[1])];

  // A convex polygon's parts on either side of a line of unit slope.
  function halves(polygon, line, margin) {
    const heights = polygon.map((corner) => at(line, corner)).map((h) => (Math.abs(h) <= margin ? 0 : h));
    if (Math.min(...heights) >= 0 || Math.max(...heights) <= 0) return [polygon];
    const low = [], high = [];
    heights.forEach((h, i) => {
      const next = (i + 1) % heights.length;
      if (h <= 0) low.push(polygon[i]);
      if (h >= 0) high.push(polygon[i]);
      if (h * heights[next] < 0) {
        const part = h / (h - heights[next]), [a, b] = [polygon[i], polygon[next]];
        low.push([a[0] + part * (b[0] - a[0]), a[1] + part * (b[1] - a[1])]);
        high.push(low[low.length - 1]);
      }
    });
    return [low, high];
  }

  function parts(polygon, sums, margin) {
    let found = [polygon];
    for (const sum of sums) {
      const steep = Math.hypot(sum[1], sum[2]);
      if (!steep) continue;
      const line = sum.map((each) => each / steep), heights = polygon.map((corner) => at(line, corner));
      if (Math.min(...heights) < -margin && Math.max(...heights) > margin) {
        found = found.flatMap((each) => halves(each, line, margin));
      }
    }
    return found;
  }

  // Polygons of the square from −half to half, with the class of the largest logit in the middle of each.
  function cut(layers, half) {
    const margin = 1e-12 * 2 * half, inputs = [[0, 1, 0], [0, 0, 1]];
    let cells = [[[[-half, -half], [half, -half], [half, half], [-half, half]], summed(layers[0], inputs)]];
    for (const units of layers.slice(1)) {
      cells = cells.flatMap(([cell, sums]) => parts(cell, sums, margin).map((part) => {
        const centre = middle(part);
        return [part, summed(units, sums.map((sum) => (at(sum, centre) > 0 ? sum : [0, 0, 0])))];
      }));
    }
    return cells.map(([polygon, logits]) => {
      const centre = middle(polygon);
      return { polygon, winner: d3.maxIndex(logits, (logit) => at(logit, centre)) };
    });
  }

  // Class → middle of the largest square on its area that is away from the images, on a grid.
  function widest(cells, half, images, n = 64) {
    const owner = new Int8Array(n * n).fill(-1), depth = new Uint8Array(n * n), step = (2 * half) / n;
    const place = (i) => -half + (i + 0.5) * step;
    for (const { polygon, winner } of cells) {
      const [us, vs] = [0, 1].map((axis) => d3.extent(polygon, (corner) => corner[axis]).map((each) => (each + half) / step - 0.5));
      for (let i = Math.ceil(us[0]); i <= us[1]; i++) {
        for (let j = Math.ceil(vs[0]); j <= vs[1]; j++) {
          if (d3.polygonContains(polygon, [place(i), place(j)])) owner[i * n + j] = winner;
        }
      }
    }
    const best = new Map();
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < n; j++) {
        const own = owner[i * n + j], near = images.some(([, u, v]) => Math.hypot(place(i) - u, place(j) - v) < 0.12 * half);
        if (own < 0 || near) continue;
        const same = (a, b) => a >= 0 && b >= 0 && owner[a * n + b] === own;
        depth[i * n + j] = same(i - 1, j) && same(i, j - 1) && same(i - 1, j - 1)
          ? 1 + Math.min(depth[(i - 1) * n + j], depth[i * n + j - 1], depth[(i - 1) * n + j - 1])
          : 1;
        const side = depth[i * n + j];
        if (side >= 0.09 * n && side > (best.get(own)?.side ?? 0)) {
          best.set(own, { side, at: [place(i - side / 2 + 0.5), place(j - side / 2 + 0.5)] });
        }
      }
    }
    return best;
  }

  const cuts = new Map();
  function slice(data, kind, step) {
    const key = `${kind} ${step}`;
    if (!cuts.has(key)) {
      const cells = cut(unpacked(data.kinds[kind].networks[step]), data.half);
      const areas = cells.map(({ polygon }) => Math.abs(d3.polygonArea(polygon)));
      const paths = d3.groups(cells, (cell) => cell.winner)
        .map(([winner, some]) => [winner, some.map(({ polygon }) => `M${polygon.map((corner) => corner.map((c) => c.toFixed(3)).join()).join("L")}Z`).join("")]);
      const perimeter = d3.sum(cells, ({ polygon }) => d3.polygonLength(polygon));
      cuts.set(key, { areas, paths, boundary: (perimeter - 8 * data.half) / 2, digits: widest(cells, data.half, data.images) });
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

    const [title, text] = MEASURES[measure];
    const rows = Object.keys(KINDS).flatMap((name, i) => epochs.map((epoch, s) => ({ name, i, s, value: data.kinds[name][measure][s] })));
    const percent = measure === "train" || measure === "test";
    const ends = rows.filter(({ s }) => s === epochs.length - 1), top = percent ? 1 : d3.max(rows, ({ value }) => value);
    const plot = Plot.plot({
      width: right, height: below, marginLeft: 44, marginRight: 14, marginTop: 30, marginBottom: 38,
      x: { type: "point", domain: d3.range(epochs.length) },
      y: { domain: [0, 1.12 * top] },
      marks: [
        Plot.axisX({ ticks: d3.range(0, epochs.length), tickFormat: (s) => (right < 300 && s % 2 && s < 11 ? "" : epochs[s]), label: "epochs of training", labelAnchor: "center", color: colours.text }),
        Plot.axisY({ ticks: 5, label: null, color: colours.text, tickFormat: percent ? "~%" : "~s" }),
        Plot.gridY({ ticks: 5, stroke: colours.grid, strokeOpacity: 1 }),
        Plot.text([title], { frameAnchor: "top-left", dx: -40, dy: -26, fill: colours.text, fontWeight: 600 }),
        Plot.ruleX([step], { stroke: colours.accent, strokeWidth: 1.5 }),
        ...[0, 1].map((kind) => Plot.line(rows.filter(({ i }) => i === kind),
          { x: "s", y: "value", stroke: colours.series(kind), strokeWidth: 2, strokeDasharray: kind ? "5,4" : null })),
        Plot.dot(rows, { x: "s", y: "value", symbol: ({ i }) => (i ? "square" : "circle"), r: 3, fill: ({ i }) => colours.series(i) }),
        Plot.dot(rows.filter(({ s, name }) => s === step && name === labels), { x: "s", y: "value", r: 6, stroke: colours.text, strokeWidth: 2 }),
        ...ends.map((end, i) => Plot.text([end], { x: "s", y: "value", text: () => KINDS[end.name], textAnchor: "end", dx: 6,
          dy: end.value > ends[1 - i].value || (i && end.value === ends[0].value) ? -13 : 15, fill: colours.series(i), stroke: colours.surface, strokeWidth: 4 })),
      ],
    });
    const [left, upper] = wide ? [side + 12, 0] : [0, side + 8];
    figure.append(() => d3.select(plot).attr("x", left).attr("y", upper).node());
    curve = { left, upper, right, below, scale: plot.scale("x") };

    const of = (name) => MEASURES[name][1](kind[name][step]), regions = found.areas.length.toLocaleString("en");
    const node = CapExplorer.element("div");
    node.append(
      CapExplorer.element("div", {}, `${regions} regions in this square. Breakpoints: ${of("linear")} on a segment between two images, ${of("circle")} around a circle through three.`),
      CapExplorer.element("div", {}, `Right: ${of("train")} of the training labels, ${of("test")} of new images.`),
    );
    return {
      figure: figure.node(),
      label: `The plane through three images, cut into ${regions} polygons; network after ${epochs[step]} epochs with ${KINDS[labels]}. ` +
        `Beside it, ${title} over the epochs, for both kinds of labels.`,
      readout: node,
      table: {
        head: ["epochs", ...Object.values(MEASURES).map(([each]) => each)],
        rows: epochs.map((epoch, s) => [epoch, ...Object.entries(MEASURES).map(([name, [, shown]]) => shown(kind[name][s]))]),
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
