import { expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { type Header, type Source, zxyToTileId } from "pmtiles";
import { archiveHead, joined } from "../../../../src/map/streets/archive-head.ts";
import { planCopy } from "../../../../src/map/streets/copy-plan.ts";
import { checkedHeader } from "../../../../src/map/tile-file.ts";
import { outcome } from "../../../support/rejection.ts";

/* Directories that lie: the remote archive is not trusted. */

interface Columns {
  readonly tileIds: number[];
  readonly runLengths: number[];
  readonly offsets: number[];
  readonly lengths: number[];
}

const pack = (bytes: Uint8Array) => gzipSync(bytes);

/** An archive with these entries in its root directory and 1,000 bytes of tiles. */
function archiveOf(entries: Columns): Uint8Array<ArrayBuffer> {
  const head = archiveHead({
    entries,
    metadata: new TextEncoder().encode('{"vector_layers":[{"id":"roads"}]}'),
    dataBytes: 1000,
    contents: 1,
    tileCompression: 2,
    zooms: [0, 3],
    bounds: [-180, -85, 180, 85],
    pack,
  });
  return joined([head, new Uint8Array(1000)]);
}

function sourceOf(bytes: Uint8Array<ArrayBuffer>): { source: Source; header: Header } {
  const source: Source = {
    getKey: () => "https://a.example/b",
    getBytes: async (offset, length) => ({ data: bytes.slice(offset, offset + length).buffer }),
  };
  return { source, header: checkedHeader("b", bytes, bytes.length) };
}

const EVERYWHERE = { bounds: [-180, -85, 180, 85], maxZoom: null } as const;
const plan = (bytes: Uint8Array<ArrayBuffer>) => planCopy(EVERYWHERE, { ...sourceOf(bytes), pack });

test("an honest archive is planned", async () => {
  const bytes = archiveOf({
    tileIds: [0, 1, 5],
    runLengths: [1, 4, 2],
    offsets: [0, 10, 30],
    lengths: [10, 20, 5],
  });
  expect(await plan(bytes)).toMatchObject({
    tiles: 7,
    requests: [
      {
        length: 35,
        target: 0,
        pieces: [
          [0, 10],
          [10, 20],
          [30, 5],
        ],
      },
    ],
  });
});

test.each<[string, Columns, string]>([
  [
    "tiles past the end",
    { tileIds: [0], runLengths: [1], offsets: [995], lengths: [10] },
    "tile 0 has 10 bytes at 995, which can't be",
  ],
  ["an empty tile", { tileIds: [0], runLengths: [1], offsets: [0], lengths: [0] }, "tile 0 has 0 bytes at 0"],
  [
    "a tile twice",
    { tileIds: [2, 2], runLengths: [1, 1], offsets: [0, 10], lengths: [10, 10] },
    "its directories are not in order",
  ],
  [
    "runs that overlap",
    { tileIds: [0, 2], runLengths: [5, 1], offsets: [0, 10], lengths: [10, 10] },
    "its directories are not in order",
  ],
  [
    "a tile within another",
    { tileIds: [0, 1], runLengths: [1, 1], offsets: [0, 0], lengths: [10, 500] },
    "tile 1 shares only a part of another tile",
  ],
  [
    "a leaf that is no directory",
    { tileIds: [0], runLengths: [0], offsets: [0], lengths: [50] },
    "a directory is damaged (",
  ],
  [
    "leaves larger than a planet's",
    { tileIds: [0, 5, 9], runLengths: [0, 0, 0], offsets: [0, 0, 0], lengths: [2 ** 28, 2 ** 28, 9] },
    "its directories are larger than a planet's",
  ],
  [
    "no tile of the area",
    { tileIds: [zxyToTileId(5, 1, 1)], runLengths: [1], offsets: [0], lengths: [10] },
    "it has no tile of that area",
  ],
])("an archive is refused that has %s", async (_what, entries, message) => {
  expect(await outcome(plan(archiveOf(entries)))).toThrow(`Cannot copy from https://a.example/b: ${message}`);
});

test("leaves that lead to themselves come to an end", async () => {
  const entries = { tileIds: [0], runLengths: [0], offsets: [0], lengths: [1] };
  const bytes = archiveOf(entries);
  // The root directory is its own leaf.
  const view = new DataView(bytes.buffer);
  const rootBytes = Number(view.getBigUint64(16, true));
  const loop = pack(Uint8Array.from([1, 0, 0, rootBytes, 1]));
  const again = joined([bytes.slice(0, 127), loop, bytes.slice(127 + rootBytes)]);
  const changed = new DataView(again.buffer);
  const shift = BigInt(loop.length - rootBytes);
  changed.setBigUint64(16, BigInt(loop.length), true);
  for (const at of [24, 56]) changed.setBigUint64(at, view.getBigUint64(at, true) + shift, true);
  changed.setBigUint64(40, 127n, true);
  changed.setBigUint64(48, BigInt(loop.length), true);
  expect(loop.length).toBe(rootBytes);
  expect(await outcome(plan(again))).toThrow("its directories are nested too deeply");
});

test("a directory that unpacks to far more than it may is refused", async () => {
  const bomb = gzipSync(new Uint8Array(64 * 1024 * 1024), { level: 9 });
  const entries = { tileIds: [0], runLengths: [0], offsets: [0], lengths: [bomb.length] };
  const bytes = archiveOf(entries);
  const withBomb = joined([bytes, bomb]);
  const view = new DataView(withBomb.buffer);
  view.setBigUint64(40, BigInt(bytes.length), true);
  view.setBigUint64(48, BigInt(bomb.length), true);
  expect(await outcome(plan(withBomb))).toThrow("a directory is damaged (");
});
