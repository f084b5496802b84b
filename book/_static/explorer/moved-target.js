// What an optimum holds fixed, with two inputs and one parameter: the target moves, and the model is trained again here.
//
// data: target [2], correlation of the inputs, models [{name, powers: two polynomials of the parameter, constant first,
// use: [least, largest] parameter drawn in full}]; and if they differ from those below, inputs: two names, far: the
// largest move, box: [[left, right], [bottom, top]] that is drawn.
"use strict";
{
  const HALF = 1, STEP = 0.01, NARROW = 560;
  const inputsOf = ({ inputs = ["lag 0", "lag 1"] }) => inputs;
  const farOf = ({ far = 0.7 }) => far;
  const boxOf = ({ box, target }) => box ?? target.map((c) => [c - HALF, c + HALF]);

  // Polynomials are lists of coefficients, constant first.
  const value = (p, w) => p.reduceRight((sum, c) => sum * w + c, 0);
  const slope = (p) => p.slice(1).map((c, i) => c * (i + 1));
  const sum = (p, q) => (p.length < q.length ? sum(q, p) : p.map((c, i) => c + (q[i] ?? 0)));
  const product = (p, q) => p.map((c, i) => [...Array(i).fill(0), ...q.map((d) => c * d)]).reduce(sum);

  // Where a polynomial with a leading coefficient other than zero changes sign, ascending: once between its extrema.
  function roots(p) {
    const lead = p[p.length - 1];
    if (p.length === 1) return [];
    const bound = 1 + Math.max(...p.map((c) => Math.abs(c / lead)));
    const edges = [-bound, ...roots(slope(p)), bound];
    return d3.pairs(edges).filter(([a, b]) => value(p, a) < 0 !== value(p, b) < 0).map(([a, b]) => {
      for (let i = 0; i < 200; i++) {
        const middle = (a + b) / 2;
        if (value(p, middle) < 0 === value(p, a) < 0) a = middle;
        else b = middle;
      }
      return (a + b) / 2;
    });
  }

  const plus = (a, b, step = 1) => [a[0] + step * b[0], a[1] + step * b[1]];
  const dot = (a, b) => a[0] * b[0] + a[1] * b[1];
  const times = (rho, [a, b]) => [a + rho * b, rho * a + b];  // the covariance Σ, for inputs of variance 1

  // The parameter of least loss (A − A*)ᵀΣ(A − A*), what it gives, and the other minima.
  function trained({ powers }, target, rho) {
    const at = (w) => powers.map((p) => value(p, w));
    const error = (w) => plus(at(w), target, -1);
    const loss = (w) => dot(error(w), times(rho, error(w)));
    const errors = powers.map((p, i) => sum(p, [-target[i]])), [first, second] = powers.map(slope);
    const pulls = [sum(errors[0], errors[1].map((c) => rho * c)), sum(errors[0].map((c) => rho * c), errors[1])];
    const gradient = sum(product(first, pulls[0]), product(second, pulls[1]));
    const minima = roots(gradient).filter((w) => value(slope(gradient), w) > 0).sort((v, w) => loss(v) - loss(w));
    const parameter = minima[0], k = times(rho, [value(first, parameter), value(second, parameter)]);
    const length = Math.hypot(...k) * (k[0] < 0 || (k[0] === 0 && k[1] < 0) ? -1 : 1);
    const space = k.map((each) => each / length);  // 𝒦 is the line through ΣJ
    return { parameter, model: at(parameter), loss: loss(parameter), space, others: minima.slice(1).map(at) };
  }

  // Before and after the move; the two directions of the sliders.
  function situation(data, state) {
    const model = data.models[state.model];
    const before = { target: data.target, ...trained(model, data.target, state.correlation) };
    const [a, b] = before.space;
    const axes = state.ways === "space" ? [[a, b], [-b, a]] : [[1, 0], [0, 1]];
    const target = plus(plus(data.target, axes[0], state.first), axes[1], state.second);
    return { data, model, rho: state.correlation, axes, before, after: { target, ...trained(model, target, state.correlation) } };
  }

  const signed = (x) => x.toFixed(2).replace(/^-0.00$/, "0.00").replace("-", "−");
  const point2 = (p) => `(${p.map(signed).join(", ")})`;

  function plane({ data, model, rho, before, after }, side, few, { Plot, colours }) {
    const centre = before.target, box = boxOf(data), far = farOf(data), inputs = inputsOf(data), [left, top] = [44, 14];
    const [wide, high] = box.map(([a, b]) => b - a), room = side - left - 10, unit = room / wide;
    const curve = (from, to) => d3.range(from, to + 1e-9, (to - from) / 400).map((w) => model.powers.map((p) => value(p, w)));
    const across = [-before.space[1], before.space[0]];
    const reach = few ? 1.25 * far : 3, guide = (way) => [-reach, reach].map((step) => plus(centre, way, step));
    const inside = (p, edge) => p.every((each, i) => each > box[i][0] + edge[0] / unit && each < box[i][1] - edge[i ? 2 : 1] / unit);
    const level = d3.range(0, 361, 3).map((degrees) => {  // where the loss is as the trained model's
      const way = [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)];
      return plus(after.target, way, Math.sqrt(after.loss / dot(way, times(rho, way))));
    });
    const named = [before.target, before.model, after.model, plus(centre, before.space, -reach), plus(centre, across, reach)];
    const apart = (p) => Math.min(...named.map((q) => Math.hypot(...plus(p, q, -1))));
    const equal = d3.greatest(level.filter((p) => inside(p, [50, 50, 20])), apart);
    const use = curve(...model.use), end = d3.greatestIndex(use, (p) => (inside(p, [20, 10, 10]) ? p[0] : -Infinity));
    const rises = use[end][1] > use[end > 0 ? end - 1 : 0][1];
    const gone = Math.hypot(...plus(after.target, before.target, -1)) * unit, right = after.target[0] > before.target[0];
    const above = after.model[1] > after.target[1];  // then the names change sides, so that none hides a mark
    const was = gone < 30 ? [] : [[before.target, "target before"], [before.model, "model before"]].slice(
      0, Math.hypot(...plus(after.model, before.model, -1)) * unit < 30 ? 1 : 2);
    const line = (points, options) => Plot.line(points, { clip: true, ...options });
    const move = (from, to, stroke) =>
      Plot.arrow([[from, to]].filter(([p, q]) => Math.hypot(...plus(p, q, -1)) > 1e-6), {
        x1: (d) => d[0][0], y1: (d) => d[0][1], x2: (d) => d[1][0], y2: (d) => d[1][1], stroke, strokeWidth: 2.5, insetEnd: 5,
      });
    const dots = (points, options) => Plot.dot(points, { r: 5, strokeWidth: 2, clip: true, ...options });
    const text = (p, said, options) =>
      Plot.text([p], { text: () => said, stroke: colours.surface, strokeWidth: 4, fontSize: 12, ...options });
    return Plot.plot({
      width: side, height: unit * high + top + 40, marginLeft: left, marginRight: 10, marginTop: top, marginBottom: 40,
      x: { domain: box[0], label: `coefficient of ${inputs[0]}`, labelAnchor: "center", labelArrow: "none", ticks: 5 },
      y: { domain: box[1], label: `coefficient of ${inputs[1]}`, labelAnchor: "center", labelArrow: "none", ticks: 5 },
      marks: [
        Plot.frame({ stroke: colours.grid }),
        line(level, { stroke: colours.muted, strokeWidth: 1 }),
        line(guide(before.space), { stroke: colours.series(1), strokeWidth: 1.5 }),
        line(guide(across), { stroke: colours.series(2), strokeWidth: 1.5, strokeDasharray: "6 4" }),
        line(curve(-4, 5), { stroke: colours.series(0), strokeWidth: 1.2, strokeDasharray: "1.5 3" }),
        line(curve(...model.use), { stroke: colours.series(0), strokeWidth: 2.6 }),
        line([after.target, after.model], { stroke: colours.text, strokeDasharray: "2 3" }),
        text(plus(centre, before.space, few ? -reach : -0.88), few ? "along the line" : "along 𝒦", { fill: colours.text, dy: -9 }),
        text(plus(centre, across, few ? reach : -0.8), few ? "across it" : "across 𝒦: 𝒦⊥", { fill: colours.text, dy: -9 }),
        equal && apart(equal) * unit > 40 ? text(equal, "equal error", { fill: colours.muted }) : null,
        text(use[end], model.name, { fill: colours.series(0), dy: rises ? -12 : 16, textAnchor: "end" }),
        was.map(([p, said]) => text(p, said, { fill: colours.muted, dx: right ? -10 : 10, textAnchor: right ? "end" : "start" })),
        move(before.target, after.target, colours.accent),
        move(before.model, after.model, colours.series(0)),
        dots([before.target], { stroke: colours.accent, fill: colours.surface }),
        dots([before.model], { stroke: colours.series(0), fill: colours.surface }),
        dots(after.others, { stroke: colours.muted, symbol: "times", strokeWidth: 2 }),
        dots([after.target], { stroke: colours.surface, fill: colours.accent, r: 8 }),
        dots([after.model], { stroke: colours.surface, fill: colours.series(0), r: 6 }),
        text(after.target, few && gone < 1 ? "target: drag it" : "target", { dy: above ? 20 : -16, fill: colours.accent, fontWeight: "bold" }),
        text(after.model, few ? "trained model" : "model", { dy: above ? -16 : 18, dx: few ? 6 : 0, textAnchor: few ? "start" : "middle", fill: colours.series(0), fontWeight: "bold" }),
      ],
    });
  }

  // The axes of both inputs dropped onto 𝒦; the squared length of a shadow is the capacity of the input.
  function shadows(k, inputs, side, { Plot, colours }) {
    const domain = [-0.6, 1.3], tips = [[1, 0], [0, 1]], ends = k.map((part) => k.map((each) => part * each));
    const names = tips.map((tip, i) => `${inputs[i]}: ${(k[i] ** 2).toFixed(2)}`), looks = [colours.text, colours.series(3)];
    const each = (draw) => tips.map((tip, i) => draw(tip, ends[i], looks[i], i));
    const line = (points, options) => Plot.line(points, { clip: true, ...options });
    return Plot.plot({
      width: side, height: side, margin: 4, x: { domain, axis: null }, y: { domain, axis: null },
      marks: [
        Plot.text(["squared shadow on 𝒦 = capacity"], { frameAnchor: "top", fontSize: 12 }),
        line([-3, 3].map((step) => plus([0, 0], k, step)), { stroke: colours.series(1), strokeWidth: 1.5 }),
        each((tip, end, stroke, i) => line([[0, 0], end], { stroke, strokeWidth: 8 - 4 * i })),
        each((tip, end, stroke) => line([tip, end], { stroke, strokeDasharray: "2 3" })),
        each((tip, end, stroke) =>
          Plot.arrow([tip], { x1: 0, y1: 0, x2: (d) => d[0], y2: (d) => d[1], stroke, strokeWidth: 2 })),
        Plot.text([[1, -0.02]], { text: [names[0]], fill: colours.text, dy: 12, textAnchor: "end", fontWeight: "bold" }),
        Plot.text([[0, 1]], { text: [names[1]], fill: colours.text, dy: -9, textAnchor: "middle", fontWeight: "bold" }),
        Plot.text([plus([0, 0], k, -0.45)], { text: ["𝒦"], fill: colours.text, dx: -12 * k[1], dy: -12 * k[0], fontSize: 13 }),
      ],
    });
  }

  function inFewWords({ moved, still, along, across }) {
    if (still) return "Drag the target along the line, then across it. Does the trained model follow?";
    const only = Math.abs(across) < 1e-9 ? "It follows." : Math.abs(along) < 1e-9 ? "It stays where it was."
      : "It follows the part along the line alone.";
    return `${moved} ${only}`;
  }

  let held = false;

  CapExplorer.register("moved-target", {
    drag: true,
    about: (few) =>
      few
        ? "Drag the target, or use the sliders. The blue line has all pairs of coefficients that the model can have. On the grey " +
          "circle the error is as large as the trained model’s: training finds the point of the line on the smallest circle. " +
          "Rings: target and trained model before the move."
        : "Drag the target, or use the sliders. Blue curve: the coefficients that the model can have, dotted where its parameter " +
          "is out of use. Rings: target and trained model before the move. Lines through the ring: along 𝒦 and across 𝒦, there. " +
          "Grey: where the error is as large as the trained model’s. At the side: the axes of both inputs dropped onto 𝒦, " +
          "where the model is now.",

    controls({ data, state, few }) {
      const far = farOf(data), inputs = inputsOf(data);
      const ways = few ? ["along the line", "across it"]
        : (state.ways ?? "space") === "space" ? ["along 𝒦", "across 𝒦"] : inputs.map((name) => `at ${name}`);
      const slider = (name, way) =>
        ({ name, label: `Target moves ${way}`, type: "range", min: -far, max: far, step: STEP, value: 0, format: signed });
      return [
        slider("first", ways[0]),
        slider("second", ways[1]),
        { name: "ways", label: "Sliders", type: "select", value: "space",
          options: [["space", "along and across 𝒦"], ["inputs", "input by input"]] },
        { name: "model", label: "Model", type: "select", value: 0, options: data.models.map(({ name }, i) => [i, name]) },
        { name: "correlation", label: "Inputs’ correlation", type: "range", min: -0.95, max: 0.95, step: STEP,
          value: data.correlation, format: signed },
      ];
    },

    draw({ data, state, width, few, Plot, colours }) {
      const found = situation(data, state), { before, after } = found, k = before.space, inputs = inputsOf(data);
      const narrow = width < NARROW, side = narrow ? Math.min(width, 380) : Math.min(430, 0.6 * width);
      const small = narrow ? 200 : Math.min(260, width - side - 20);
      const square = plane(found, few ? Math.min(width, 480) : side, few, { Plot, colours });
      const beside = () => shadows(after.space, inputs, small, { Plot, colours });
      const place = narrow ? [(width - small) / 2, side] : [side + 20, (side - small) / 2];
      const figure = few ? square
        : CapExplorer.compose(width, narrow ? side + small : side, [[square, 0, 0], [beside(), ...place]]);
      figure.plane = square;
      const step = plus(after.target, before.target, -1), answer = plus(after.model, before.model, -1);
      const along = dot(step, k), across = dot(step, [-k[1], k[0]]);
      const capacities = after.space.map((each) => each ** 2);
      const response = Math.hypot(...answer).toFixed(2), still = Math.max(Math.abs(along), Math.abs(across)) < 1e-9;
      const moved = `The target has moved ${signed(along)} along ${few ? "the line" : "𝒦"} and ${signed(across)} across it; the trained ` +
        `model has moved ${response}.`;
      const said = few ? inFewWords({ moved, still, along, across })
        : `${still ? "Nothing has moved yet: drag the target along 𝒦, then across it." : moved} ` +
          `Capacity: ${capacities.map((each, i) => `${each.toFixed(2)} at ${inputs[i]}`).join(", ")}.` +
          (after.others.length ? " The grey cross is another optimum, with a larger loss." : "");
      const row = (name, { target, model, loss, space }) =>
        [name, point2(target), point2(model), loss.toPrecision(3), ...space.map((each) => (each ** 2).toFixed(3))];
      return {
        figure,
        label: `Target at ${point2(after.target)}, trained model at ${point2(after.model)}; before the move, at ` +
          `${point2(before.target)} and ${point2(before.model)}.`,
        readout: said,
        table: {
          head: ["", "target", "model", "loss", ...inputs.map((name) => `capacity, ${name}`)],
          rows: [row("before", before), row("after", after)],
        },
        values: { target: after.target, model: after.model, parameter: after.parameter, loss: after.loss, capacities, along, across,
          response: Math.hypot(...answer), others: after.others },
      };
    },

    // The target goes where the pointer is, and stays on the guides when it is close to one.
    point({ phase, x, y, figure, data, state, set }) {
      const [left, below] = ["x", "y"].map((axis) => figure.plane.scale(axis));
      const at = [left.invert(x), below.invert(y)], { axes } = situation(data, state), box = boxOf(data);
      if (phase === "down") held = at.every((each, i) => each >= box[i][0] && each <= box[i][1]);
      if (held && (phase === "down" || phase === "drag")) {
        const [first, second] = axes.map((axis) => dot(plus(at, data.target, -1), axis)).map((to) => (Math.abs(to) < 0.06 * farOf(data) ? 0 : to));
        set({ first, second });
      }
      if (phase === "up") held = false;
    },
  });
}
