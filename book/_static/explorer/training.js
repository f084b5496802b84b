// Capacity along training: a network that reads digits, how far its outputs follow a shift of the targets after so many
// steps, for each pixel or frequency.
//
// data: {steps, labels: {kind of labels: {error, maps: {map: [[64 numbers], …]}}}}, all over the steps, per output.
"use strict";
{
  const NARROW = 560, SIDE = 8;
  const MAPS = {
    pixels: { text: "pixels, whitened", places: ["edge", "centre"] },
    "whitened modes": { text: "frequencies, whitened", places: ["lowest", "low", "high", "highest"] },
    modes: { text: "frequencies, as they are", places: ["lowest", "low", "high", "highest"] },
  };
  const capital = (word) => word[0].toUpperCase() + word.slice(1);
  const number = (x, digits = 2) => x.toFixed(digits).replace("-", "−");

  // The group of a cell: band of frequencies by the larger of its two, or edge and centre; -1 for the constant.
  function group(i, map) {
    const [row, column] = [Math.floor(i / SIDE), i % SIDE];
    if (map === "pixels") return [row, column].every((each) => each > 1 && each < 6) ? 1 : 0;
    return i ? Math.floor(Math.max(row, column) / 2) : -1;
  }

  function courses(data, { labels, map }) {
    return MAPS[map].places.map((place, which) => ({
      place,
      values: data.labels[labels].maps[map].map((cells) => d3.mean(cells.filter((_, i) => group(i, map) === which))),
    }));
  }

  // Heights of names beside the ends of curves, no two closer than a gap: lower ones stay, others make room upwards.
  function apart(ends, gap) {
    const heights = [];
    let free = -Infinity;
    for (const i of d3.sort(d3.range(ends.length), (i) => ends[i])) free = (heights[i] = Math.max(ends[i], free)) + gap;
    return heights;
  }

  CapExplorer.register("training", {
    about:
      "Left: the capacity of every cell. Right: means over groups of cells. “As they are”: every function by itself, with what it shares " +
      "with others. “Whitened”: what is its own. Click on the right to choose a step.",

    controls({ data }) {
      const kinds = Object.keys(data.labels).sort().reverse(), last = data.steps.length - 1;
      return [
        { name: "at", label: "Steps of training", type: "range", min: 0, max: last, value: Math.round(0.6 * last),
          format: (at) => data.steps[at].toLocaleString("en") },
        { name: "map", label: "Capacity of", type: "select", value: "modes", options: Object.entries(MAPS).map(([name, { text }]) => [name, text]) },
        { name: "labels", label: "Labels", type: "select", value: kinds[0], options: kinds.map((kind) => [kind, kind]) },
      ];
    },

    draw({ data, state, width, Plot, colours }) {
      const { at, map, labels } = state, { maps, error } = data.labels[labels], cells = maps[map][at], found = courses(data, state);
      const narrow = width < NARROW, left = narrow ? Math.min(width, 280) : Math.round(0.42 * width), right = narrow ? width : width - left - 14;
      const side = narrow ? left : left - CapExplorer.BAR;
      const table = cells.map((value, i) => ({ value, row: Math.floor(i / SIDE), column: i % SIDE }));
      const image = Plot.plot({
        width: side, height: side, margin: 2, marginTop: 22, marginRight: 20, marginBottom: 18,
        x: { domain: d3.range(SIDE), axis: null, padding: 0.04 }, y: { domain: d3.range(SIDE), axis: null, padding: 0.04 },
        color: { type: "identity" },
        marks: [
          Plot.cell(table, { x: "column", y: "row", fill: (d) => colours.shade(d.value), stroke: colours.grid, strokeWidth: 0.5 }),
          Plot.text([MAPS[map].text], { frameAnchor: "top-left", dy: -20, fontWeight: "bold" }),
          Plot.text([map === "pixels" ? "" : "frequency across →"], { frameAnchor: "bottom", dy: 15 }),
          Plot.text([map === "pixels" ? "" : "frequency down →"], { frameAnchor: "right", dx: 13, rotate: 90, textAnchor: "middle" }),
        ],
      });
      const points = found.flatMap(({ place, values }) => values.map((value, i) => ({ place, value, step: data.steps[i] })));
      const tall = narrow ? 220 : left, top = Math.max(1, d3.max(points, (d) => d.value));
      const heights = apart(found.map(({ values }) => values.at(-1)), (13 * top) / (tall - 60));
      const colour = new Map(found.map(({ place }, i) => [place, colours.series(i)]));
      const lines = Plot.plot({
        width: right, height: tall, marginLeft: 36, marginRight: 56, marginTop: 22, marginBottom: 38,
        x: { type: "log", label: "steps", labelAnchor: "center", labelArrow: "none", ticks: 3, tickFormat: "," },
        y: { label: null, domain: [0, top], ticks: 4 },
        marks: [
          Plot.ruleX([data.steps[at]], { stroke: colours.accent, strokeWidth: 2 }),
          Plot.line(points, { x: "step", y: "value", z: "place", stroke: (d) => colour.get(d.place), strokeWidth: 1.6 }),
          Plot.text(found, { x: data.steps.at(-1), y: (_, i) => heights[i], text: "place", textAnchor: "start", dx: 5, fill: (d) => colour.get(d.place) }),
          Plot.text(["mean capacity"], { frameAnchor: "top-left", dy: -20, dx: -32, fontWeight: "bold" }),
        ],
        color: { type: "identity" },
      });
      const bar = CapExplorer.bar(side - 20, "capacity", ["0", "0.5", "1 or more"], colours), below = side + CapExplorer.BAR;
      const height = narrow ? below + 226 : left, place = narrow ? [0, below + 6] : [left + 14, 0];
      const figure = CapExplorer.compose(width, height, [[image, 0, 0], [bar, 0, side], [lines, ...place]]);
      Object.assign(figure, { lines, place });
      const means = found.map(({ place, values }) => `${place} ${number(values[at])}`).join(", ");
      return {
        figure,
        label: `An image of 8 × 8 cells, capacity of ${MAPS[map].text} after ${data.steps[at]} steps with ${labels}, and its course.`,
        readout: `${capital(labels)}, root mean squared error ${number(error[at], 3)}. Mean capacity: ${means}.`,
        table: { head: ["row", "column", "capacity"], rows: table.map(({ row, column, value }) => [row, column, number(value, 3)]) },
        values: { cells, means: found.map(({ values }) => values[at]), error: error[at], step: data.steps[at] },
      };
    },

    point({ phase, x, y, figure, data, set }) {
      if (phase !== "down" && phase !== "drag") return;
      const { lines, place: [dx, dy] } = figure;
      if (x < dx || y < dy) return;
      const step = lines.scale("x").invert(x - dx);
      set("at", d3.minIndex(data.steps, (each) => Math.abs(Math.log(each / step))));
    },
  });
}
