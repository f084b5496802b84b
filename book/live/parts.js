// The files of an engine: fetched once with progress in bytes, and kept by the browser for the next page.
export class Parts {
  constructor(base, manifest, progress) {
    Object.assign(this, { base, manifest, progress, loaded: 0 });
    this.total = manifest.parts.reduce((sum, part) => sum + part.bytes, 0);
    this.store = self.caches?.open(`capcore-live-${manifest.version}`).catch(() => undefined);
    self.caches?.keys().then((names) => {
      for (const name of names) if (name.startsWith("capcore-live-") && !name.endsWith(manifest.version)) caches.delete(name);
    });
  }

  /** Address of a part. */
  url(name) {
    return new URL(name, this.base).href;
  }

  /** Bytes of a part; those of a name that ends in .gz are unpacked. */
  async get(name) {
    const store = await this.store;
    let response = await store?.match(this.url(name));
    if (!response) {
      response = await fetch(this.url(name));
      if (!response.ok) throw new Error(`${name}: found status ${response.status}, expected the file.`);
      await store?.put(this.url(name), response.clone());
    }
    const counted = response.body.pipeThrough(
      new TransformStream({
        transform: (chunk, controller) => {
          this.loaded += chunk.length;
          this.progress("loading", this.loaded, this.total);
          controller.enqueue(chunk);
        },
      }),
    );
    const plain = name.endsWith(".gz") ? counted.pipeThrough(new DecompressionStream("gzip")) : counted;
    return new Uint8Array(await new Response(plain).arrayBuffer());
  }
}
