// What can be ordered: the best stack of at most so many parameters with at least such a share of far capacity.
//
// data: the stored result design_menu, {process: {wall: [[parameters, bound], …], tried, stacks: [{kernels, channels,
// parameters, capacity, loss, share, bound}, …]}}; losses and bounds in units of v*. wall: the fitted bound of stacks of
// fewer parameters than the next entry has.
"use strict";
{
  const HEIGHT = 330, MOST = 0.7, FLOOR = 1e-11, SIZES = [32, 64, 96], MOST_PARAMETERS = 96;
  const percent = d3.format(".0%"), dots = (values) => values.join("·");

  function scientific(x) {
    const [digits, exponent] = x.toExponential(1).split("e");
    return `${digits}·10${[...String(Number(exponent))].map((each) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(each)]).join("")}`;
  }

  // The front of a budget: the stacks that no other one within it beats in loss and in share, by share.
  function front(within) {
    const kept = [];
    for (const each of d3.sort(within, (a, b) => b.share - a.share || a.loss - b.loss)) {
      if (kept.every(({ loss }) => each.loss < loss)) kept.push(each);
    }
    return kept.reverse();
  }

  function bound({ wall }, budget) {
    const reached = wall.filter(([size]) => size <= budget);
    return reached.length ? reached[reached.length - 1][1] : Infinity;
  }

  // The budget's own front in front of those of the three sizes of the picture; grey is what none of the stacks reaches.
  function plot({ stacks }, shown, budget, chosen, asked, least, lowest, highest, width, { Plot, colours }) {
    const within = (size) => front(stacks.filter(({ parameters }) => parameters <= size));
    const steps = (points) => [{ share: 0, loss: points[0].loss }, ...points];
    const all = steps(within(MOST_PARAMETERS)), last = all[all.length - 1].share;
    const grey = { fill: colours.fill, fillOpacity: 0.3, y1: lowest };
    const others = SIZES.filter((size) => size !== budget && size >= d3.min(stacks, (d) => d.parameters));
    const line = (points, stroke, strokeWidth) => Plot.line(steps(points), { x: "share", y: "loss", curve: "step-before", stroke, strokeWidth });
    const name = (text, x, points, fill) => Plot.text([text], { x, y: points[0].loss, dy: -8, textAnchor: "start", fill, stroke: colours.surface, strokeWidth: 4 });
    return Plot.plot({
      width, height: HEIGHT, marginLeft: 58, marginRight: 14, marginTop: 26, marginBottom: 38,
      x: { domain: [0, MOST], label: "share of the capacity on the distant half", labelAnchor: "center", labelArrow: "none", ticks: 7, tickFormat: "%" },
      y: { type: "log", domain: [lowest, highest], label: null, ticks: 6, tickFormat: "~e" },
      marks: [
        Plot.text(["loss / v*"], { frameAnchor: "top-left", dy: -22, dx: -50, fontWeight: "bold" }),
        Plot.rect(d3.pairs(all), { ...grey, x1: ([a]) => a.share, x2: ([, b]) => b.share, y2: ([, b]) => b.loss }),
        Plot.rect([last], { ...grey, x1: (d) => d, x2: MOST, y2: highest }),
        Plot.text(["no stack found"], { x: MOST, y: highest, textAnchor: "end", dy: 14, dx: -6, fill: colours.muted }),
        others.map((size) => [line(within(size), colours.muted, 1), name(`${size} parameters`, 0.01, within(size), colours.muted)]),
        least > lowest ? Plot.ruleY([least], { stroke: colours.series(0), strokeDasharray: "5 3" }) : null,
        least > lowest ? Plot.text(["fitted bound"], { x: MOST, y: least, textAnchor: "end", dy: 9, dx: -4, fill: colours.text }) : null,
        Plot.ruleX([asked], { stroke: colours.accent, strokeWidth: 2 }),
        line(shown, colours.series(0), 2),
        name(`at most ${budget} parameters`, 0.16, shown, colours.series(0)),
        Plot.dot(shown, { x: "share", y: "loss", fill: colours.series(0), r: 4 }),
        chosen ? Plot.dot([chosen], { x: "share", y: "loss", fill: colours.accent, stroke: colours.surface, r: 6 }) : null,
      ],
    });
  }

  function sentence(chosen, { budget, share }, most, least) {
    if (!chosen) {
      return `Not found: of the stacks of at most ${budget} parameters that were fitted, none has more than ${percent(most)} of its capacity on the distant half.`;
    }
    const { kernels, channels, parameters, capacity } = chosen;
    const bounded = least > FLOOR ? ` Fitted bound of stacks of at most ${budget} parameters: ${scientific(least)} v*.` : "";
    return `Kernels ${dots(kernels)}, channels ${dots(channels)}: ${parameters} parameters, capacity ${capacity}, ` +
      `${percent(chosen.share)} of it on the distant half; loss ${scientific(chosen.loss)} v*.${bounded}`;
  }

  CapExplorer.register("design-menu", {
    about:
      "Stacks of 128 inputs that the bond table recommends, fitted; dots are those within the budget that no other one beats in loss and in " +
      "share. Thin: other sizes. Grey: no stack that was fitted is there. Dashed: the fitted bound of this size. Click to ask for a share.",

    controls({ data, state }) {
      const names = Object.keys(data), { stacks } = data[state.process] ?? data[names[0]];
      return [
        { name: "process", label: "Process", type: "select", value: names[0], options: names.map((each) => [each, each]) },
        { name: "budget", label: "Parameters at most", type: "range", min: d3.min(stacks, (d) => d.parameters), max: MOST_PARAMETERS, value: 64 },
        { name: "share", label: "Far share at least", type: "range", min: 0, max: 60, value: 20, format: (share) => `${share}%` },
      ];
    },

    draw({ data, state, width, Plot, colours }) {
      const menu = data[state.process], within = menu.stacks.filter(({ parameters }) => parameters <= state.budget);
      const shown = front(within), asked = state.share / 100;
      const chosen = d3.least(within.filter(({ share }) => share >= asked), ({ loss }) => loss);
      const most = d3.max(within, ({ share }) => share), least = bound(menu, state.budget);
      const lowest = Math.max(FLOOR, d3.min(menu.stacks, ({ loss }) => loss) / 3), highest = 3 * d3.max(menu.stacks, ({ loss }) => loss);
      const figure = plot(menu, shown, state.budget, chosen, asked, least, lowest, highest, width, { Plot, colours });
      const said = sentence(chosen, state, most, least);
      return {
        figure,
        label: `Loss against the share of capacity on the distant half, for stacks of at most ${state.budget} parameters. ${said}`,
        readout: said,
        table: {
          head: ["kernels", "channels", "parameters", "loss / v*", "far share"],
          rows: shown.map((d) => [dots(d.kernels), dots(d.channels), d.parameters, scientific(d.loss), percent(d.share)]),
        },
        values: {
          chosen: chosen ? [chosen.parameters, chosen.capacity, chosen.loss, chosen.share, chosen.bound] : [],
          most, least, front: shown.map(({ loss }) => loss),
        },
      };
    },

    // A place along the shares is the share asked for.
    point({ phase, x, figure, set }) {
      if (phase !== "down" && phase !== "drag") return;
      set("share", Math.round(100 * Math.min(0.6, Math.max(0, figure.scale("x").invert(x)))));
    },
  });
}
