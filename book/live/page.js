// Run on every visible block of Python: the code becomes editable, state is kept down the page, and what it prints stands
// in place of what is printed. Python is loaded with the first Run; until then a page costs this file.
import { offer } from "./own_data.js";

const base = new URL(".", import.meta.url);
const manifest = await (await fetch(new URL("engine.json", base))).json();
const IMPORT = /^\s*(?:from|import)\s+(\w+)/gm;
const blocks = [];
let worker = null;
let number = 0;
let running = null;

/** Packages that a block imports and that the page's Python lacks. */
function lacking(code) {
  const names = [...code.matchAll(IMPORT)].map((match) => match[1]);
  return [...new Set(names.filter((name) => manifest.absent.includes(name)))];
}

function element(tag, className, text = "") {
  return Object.assign(document.createElement(tag), { className, textContent: text });
}

class Block {
  constructor(box, index) {
    const pre = box.querySelector("pre");
    this.box = box;
    this.shown = box.querySelector(".highlight") ?? pre;
    this.printed = printedOf(box);
    this.original = pre.innerText.replace(/\n$/, "");
    this.label = `Python code, block ${index + 1}`;
    this.bar = element("div", "live-bar");
    this.runButton = this.button("Run", `Run block ${index + 1}`, () => runThrough(this));
    this.editButton = this.button("Edit", `Edit block ${index + 1}`, () => this.edit().then(() => this.editor.focus()));
    this.resetButton = this.button("Reset", `Reset block ${index + 1}`, () => this.reset());
    this.resetButton.hidden = true;
    this.status = element("span", "live-status");
    this.status.setAttribute("role", "status");
    this.bar.append(this.runButton, this.editButton, this.resetButton, this.status);
    this.output = element("div", "live-output");
    this.output.hidden = true;
    (box.closest(".cell_input") ?? box).after(this.bar);
    (this.printed ?? this.bar).after(this.output);
    this.hasRun = false;
  }

  button(text, label, act) {
    const button = Object.assign(element("button", "live-button", text), { type: "button", onclick: act });
    button.setAttribute("aria-label", label);
    return button;
  }

  get code() {
    return this.editor ? this.editor.state.doc.toString() : this.original;
  }

  async edit(code = this.original) {
    if (this.editor) return this.editor.focus();
    const { edit } = await import("./editor.js");
    const place = element("div", "live-editor highlight");
    this.shown.after(place);
    this.shown.hidden = true;
    this.editor = edit(place, code, this.label, {
      run: () => runThrough(this),
      leave: () => this.runButton.focus(),
      changed: () => {
        this.hasRun = false;
        this.resetButton.hidden = false;
        this.status.textContent = "edited";
      },
    });
    this.editButton.hidden = true;
    this.resetButton.hidden = false;
  }

  reset() {
    this.editor?.dom.parentElement.remove();
    this.editor = null;
    this.shown.hidden = this.hasRun = false;
    this.output.hidden = this.resetButton.hidden = true;
    this.editButton.hidden = false;
    if (this.printed) this.printed.hidden = false;
    this.status.textContent = "";
    this.runButton.focus();
  }

  begin() {
    this.output.replaceChildren();
    this.output.hidden = false;
    if (this.printed) this.printed.hidden = true;
    this.text = "";
    this.failed = false;
    this.runButton.textContent = "Stop";
    this.resetButton.hidden = false;
  }

  /** Text is kept in one element, so that it can be selected as a whole. */
  write(text, kind = "live-text") {
    let last = this.output.lastElementChild;
    if (last?.className !== kind) this.output.append((last = element("pre", kind)));
    last.textContent += text;
    if (kind === "live-text") this.text += text;
  }

  draw(svg) {
    const picture = element("img", "live-picture");
    picture.src = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
    picture.alt = "Figure drawn by the code above";
    this.output.append(picture);
  }

  end(seconds) {
    this.runButton.textContent = "Run";
    this.hasRun = !this.failed;
    const time = seconds === undefined ? "stopped" : `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
    this.status.textContent = [time, this.failed || seconds === undefined ? "" : this.compared()].filter(Boolean).join(" · ");
    if (!this.output.hasChildNodes()) this.output.hidden = true;
    this.ended?.(!this.failed && seconds !== undefined);
  }

  /** Says whether what was printed differs from the page's. */
  compared() {
    const words = (text) => text.trim().split(/\s+/).join(" ");
    const page = this.printed?.querySelector("pre");
    if (!page || this.code !== this.original) return "";
    return words(page.textContent) === words(this.text) ? "as printed" : "differs from what is printed; Reset shows that";
  }
}

/** What the page prints below a block: the outputs of its cell, or the block of text that follows. */
function printedOf(box) {
  const cell = box.closest(".cell");
  if (cell) return cell.querySelector(".cell_output");
  return box.nextElementSibling?.matches(".highlight-text") ? box.nextElementSibling : null;
}

function start() {
  worker = new Worker(new URL("worker.js", base), { type: "module" });
  worker.onerror = (event) => running && (running.write(event.message, "live-error"), running.end());
  worker.onmessage = ({ data }) => {
    if (data.stage) return running && (running.status.textContent = progress(data));
    if (!running || data.run !== running.number) return;
    if (data.text) running.write(data.text);
    if (data.picture) running.draw(data.picture);
    if (data.error) report(data.error);
    if (data.seconds !== undefined) {
      const block = running;
      running = null;
      block.end(data.seconds);
    }
  };
}

function progress({ stage, loaded, total }) {
  const megabytes = (bytes) => (bytes / 1e6).toFixed(0);
  return loaded ? `loading Python: ${megabytes(loaded)} of ${megabytes(total)} MB` : stage === "ready" ? "running" : `${stage} …`;
}

function report({ name, message, line }) {
  running.failed = true;
  const missing = name === "ModuleNotFoundError" || name === "ImportError";
  running.write(`${name}${line ? `, line ${line}` : ""}: ${message}\n`, "live-error");
  if (missing) running.write("The page's Python has no such package, so what is printed stands. Reset shows it.\n", "live-error");
}

function stop() {
  worker.terminate();
  worker = null;
  for (const block of blocks) block.hasRun = false;
  const block = running;
  running = null;
  block.write("Stopped. Python starts anew with the next Run.\n", "live-error");
  block.end();
}

/** Runs a block, and before it those above that have not run. */
async function runThrough(block) {
  if (running) return running === block ? stop() : undefined;
  if (!worker) start();
  const place = blocks.indexOf(block);
  for (const one of blocks.slice(0, place + 1)) {
    if (one !== block && one.hasRun) continue;
    const succeeded = await new Promise((resolve) => {
      running = one;
      one.ended = resolve;
      one.number = ++number;
      one.begin();
      one.status.textContent = "running";
      worker.postMessage({ run: one.number, code: one.code });
    });
    if (!succeeded) return;
  }
}

const boxes = [...document.querySelectorAll("article div.highlight-python, article div.highlight-ipython3")].filter(
  (box) => !box.closest("details, .toggle-hidden, .tag_hide-input, dl.py"),
);
for (const box of boxes) {
  const code = box.querySelector("pre").innerText;
  const missing = /^# needs (\w+)/m.exec(code)?.slice(1) ?? lacking(code);
  if (missing.length) box.append(element("p", "live-status", `Needs ${missing.join(" and ")}, which does not run on a page.`));
  else blocks.push(new Block(box, blocks.length));
}

const explorer = document.querySelector("article .cap-explorer[data-kind=missed-events]");
if (explorer && blocks.length) {
  offer(explorer, async (name, content, code) => {
    if (running) stop();
    if (!worker) start();
    worker.postMessage({ file: name, content });
    blocks[0].reset();
    await blocks[0].edit(code);
    blocks[0].bar.scrollIntoView({ block: "center" });
    runThrough(blocks[0]);
  });
}
