import { expect, test } from "bun:test";
import type { MapLibreMap } from "maplibre-gl";
import { LapseLayer } from "../../../../src/web/lapse/lapse-layer.ts";
import { type Chunk, PIECE_WORDS } from "../../../../src/web/lapse/movements.ts";

/** A graphics card that takes everything, and knows which buffers it has. */
function createCard() {
  const buffers = new Set<object>();
  const counts = { uploaded: 0 };
  const known: Record<string, unknown> = {
    createBuffer: () => {
      const buffer = {};
      buffers.add(buffer);
      return buffer;
    },
    deleteBuffer: (buffer: object) => buffers.delete(buffer),
    bufferData: () => counts.uploaded++,
    getProgramParameter: (_: unknown, what: string) => (what === "LINK_STATUS" ? true : 0),
  };
  const gl = new Proxy(known, {
    get: (_, name: string) => known[name] ?? (/^[A-Z_\d]+$/.test(name) ? name : () => true),
  });
  return { gl: gl as unknown as WebGL2RenderingContext, buffers, counts };
}

const MAP = {
  getCanvas: () => ({ clientWidth: 512, clientHeight: 512 }),
  getCenter: () => ({ lng: 0, lat: 0 }),
  project: () => ({ x: 256, y: 256 }),
  getZoom: () => 2,
} as unknown as MapLibreMap;

function chunkFrom(startMs: number): Chunk {
  return { words: new Uint32Array(PIECE_WORDS), classes: [], startMs, endMs: startMs + 1000 };
}

test("a chunk is sent to the graphics card once, and leaves it with its range", () => {
  const before = globalThis.devicePixelRatio;
  globalThis.devicePixelRatio = 1;
  try {
    const { gl, buffers, counts } = createCard();
    let chunks: readonly Chunk[] = [chunkFrom(0), chunkFrom(1000), chunkFrom(90_000)];
    const layer = new LapseLayer(() => ({ chunks, clockMs: 1000, trailMs: 500 }));
    layer.onAdd(MAP, gl);
    const own = buffers.size;
    layer.render(gl);
    layer.render(gl);
    expect([buffers.size - own, counts.uploaded]).toEqual([2, 2]);
    chunks = [...chunks.slice(1, 2), chunkFrom(500)];
    layer.render(gl);
    expect([buffers.size - own, counts.uploaded]).toEqual([2, 3]);
    chunks = [];
    layer.render(gl);
    expect([buffers.size - own, counts.uploaded]).toEqual([0, 3]);
    chunks = [chunkFrom(0)];
    layer.render(gl);
    layer.onRemove(MAP, gl);
    expect(buffers.size).toBe(0);
  } finally {
    globalThis.devicePixelRatio = before;
  }
});
