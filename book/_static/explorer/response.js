// What an optimum holds fixed, with 64 inputs: one coefficient of the target moves, and all trained coefficients answer.
//
// data: the stored result optimum_responses, {model: {total, bounds, capacities, squares, columns}}.
"use strict";
{
  const NARROW = 560, PROFILE = 120, MOVES = 170;

  const number = (x, digits = 2) => x.toFixed(digits).replace("-", "−");
  const chosen = (data, { model, lag }) => ({ ...data[model], lag, column: data[model].columns[lag] });

  // Bars over the lags, the most recent at the right.
  function bars(values, width, height, marks, { Plot, colours }, options) {
    const each = values.map((value, lag) => ({ value, lag }));
    return Plot.plot({
      width, height, marginLeft: 44, marginRight: 8, marginTop: 20, marginBottom: 22,
      x: { domain: [values.length - 0.5, -0.5], label: null },
      y: { label: null, ticks: [0, 0.5, 1], ...options.y },
      marks: [
        Plot.ruleY([0], { stroke: colours.muted }),
        Plot.rectY(each, { x1: (d) => d.lag - 0.5, x2: (d) => d.lag + 0.5, y: "value", inset: width < 400 ? 0.2 : 0.5, fill: options.fill }),
        ...marks,
        Plot.text([options.title], { frameAnchor: "top-left", dy: -18, dx: -40, fontWeight: "bold" }),
        ...options.axis,
      ],
    });
  }

  // Squared response against capacity, for all inputs, and the band that both bounds allow.
  function scatter({ capacities, squares, bounds: [low, high], lag }, width, height, { Plot, colours }) {
    const smallest = d3.min(capacities) / 1.5, line = [smallest, 1];
    const tick = { ticks: 4, tickFormat: (value) => (Math.abs(Math.log10(value) % 1) < 1e-9 ? `${value}` : "") };
    return Plot.plot({
      width, height, marginLeft: 48, marginRight: 10, marginTop: 34, marginBottom: 38,
      x: { type: "log", domain: [smallest, 1.25], label: "capacity of the input", labelAnchor: "center", labelArrow: "none", ...tick },
      y: { type: "log", domain: [low * smallest, 1.25 * high], label: null, ...tick },
      marks: [
        Plot.areaY(line, { x: (k) => k, y1: (k) => low * k, y2: (k) => high * k, fill: colours.fill, fillOpacity: 0.6 }),
        Plot.dot(capacities, { x: capacities, y: squares, r: 2.5, fill: colours.series(0) }),
        Plot.dot([lag], { x: [capacities[lag]], y: [squares[lag]], r: 6, fill: colours.accent, stroke: colours.surface, strokeWidth: 1.5 }),
        Plot.text(["squared length of the\ncoefficients’ move"], { frameAnchor: "top-left", dy: -32, dx: -44, fontWeight: "bold" }),
      ],
    });
  }

  CapExplorer.register("response", {
    about:
      "Choose a lag with the slider, or click a bar or a point. Outline: the move of the target, by one at this lag. Blue bars: " +
      "how all trained coefficients move, to first order. Each point is one input; the band is what the bounds allow.",

    controls({ data }) {
      const models = Object.keys(data), n = data[models[0]].capacities.length;
      return [
        { name: "lag", label: "Target moves at lag", type: "range", min: 0, max: n - 1, value: 40, backwards: true },
        { name: "model", label: "Model", type: "select", value: models[0], options: models.map((each) => [each, each]) },
      ];
    },

    draw({ data, state, width, Plot, colours }) {
      const found = chosen(data, state), { lag, column, capacities, squares, bounds, total } = found, tools = { Plot, colours };
      const narrow = width < NARROW, left = narrow ? width : Math.round(0.64 * width), right = narrow ? width : width - left - 12;
      const all = Object.values(data).flatMap(({ columns }) => columns.flat()), last = [column.length - 1, 48, 32, 16, 0];
      const ticks = Plot.axisX({ ticks: last, label: null });
      const here = (stroke) => Plot.rect([lag], { x1: [lag - 0.5], x2: [lag + 0.5], y1: [0], y2: [1], stroke, strokeWidth: 1.5 });
      const profile = bars(capacities, left, PROFILE, [
        Plot.rect([lag], { x1: [lag - 0.5], x2: [lag + 0.5], y1: [0], y2: [capacities[lag]], fill: colours.accent }),
      ], tools, { title: "capacity of each input", fill: colours.muted, y: { domain: [0, 1] }, axis: [ticks] });
      const moves = bars(column, left, MOVES, [here(colours.accent)], tools, {
        title: "how the trained coefficients move", fill: colours.series(0), y: { domain: d3.extent([...all, 1]) },
        axis: [ticks, Plot.text(["← past · lag · now →"], { frameAnchor: "bottom", dy: 30, fill: colours.muted })],
      });
      const points = scatter(found, right, narrow ? 220 : PROFILE + MOVES + 16, tools);
      const height = PROFILE + MOVES + 16 + (narrow ? 224 : 0);
      const place = narrow ? [0, PROFILE + MOVES + 20] : [left + 12, 0];
      const figure = CapExplorer.compose(width, height, [[profile, 0, 0], [moves, 0, PROFILE], [points, ...place]]);
      const [low, high] = bounds.map((each) => each * capacities[lag]);
      Object.assign(figure, { left, below: PROFILE + MOVES, profile, points, place });
      return {
        figure,
        label: `Bars over the lags: capacity of each input, and the move of each trained coefficient when the target’s at lag ${lag} moves by 1.`,
        readout: `This input has capacity ${number(capacities[lag], 3)} of ${total} in all. When its target coefficient moves by 1, its own ` +
          `coefficient moves by ${number(column[lag])}, and all together by a squared length of ${number(squares[lag], 3)}; ` +
          `the bounds are ${number(low, 3)} and ${number(high, 3)}.`,
        table: {
          head: ["lag", "capacity", "move of its coefficient", "squared move of all, when this target coefficient moves"],
          rows: capacities.map((each, i) => [i, number(each, 4), number(column[i], 4), number(squares[i], 4)]),
        },
        values: { total, capacity: capacities[lag], square: squares[lag], own: column[lag], column, capacities, squares, low, high },
      };
    },

    point({ phase, x, y, figure, data, state, set }) {
      if (phase !== "down" && phase !== "drag") return;
      const { left, below, profile, points, place } = figure, { capacities, squares } = data[state.model];
      if (x < left && y < below) {
        set("lag", Math.round(profile.scale("x").invert(x)));
      } else {
        const [across, up] = ["x", "y"].map((name) => points.scale(name)), [dx, dy] = place;
        set("lag", d3.minIndex(capacities, (each, i) => Math.hypot(across.apply(each) + dx - x, up.apply(squares[i]) + dy - y)));
      }
    },
  });
}
