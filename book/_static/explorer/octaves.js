// Octaves: layers, and channels of their lower and upper half → capacity of each octave of lag, and of one input there.
// Data: "layers lower upper" → {n_params, total, loss, converged, per_octave}, as chapters/audio_scale/halves.py stores.
"use strict";
CapExplorer.register("octaves", (() => {
  const counts = (data, place) => {
    const found = new Set(Object.keys(data).map((key) => Number(key.split(" ")[place])));
    return [...found].sort((a, b) => a - b);
  };
  const first = (octave) => (octave ? 2 ** (octave - 1) : 0);  // lag 0 is an octave of its own
  const inputs = (octave) => Math.max(1, first(octave));
  const short = (n) => {
    for (const [size, unit] of [[2 ** 20, " M"], [2 ** 10, " k"]]) if (n >= size) return `${n / size}${unit}`;
    return String(n);
  };
  const lags = (octave) => {
    const [from, to] = [first(octave), first(octave) + inputs(octave) - 1].map((lag) => lag.toLocaleString("en"));
    return from === to ? `Lag ${from}` : `Lags ${from} to ${to}`;
  };
  const digits = (value, n = 3) => (value >= 1000 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(n))));

  function controls({ data, state }) {
    const layers = counts(data, 0), channels = counts(data, 1), n = state.layers ?? 14;
    const [low, high] = [channels[0], channels[channels.length - 1]];
    return [
      { name: "layers", label: "Layers", type: "range", min: layers[0], max: layers[layers.length - 1],
        step: layers[1] - layers[0], value: 14, format: (value) => `${value}: ${short(2 ** value)} inputs` },
      { name: "lower", label: "Channels below", type: "range", min: low, max: high, value: 2 },
      { name: "upper", label: "Channels above", type: "range", min: low, max: high, value: 4 },
      { name: "octave", label: "Octave from lag", type: "range", min: 0, max: n, value: n, backwards: true,
        format: (value) => short(first(value)) },
    ];
  }

  function draw({ data, state, width, Plot, colours }) {
    const { layers, lower, upper, octave } = state, fewer = Math.min(lower, upper);
    const row = data[`${layers} ${lower} ${upper}`], even = data[`${layers} ${fewer} ${fewer}`];
    const bars = row.per_octave.map((capacity, i) => ({
      i, capacity, ceiling: inputs(i), plain: even.per_octave[i], each: capacity / inputs(i),
      colour: colours.layer(Math.max(1, i), layers),
    }));
    const far = (2 * bars[layers].capacity) / row.total, share = row.total / 2 ** layers;
    const x = { type: "band", domain: bars.map(({ i }) => i).reverse(), padding: 0.15 };
    const common = { width, marginLeft: 44, marginRight: 12, color: { type: "identity" } };
    const chosen = bars.slice(octave, octave + 1);
    const every = Math.ceil((layers + 1) / (width / 40));
    const most = 1.05 * Math.max(...bars.map(({ capacity }) => capacity), ...even.per_octave);
    const above = Plot.plot({
      ...common, height: width < 500 ? 170 : 190, marginTop: 22, marginBottom: 8, x: { ...x, axis: null },
      y: { domain: [0, most], ticks: 4, grid: true, label: "capacity of the octave", labelArrow: "none" },
      marks: [
        Plot.barY(bars, { x: "i", y: "capacity", fill: "colour" }),
        Plot.barY(chosen, { x: "i", y: "capacity", fill: "none", stroke: colours.accent, strokeWidth: 3 }),
        Plot.tickY(bars.filter(({ ceiling }) => ceiling <= most),
          { x: "i", y: "ceiling", stroke: colours.text, strokeWidth: 1.5, strokeDasharray: "2 3" }),
        lower === upper ? null : Plot.tickY(bars, { x: "i", y: "plain", stroke: colours.text, strokeWidth: 2 }),
        Plot.ruleY([0], { stroke: colours.muted }),
      ],
    });
    const least = Math.min(...Object.keys(data).filter((key) => key.startsWith(`${layers} `))
      .flatMap((key) => data[key].per_octave.map((capacity, i) => capacity / inputs(i))));
    const every10 = least < 1e-3 ? 2 : 1, tiny = (v) => `10⁻${"⁰¹²³⁴⁵⁶⁷⁸⁹"[Math.round(-Math.log10(v))]}`;
    const powers = [0, 1, 2, 3].map((i) => 10 ** (-i * every10)).filter((v) => v > least / 2);
    const below = Plot.plot({
      ...common, height: width < 500 ? 150 : 160, marginTop: 26, marginBottom: 38,
      x: { ...x, label: "← past · first lag of the octave · now →", labelAnchor: "center", labelArrow: "none",
        tickFormat: (i) => (i % every === 0 ? short(first(i)) : ""), tickSize: 0 },
      y: { type: "log", domain: [least / 2, 1.6], ticks: powers, tickFormat: (v) => (v < 0.01 ? tiny(v) : v), grid: true,
        label: "capacity of one input there (dashed: an even share)", labelArrow: "none" },
      marks: [
        Plot.ruleY([share], { stroke: colours.muted, strokeDasharray: "5 4" }),
        Plot.line(bars, { x: "i", y: "each", stroke: colours.muted }),
        Plot.dot(bars, { x: "i", y: "each", fill: "colour", r: 4 }),
        Plot.dot(chosen, { x: "i", y: "each", fill: "none", stroke: colours.accent, strokeWidth: 3, r: 6 }),
      ],
    });
    const figure = CapExplorer.element("div", {}, above, below), here = bars[octave];
    figure.octaveAt = (at) => {
      const scale = above.scale("x"), from = scale.domain.map((i) => [i, Math.abs(scale.apply(i) + scale.bandwidth / 2 - at)]);
      return from.sort((a, b) => a[1] - b[1])[0][0];
    };
    const which = lower === upper ? "" : ` Marks across the bars: ${fewer} channel${fewer > 1 ? "s" : ""} everywhere.`;
    return {
      figure,
      label: `Bars of capacity over octaves of lag, the most recent at the right, and below them the capacity of one input. `
        + `${lower} channels below and ${upper} above, ${layers} layers.`,
      readout: `${lags(octave)}: ${digits(here.capacity)} units, ${digits(here.each, 2)} for each input. `
        + `In all ${row.total} units from ${row.n_params} weights; the far half has ${far.toFixed(2)} times its even share.${which}`,
      table: {
        head: ["lags", "inputs", "capacity", "per input", `${fewer} everywhere`],
        rows: bars.map(({ i, capacity, each, plain }) =>
          [lags(i).replace(/^Lags? /, ""), inputs(i).toLocaleString("en"), digits(capacity, 4), digits(each), digits(plain, 4)]),
      },
      values: { per_octave: row.per_octave, per_input: bars.map(({ each }) => each), total: row.total,
        n_params: row.n_params, loss: row.loss, far, chosen: here.capacity },
    };
  }

  return {
    controls,
    draw,
    about: "A bar is an octave of lags, in the colour of the layer that reaches it. Dotted: one unit for each input, all that "
      + "an octave can hold. With c channels an octave gets about c² units. Click a bar, or move the last slider.",
    point: ({ phase, x, figure, set }) => ["down", "drag"].includes(phase) && set("octave", figure.octaveAt(x)),
  };
})());
