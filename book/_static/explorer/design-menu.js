// What can be ordered: the best stack of at most so many parameters with at least such a share of far capacity.
//
// data: the stored result design_menu, {process: {wall: [[parameters, bound], …], tried, stacks: [{kernels, channels,
// parameters, capacity, loss, share, bound}, …]}}; losses and bounds in units of v*. wall: the fitted bound of stacks of
// fewer parameters than the next entry has.
"use strict";
{
  const HEIGHT = 330, MOST = 0.7, FLOOR = 1e-11;
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

  function plot(shown, chosen, asked, least, lowest, highest, width, { Plot, colours }) {
    const last = shown.length ? shown[shown.length - 1].share : 0;
    const steps = shown.map(({ share, loss }, i) => ({ x1: i ? shown[i - 1].share : 0, x2: share, loss }));
    const grey = { fill: colours.fill, fillOpacity: 0.3, y1: lowest };
    return Plot.plot({
      width, height: HEIGHT, marginLeft: 58, marginRight: 14, marginTop: 26, marginBottom: 38,
      x: { domain: [0, MOST], label: "share of the capacity on the distant half", labelAnchor: "center", labelArrow: "none", ticks: 7, tickFormat: "%" },
      y: { type: "log", domain: [lowest, highest], label: null, ticks: 6, tickFormat: "~e" },
      marks: [
        Plot.text(["loss / v*"], { frameAnchor: "top-left", dy: -22, dx: -50, fontWeight: "bold" }),
        Plot.rect(steps, { ...grey, x1: "x1", x2: "x2", y2: "loss" }),
        Plot.rect([last], { ...grey, x1: (d) => d, x2: MOST, y2: highest }),
        least > lowest ? Plot.ruleY([least], { stroke: colours.muted, strokeDasharray: "5 3" }) : null,
        least > lowest ? Plot.text(["fitted bound of this size"], { x: MOST, y: least, textAnchor: "end", dy: 9, dx: -4, fill: colours.muted }) : null,
        Plot.ruleX([asked], { stroke: colours.accent, strokeWidth: 2 }),
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
      "share. Grey: no stack that was fitted is there. Dashed: the fitted bound of stacks without overlap of this size. Click to ask for a share.",

    controls({ data, state }) {
      const names = Object.keys(data), { stacks } = data[state.process] ?? data[names[0]];
      return [
        { name: "process", label: "Process", type: "select", value: names[0], options: names.map((each) => [each, each]) },
        { name: "budget", label: "Parameters at most", type: "range", min: d3.min(stacks, (d) => d.parameters), max: 96, value: 64 },
        { name: "share", label: "Far share at least", type: "range", min: 0, max: 60, value: 20, format: (share) => `${share}%` },
      ];
    },

    draw({ data, state, width, Plot, colours }) {
      const menu = data[state.process], within = menu.stacks.filter(({ parameters }) => parameters <= state.budget);
      const shown = front(within), asked = state.share / 100;
      const chosen = d3.least(within.filter(({ share }) => share >= asked), ({ loss }) => loss);
      const most = d3.max(within, ({ share }) => share), least = bound(menu, state.budget);
      const lowest = Math.max(FLOOR, d3.min(menu.stacks, ({ loss }) => loss) / 3), highest = 3 * d3.max(menu.stacks, ({ loss }) => loss);
      const figure = plot(shown, chosen, asked, least, lowest, highest, width, { Plot, colours });
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
