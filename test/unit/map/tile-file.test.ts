import { expect, test } from "bun:test";
import { gunzipSync, gzipSync } from "node:zlib";
import { VectorTile } from "@mapbox/vector-tile";
import { PbfReader } from "pbf";
import { openTileFile, TileUnpacker } from "../../../src/map/tile-file.ts";
import { createNodeInputs } from "../../../src/runtime/node-inputs.ts";
import { outcome } from "../../support/rejection.ts";
import { turns } from "../../support/turns.ts";
import { writePmtiles } from "../../system/world/pmtiles-writer.ts";
import { inputsWith, STREETS_BOUNDS, STREETS_CREDIT, streetsFile } from "./fixture.ts";

/* The operator's file, which may be anything. */

const GOOD = streetsFile();

/** The file with some bytes written over. */
function changed(
  ...changes: readonly (readonly [offset: number, ...bytes: number[]])[]
): Uint8Array<ArrayBuffer> {
  const bytes = GOOD.slice();
  for (const [offset, ...values] of changes) bytes.set(values, offset);
  return bytes;
}

/** A 64-bit number of the header. */
function withNumber(offset: number, value: number): Uint8Array<ArrayBuffer> {
  const bytes = GOOD.slice();
  new DataView(bytes.buffer).setBigUint64(offset, BigInt(value), true);
  return bytes;
}

function padded(bytes: Uint8Array): Uint8Array {
  return new Uint8Array([...bytes, ...new Uint8Array(200_000)]);
}

function numberAt(offset: number): number {
  return Number(new DataView(GOOD.buffer).getBigUint64(offset, true));
}

async function refusalOf(bytes: Uint8Array): Promise<string> {
  const counts = { reads: 0, open: 0 };
  const opening = openTileFile(inputsWith(bytes, counts), "boston.pmtiles");
  const error = await opening.then(
    () => null,
    (refusal: Error) => refusal,
  );
  expect(counts.open).toBe(error === null ? 1 : 0);
  return error?.message ?? "taken";
}

test("a file is opened with one look at its header and one at its metadata, and says what it covers", async () => {
  const counts = { reads: 0, open: 0 };
  const file = await openTileFile(inputsWith(GOOD, counts), "boston.pmtiles");
  expect(counts).toEqual({ reads: 2, open: 1 });
  expect(file.facts).toEqual({
    version: file.facts.version,
    minZoom: 0,
    maxZoom: 14,
    bounds: STREETS_BOUNDS,
    areas: [STREETS_BOUNDS],
    attribution: STREETS_CREDIT,
    credits: [
      { text: "Protomaps", url: "https://github.com/protomaps/basemaps" },
      { text: " © ", url: null },
      { text: "OpenStreetMap", url: "https://openstreetmap.org/" },
    ],
  });
  expect(file.facts.version).toMatch(/^[\w-]{16}$/);
  await file.close();
  expect(counts.open).toBe(0);
});

test("find() gives the tile as it lies there, null where there is none, and reads a directory once", async () => {
  const counts = { reads: 0, open: 0 };
  const file = await openTileFile(inputsWith(GOOD, counts), "boston.pmtiles");
  const found = await Promise.all([
    file.find(14, 4956, 6060),
    file.find(14, 4956, 6060),
    file.find(14, 0, 0),
  ]);
  const tile = new VectorTile(new PbfReader(gunzipSync(found[0]!.bytes)));
  expect(Object.keys(tile.layers)).toContain("roads");
  expect(found[0]!.isGzipped).toBe(true);
  expect(found[1]!.bytes).toEqual(found[0]!.bytes);
  expect(found[2]).toBeNull();
  expect(await file.find(15, 9912, 12120)).toBeNull();
  expect(counts.reads).toBe(2 + 1 + 2);
});

test("a file is another version once any of its directories, its size or its time is another", async () => {
  const versionOf = async (bytes: Uint8Array, modifiedMs: number) => {
    const inputs = inputsWith(bytes);
    const stat = async () => ({ kind: "file", sizeBytes: bytes.length, modifiedMs }) as const;
    return (await openTileFile({ ...inputs, stat }, "a")).facts.version;
  };
  const first = await versionOf(GOOD, 1);
  expect(await versionOf(GOOD, 1)).toBe(first);
  expect(await versionOf(GOOD, 2)).not.toBe(first);
  expect(await versionOf(new Uint8Array([...GOOD, 0]), 1)).not.toBe(first);
});

const BEGIN = 'Cannot use "boston.pmtiles" as a map: ';

test.each([
  ["nothing", new Uint8Array(), "it is not a PMTiles archive"],
  ["another format", new TextEncoder().encode("x".repeat(500)), "it is not a PMTiles archive"],
  ["the name alone", GOOD.slice(0, 100), "it is not a PMTiles archive"],
  ["version 2", changed([7, 2]), "it has version 2 of PMTiles, not 3; `pmtiles convert` upgrades it"],
  [
    "half of a file",
    GOOD.slice(0, GOOD.length >> 1),
    `it has ${GOOD.length >> 1} of ${GOOD.length} bytes, so its copy is incomplete; copy it again`,
  ],
  [
    "pictures",
    changed([99, 2]),
    "its tiles are not vector tiles (MVT); use an extract of a Protomaps basemap",
  ],
  [
    "brotli",
    changed([98, 3]),
    "its compression is not gzip; convert it with `pmtiles convert` or `tile-join`",
  ],
  ["zooms that can't be", changed([100, 9, 3]), "its header has impossible zooms or bounds; create it again"],
  ["zoom 99", changed([101, 99]), "its header has impossible zooms or bounds; create it again"],
  [
    "bounds of nothing",
    changed([102, ...new Array(16).fill(0)]),
    "its header has impossible zooms or bounds; create it again",
  ],
  [
    "a root directory of 100 kB",
    padded(withNumber(16, 100_000)),
    "its root directory is longer than PMTiles allows",
  ],
  [
    "sections past all that is",
    withNumber(40, 2 ** 60),
    `it has ${GOOD.length} of ${2 ** 60} bytes, so its copy is incomplete; copy it again`,
  ],
] as const)("a file is refused, and closed, with what to do about it: %s", async (_what, bytes, message) => {
  const refusal = await refusalOf(bytes);
  expect(refusal).toBe(BEGIN + message);
});

test("a file of other layers is refused, with those that are known", async () => {
  const refusal = await refusalOf(
    streetsFile({ metadata: { vector_layers: [{ id: "transportation" }, "roads", null] } }),
  );
  expect(refusal).toStartWith(`${BEGIN}it has no layer of a Protomaps basemap (earth, water,`);
});

test("metadata that is damaged or a bomb is refused", async () => {
  const at = numberAt(24);
  expect(await refusalOf(changed([at, 1, 2, 3, 4, 5]))).toStartWith(`${BEGIN}its metadata can't be read (`);
  const bomb = gzipSync(new Uint8Array(64 * 1024 * 1024), { level: 9 });
  const bytes = new Uint8Array([...withNumber(32, bomb.length), ...bomb]);
  new DataView(bytes.buffer).setBigUint64(24, BigInt(GOOD.length), true);
  expect(await refusalOf(bytes)).toStartWith(`${BEGIN}its metadata can't be read (`);
});

test("whom to credit is text, however it is marked up", async () => {
  const attribution = `<img src=x onerror=alert(1)>&lt;b&gt; &#169; <script>alert(2)</script> A &amp; B${" x".repeat(5000)}`;
  const file = await openTileFile(inputsWith(streetsFile({ metadata: { attribution } })), "a");
  expect(file.facts.attribution).toStartWith("<b> © alert(2) A & B x x");
  expect(file.facts.attribution.length).toBeLessThanOrEqual(200);
  const none = await openTileFile(inputsWith(streetsFile({ metadata: { attribution: { a: 1 } } })), "a");
  expect(none.facts.attribution).toBe("");
});

test("a directory that says it has billions of entries is refused before it is read", async () => {
  const root = gzipSync(new Uint8Array([0xff, 0xff, 0xff, 0xff, 0x0f, ...new Array(64).fill(1)]));
  const opened = await openTileFile(inputsWith(withRoot(root)), "boston.pmtiles");
  expect(await outcome(opened.find(3, 2, 2))).toThrow(
    'Cannot read tile 3/2/2 of "boston.pmtiles": A directory claims to have 4294967295 entries',
  );
});

test("a directory that unpacks to more than it may is refused", async () => {
  const opened = await openTileFile(
    inputsWith(withRoot(gzipSync(new Uint8Array(8 * 1024 * 1024)))),
    "boston.pmtiles",
  );
  expect(await outcome(opened.find(3, 2, 2))).toThrow('Cannot read tile 3/2/2 of "boston.pmtiles": ');
});

/** Laid out anew: header, root directory, the rest as it was. */
function withRoot(root: Uint8Array): Uint8Array<ArrayBuffer> {
  const [metadataAt, rootBytes] = [numberAt(24), numberAt(16)];
  const shift = root.length - rootBytes;
  const bytes = new Uint8Array([...GOOD.slice(0, 127), ...root, ...GOOD.slice(metadataAt)]);
  const view = new DataView(bytes.buffer);
  view.setBigUint64(16, BigInt(root.length), true);
  for (const offset of [24, 40, 56]) view.setBigUint64(offset, BigInt(numberAt(offset) + shift), true);
  return bytes;
}

test("an entry that names bytes outside the file, or far too many, is refused; the next request tries again", async () => {
  const entry = (offset: number, length: number) =>
    Uint8Array.from([1, 0, 1, ...varint(length), ...varint(offset + 1)]);
  for (const [offset, length] of [
    [2 ** 50, 10],
    [0, 2 ** 40],
    [0, 0],
  ] as const) {
    const file = await openTileFile(inputsWith(withRoot(gzipSync(entry(offset, length)))), "boston.pmtiles");
    for (let attempt = 0; attempt < 2; attempt++)
      expect(await outcome(file.find(0, 0, 0))).toThrow(
        `Cannot read tile 0/0/0 of "boston.pmtiles": It refers to ${length} bytes`,
      );
  }
});

test("a large archive has leaf directories, where the root leads", async () => {
  const leaf = GOOD.slice(127, 127 + numberAt(16));
  const root = gzipSync(Uint8Array.from([1, 0, 0, ...varint(leaf.length), 1]));
  const bytes = new Uint8Array([...withRoot(root), ...leaf]);
  const view = new DataView(bytes.buffer);
  view.setBigUint64(40, BigInt(bytes.length - leaf.length), true);
  view.setBigUint64(48, BigInt(leaf.length), true);
  const [large, small] = [
    await openTileFile(inputsWith(bytes), "a"),
    await openTileFile(inputsWith(GOOD), "a"),
  ];
  for (const [z, x, y] of [
    [0, 0, 0],
    [14, 4956, 6060],
    [14, 0, 0],
  ] as const)
    expect(await large.find(z, x, y)).toEqual(await small.find(z, x, y));
});

test("a tile of more than 4 MiB is refused, though the file has that many", async () => {
  const length = 4 * 1024 * 1024 + 1;
  const root = withRoot(gzipSync(Uint8Array.from([1, 0, 1, ...varint(length), 1])));
  const file = await openTileFile(
    inputsWith(new Uint8Array([...root, ...new Uint8Array(length)])),
    "boston.pmtiles",
  );
  expect(await outcome(file.find(0, 0, 0))).toThrow(`It refers to ${length} bytes`);
});

test("directories that lead to each other come to an end", async () => {
  // A leaf at the leaves' begin, which is the tiles'.
  const root = gzipSync(Uint8Array.from([1, 0, 0, ...varint(30), 1]));
  const file = await openTileFile(inputsWith(withRoot(root)), "boston.pmtiles");
  expect(await outcome(file.find(1, 0, 0))).toThrow("Cannot read tile 1/0/0");
});

function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  return [...bytes, rest];
}

test("a file that shrinks while it is open fails tile by tile", async () => {
  let bytes: Uint8Array = GOOD;
  const inputs = inputsWith(GOOD);
  const file = await openTileFile(
    {
      ...inputs,
      open: async (path) => ({
        ...(await inputs.open(path)),
        sizeBytes: GOOD.length,
        async read(into, position) {
          const piece = bytes.subarray(position, position + into.length);
          into.set(piece);
          return piece.length;
        },
      }),
    },
    "boston.pmtiles",
  );
  expect(await file.find(0, 0, 0)).not.toBeNull();
  bytes = GOOD.subarray(0, numberAt(56));
  expect(await outcome(file.find(0, 0, 0))).toThrow(
    'Cannot read tile 0/0/0 of "boston.pmtiles": It now ends at',
  );
});

test("of thousands who ask at once, sixteen are read for", async () => {
  const inputs = inputsWith(GOOD);
  let [running, most] = [0, 0];
  const file = await openTileFile(
    {
      ...inputs,
      async open(path) {
        const input = await inputs.open(path);
        return {
          ...input,
          async read(into, position) {
            most = Math.max(most, ++running);
            await turns(1);
            running--;
            return input.read(into, position);
          },
        };
      },
    },
    "boston.pmtiles",
  );
  const found = await Promise.all(Array.from({ length: 2000 }, (_, index) => file.find(index % 15, 0, 0)));
  expect(found.filter((tile) => tile !== null).length).toBeGreaterThan(100);
  expect(most).toBe(16);
});

test("what is no file is refused", async () => {
  expect(await outcome(openTileFile(createNodeInputs(), import.meta.dir))).toThrow("it is not a file");
  expect(await outcome(openTileFile(createNodeInputs(), "/nowhere/x.pmtiles"))).toThrow(
    'Cannot look up "/nowhere/x.pmtiles"',
  );
});

test("many directories: those used last are kept, and each tile is found", async () => {
  const tiles = Array.from({ length: 64 * 64 }, (_, index) => ({
    z: 6,
    x: index % 64,
    y: Math.floor(index / 64),
    bytes: Uint8Array.from([index % 251, index >> 8]),
  }));
  const file = await openTileFile(inputsWith(writePmtiles(tiles, { vector_layers: [{ id: "earth" }] })), "a");
  for (const { x, y, bytes } of tiles.filter((_, index) => index % 97 === 0)) {
    const found = await file.find(6, x, y);
    expect(new Uint8Array(gunzipSync(found!.bytes))).toEqual(bytes);
  }
});

test("however many tiles are asked for, four are unpacked at once, and all in the end", async () => {
  const waiting: (() => void)[] = [];
  let begun = 0;
  const unpacker = new TileUnpacker(async (packed) => {
    begun++;
    await new Promise<void>((resolve) => waiting.push(resolve));
    return new Uint8Array(packed);
  });
  const tiles = Array.from({ length: 100 }, (_, index) => unpacker.unpack(Uint8Array.of(index)));
  expect(begun).toBe(4);
  const unpacked = Promise.all(tiles);
  while (begun < 100 || waiting.length > 0) {
    expect(waiting.length).toBeLessThanOrEqual(4);
    waiting.shift()?.();
    await turns(1);
  }
  expect((await unpacked).map(([byte]) => byte)).toEqual(tiles.map((_, index) => index));
});

test("a tile that says it is longer than tiles are is refused", async () => {
  const unpacker = new TileUnpacker();
  expect(await unpacker.unpack(gzipSync(new Uint8Array(8 * 1024 * 1024)))).toHaveLength(8 * 1024 * 1024);
  expect(await outcome(unpacker.unpack(gzipSync(new Uint8Array(8 * 1024 * 1024 + 1))))).toThrow();
  expect(await outcome(unpacker.unpack(Uint8Array.of(1, 2, 3)))).toThrow();
});
