// Engine of published pages: Pyodide, from the folder beside the pages. Its packages are those of pyodide-lock.json.
export async function start(parts, manifest, write) {
  const { loadPyodide } = await import(parts.url("pyodide/pyodide.mjs"));
  parts.progress("loading");
  const decoder = new TextDecoder("utf8", { fatal: false });
  const sink = { write: (bytes) => (write(decoder.decode(bytes.slice(), { stream: true })), bytes.length) };
  const pyodide = await loadPyodide({ indexURL: parts.url("pyodide/"), env: { HOME: "/tmp", MPLBACKEND: "agg" } });
  pyodide.setStdout(sink);
  pyodide.setStderr(sink);
  await pyodide.loadPackage(manifest.packages, { messageCallback: () => {} });
  for (const name of manifest.wheels) pyodide.unpackArchive(await parts.get(name), "wheel");
  parts.progress("starting Python");
  return (code) => void pyodide.runPython(code);
}
