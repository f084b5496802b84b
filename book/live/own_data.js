// The reader's own series: a CSV file that is dropped on the first explorer, or chosen. It is read in the page and goes nowhere.
const FEWEST = 200;
const LARGEST = 20e6; // bytes

/** The last column of a CSV file that holds numbers: its name, and its values as text, one a line. */
export function series(text) {
  const rows = text.trim().split(/\r?\n/).map((line) => line.split(/[,;\t]/).map((cell) => cell.trim().replace(/^"|"$/g, "")));
  const number = (cell) => cell !== undefined && cell !== "" && Number.isFinite(Number(cell));
  const header = rows[0].some(number) ? null : rows.shift();
  for (let column = Math.max(...rows.map((row) => row.length)) - 1; column >= 0; column--) {
    const values = rows.map((row) => row[column]);
    const numbers = values.filter(number);
    if (numbers.length < FEWEST || numbers.length < 0.9 * values.length) continue;
    const gaps = values.length - numbers.length;
    if (gaps) throw new Error(`column ${header?.[column] ?? column + 1}: found ${gaps} gaps, expected a number in each row. Fill them, or see “Series with gaps”.`);
    return { name: header?.[column] ?? `column ${column + 1}`, values: numbers };
  }
  throw new Error(`found no column of at least ${FEWEST} numbers, expected a series, one value a row.`);
}

const program = (file, name) => `import matplotlib.pyplot as plt
import numpy as np
import capcore as cc

series = np.loadtxt("/tmp/series.txt")  # ${name.replace(/\s+/g, " ")} of ${file}
process = cc.estimate_process(series, 64)
stack = cc.Hierarchical(channels=1, n_layers=6)  # change the channels, and run again
before = cc.allocate(stack, cc.fit(stack, process), process)
worst = before.missed.argmax()
print(f"capacity {before.total:.1f} of {stack.n_params} weights; an event {worst} back would be missed most, {before.missed[worst]:.0%} of it")

fig, axes = plt.subplots(2, 1, sharex=True, figsize=(7, 4))
axes[0].step(range(64), before.per_input, where="mid")
axes[1].step(range(64), before.missed, where="mid")
axes[0].set(ylabel="capacity")
_ = axes[1].set(ylabel="share of an event\\nthat is missed", xlabel="samples back")`;

/** Puts the choice below the page's first explorer; `use` writes a file for Python, then replaces and runs the first block. */
export function offer(explorer, use) {
  const place = Object.assign(document.createElement("p"), { className: "live-bar live-own" });
  const label = Object.assign(document.createElement("label"), { className: "live-button", textContent: "Use your own data" });
  const input = Object.assign(document.createElement("input"), { type: "file", accept: ".csv,.txt,.tsv,text/csv", className: "live-file" });
  const status = Object.assign(document.createElement("span"), { className: "live-status" });
  status.setAttribute("role", "status");
  status.textContent = "A CSV file, chosen or dropped on the figure. It is read on this page, and goes nowhere.";
  label.append(input);
  place.append(label, status);
  explorer.after(place);
  const take = async (file) => {
    if (!file) return;
    try {
      if (file.size > LARGEST) throw new Error(`found ${(file.size / 1e6).toFixed(0)} MB, expected at most ${LARGEST / 1e6} MB.`);
      const { name, values } = series(await file.text());
      status.textContent = `${values.length} values of ${name}; what follows runs on them.`;
      use("/tmp/series.txt", values.join("\n"), program(file.name, name));
    } catch (error) {
      status.textContent = `${file.name}: ${error.message}`;
    }
  };
  input.onchange = () => take(input.files[0]);
  explorer.addEventListener("dragover", (event) => event.preventDefault());
  explorer.addEventListener("drop", (event) => (event.preventDefault(), take(event.dataTransfer.files[0])));
}
