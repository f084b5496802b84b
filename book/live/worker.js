// A Python that keeps its state, in a worker, with the same messages for each engine.
//   in:  {run, code}; {file, content} for a file that code is to read
//   out: {stage, loaded, total} while it starts, in bytes;
//        {run, text}, {run, picture}, {run, error: {name, message, line}} while code runs; {run, seconds} when it ends
import { Parts } from "./parts.js";

const ENGINES = { pyodide: () => import("./pyodide.js"), wasi: () => import("./wasi.js") };
const MARK = "\u001e"; // runner.py puts events of JSON between two of them
let current = 0;
let rest = "";

/** Passes on what Python writes: text, and the runner's events. */
function write(text) {
  const pieces = (rest + text).split(MARK);
  const unfinished = pieces.length % 2 === 0 ? MARK + pieces.pop() : "";
  pieces.forEach((piece, i) => {
    if (i % 2) postMessage({ run: current, ...JSON.parse(piece) });
    else if (piece) postMessage({ run: current, text: piece });
  });
  rest = unfinished;
}

const ready = (async () => {
  const base = new URL(".", import.meta.url);
  const manifest = await (await fetch(new URL("engine.json", base))).json();
  const parts = new Parts(base, manifest, (stage, loaded, total) => postMessage({ stage, loaded, total }));
  const { start } = await ENGINES[manifest.engine]();
  const python = await start(parts, manifest, write);
  const runner = new TextDecoder().decode(await parts.get("runner.py"));
  python(`import types, sys\nrunner = types.ModuleType("runner")\nexec(${JSON.stringify(runner)}, runner.__dict__)\n`);
  postMessage({ stage: "ready" });
  return python;
})();

onmessage = async ({ data }) => {
  const began = performance.now();
  const fail = (name, message) => postMessage({ run: data.run, error: { name, message } });
  try {
    const python = await ready;
    if (data.file) return void python(`open(${JSON.stringify(data.file)}, "w").write(${JSON.stringify(data.content)})`);
    current = data.run;
    const status = python(`runner.run(${JSON.stringify(data.code)})`);
    if (status) fail("Python", `ended with status ${status}`);
  } catch (failure) {
    fail("This browser", String(failure));
  }
  postMessage({ run: data.run, seconds: (performance.now() - began) / 1000 });
};
