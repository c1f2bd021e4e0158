import bindings from "@duckdb/node-bindings";

/*
 * Measures the memory that Deno leaks for each released native object, without our code:
 *
 * deno run --v8-flags=--expose-gc --allow-ffi --allow-read --allow-env bench/tools/deno-externals.ts
 *
 * A native module passes objects to JavaScript by `napi_create_external`. Here DuckDB's module makes a million simple
 * values, each released immediately; V8 collects in between, and `mallinfo2` of glibc reports the memory in use. It
 * would not rise if all were freed.
 */

interface Deno {
  dlopen(library: string, symbols: object): { readonly symbols: { mallinfo2(): Uint8Array } };
  memoryUsage(): { readonly rss: number; readonly heapUsed: number };
}

declare const Deno: Deno;

const OBJECTS = 1_000_000;
const LINES = 10;
const OBJECTS_A_COLLECTION = 10_000;
const IN_USE = 7; // The index of `uordblks` in the result of `mallinfo2`.

const libc = Deno.dlopen("libc.so.6", {
  mallinfo2: { parameters: [], result: { struct: new Array(10).fill("usize") } },
});
const { gc } = globalThis as { gc?: () => void };
if (gc === undefined) throw new Error("--v8-flags=--expose-gc is missing");

/** Finalizers run in separate turns after V8's collection. */
async function collect(): Promise<void> {
  for (let round = 0; round < 3; round++) {
    gc!();
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

function inUse(): number {
  return Number(new BigUint64Array(libc.symbols.mallinfo2().slice().buffer)[IN_USE]);
}

await collect();
const before = inUse();
for (let made = 1; made <= OBJECTS; made++) {
  bindings.create_varchar("x");
  if (made % OBJECTS_A_COLLECTION === 0) await collect();
  if (made % (OBJECTS / LINES) !== 0) continue;
  const { rss, heapUsed } = Deno.memoryUsage();
  const [kept, resident, heap] = [inUse() - before, rss, heapUsed].map((bytes) => (bytes / 1e6).toFixed(1));
  const each = ((inUse() - before) / made).toFixed(0);
  console.log(
    `${made} made and let go: malloc keeps ${kept} MB, ${each} bytes each; V8's heap ${heap} MB, resident ${resident} MB`,
  );
}
