// Missed events: capacity of a dilated stack before, above what an event costs after. Data: chapters/idea/missed_events.py.
"use strict";
(() => {
  const UP = 1.36; // how far the capacities are drawn above the costs
  const back = (lag) => (lag === 0 ? "at the latest sample" : `${lag} sample${lag > 1 ? "s" : ""} back`);
  const percent = (share) => `${(100 * Math.max(0, share)).toFixed(share >= 0.0005 && share < 0.01 ? 1 : 0)}%`;

  function controls({ data }) {
    return [
      { name: "lag", label: "Event, samples back", type: "range", min: 0, max: data[1].capacity.length - 1, value: 40, backwards: true },
      { name: "channels", label: "Channels", type: "range", min: 1, max: Math.max(...Object.keys(data).map(Number)), value: 1 },
    ];
  }

  function draw({ data, state: { lag, channels }, width, Plot, colours }) {
    const { capacity, missed, cost, n_params, total } = data[channels], n = capacity.length, narrow = width < 560;
    const half = lag < n / 2, aside = { textAnchor: half ? "end" : "start", dx: half ? -7 : 7, fontWeight: 600, fill: colours.text, stroke: colours.surface, strokeWidth: 3 };
    const title = (y, dx, text, fill) => Plot.text([text], { x: n - 0.5, y, dy: -12, dx, textAnchor: "start", fill, text: (d) => d });
    const figure = Plot.plot({
      width,
      height: narrow ? 330 : 390,
      marginTop: 24,
      marginRight: 44,
      marginBottom: 40,
      marginLeft: 8,
      x: { domain: [n - 0.5, -0.5], axis: null },
      y: { domain: [0, UP + 1], axis: null },
      marks: [
        Plot.rect([lag], { x1: lag - 0.5, x2: lag + 0.5, y1: 0, y2: UP + 1, fill: colours.accent, fillOpacity: 0.25 }),
        Plot.rect(capacity, { x1: (d, i) => i - 0.5, x2: (d, i) => i + 0.5, y1: UP, y2: (d) => UP + d, fill: colours.series(0),
          insetLeft: narrow ? 0 : 0.5, insetRight: narrow ? 0 : 0.5 }),
        Plot.ruleY([0, UP], { stroke: colours.muted }),
        Plot.ruleY([1, UP + 1], { stroke: colours.muted, strokeDasharray: "4 3" }),
        Plot.lineY(missed, { x: (d, i) => i, y: (d) => d, stroke: colours.muted, strokeWidth: 1.5 }),
        Plot.dot(cost, { x: (d, i) => i, y: (d) => Math.max(0, d), r: narrow ? 1.8 : 2.5, fill: colours.series(1) }),
        Plot.dot([Math.max(0, cost[lag])], { x: lag, y: (d) => d, r: 5, fill: colours.series(1), stroke: colours.text }),
        Plot.text([capacity[lag].toFixed(2)], { x: lag, y: UP + capacity[lag], dy: -8, text: (d) => d, ...aside }),
        Plot.text([percent(cost[lag])], { x: lag, y: Math.max(0, cost[lag]), dy: -8, text: (d) => d, ...aside }),
        title(UP + 1, 0, "capacity before the event", colours.text),
        title(1, 0, "its cost after:", colours.text),
        title(1, 86, "● fitted again", colours.series(1)),
        title(1, 180, "— missed share, before", colours.muted),
        Plot.axisY([0, 0.5, 1], { y: (d) => d, anchor: "right", label: null, tickFormat: (d) => `${100 * d}%` }),
        Plot.axisY([UP, UP + 0.5, UP + 1], { anchor: "right", label: null, tickFormat: (d) => String(Math.round(100 * (d - UP)) / 100) }),
        Plot.axisX([0, n / 4, n / 2, (3 * n) / 4, n - 1], { label: "← past · samples back · now →", labelAnchor: "center", labelArrow: "none",
          tickFormat: (d) => String(d) }),
      ],
    });
    const turned = missed[lag] - cost[lag] > 0.05;
    return {
      figure,
      label: `Capacity of ${n} past samples before there is an event, and below what an event at each of them costs. ${channels} channel${channels > 1 ? "s" : ""}; the event is ${back(lag)}.`,
      readout: `Capacity ${capacity[lag].toFixed(2)}; by the fit before, an event ${back(lag)} would cost ${percent(missed[lag])} of its size. Fitted again${
        turned ? ", the stack turns to the event and" : " with it, the stack"} loses ${percent(cost[lag])}. These numbers belong to ${n_params} weights (${total} units) fitted to the power law.`,
      table: {
        head: ["samples back", "capacity", "missed share", "cost"],
        rows: capacity.map((each, i) => [i, ...[each, missed[i], cost[i]].map((value) => value.toFixed(3))]),
      },
      values: { capacity, missed, cost: cost[lag], n_params, total },
    };
  }

  function point({ phase, x, figure, set }) {
    if (phase !== "leave" && phase !== "up") set("lag", Math.round(figure.scale("x").invert(x)));
  }

  const about = "Before: the stack is fitted to the series, and has a capacity for each past sample. Then what it predicts "
    + "begins to depend more, or less, on one sample: the event. Its size is what a model loses that ignores it, here a tenth of the least forecast "
    + "error. After: the stack is fitted again, for events of either sign, and the dots are what it still loses. The line was computed "
    + "from the fit before alone. Another series has other numbers.";

  CapExplorer.register("missed-events", { controls, draw, point, about });
})();
