import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { PMTiles, tileIdToZxy } from "pmtiles";
import { copyArchive } from "../../../../src/map/streets/copy-archive.ts";
import { type Area, planCopy } from "../../../../src/map/streets/copy-plan.ts";
import { RemoteArchive } from "../../../../src/map/streets/remote-archive.ts";
import { tileRanges } from "../../../../src/map/streets/tile-ranges.ts";
import { openTileFile } from "../../../../src/map/tile-file.ts";
import { createNodeFiles } from "../../../../src/runtime/node-files.ts";
import { createNodeInputs } from "../../../../src/runtime/node-inputs.ts";
import { outcome } from "../../../support/rejection.ts";
import { writePmtiles } from "../../../system/world/pmtiles-writer.ts";
import { createRangeServer, type RangeServer } from "./range-server.ts";

const URL = "https://maps.example.org/planet.pmtiles";
const ZOOM_MAX = 7;

/** All tiles of the world: their entries need leaf directories, and half of those in the south are the same. */
const WORLD = writePmtiles(
  Array.from({ length: (4 ** (ZOOM_MAX + 1) - 1) / 3 }, (_, id) => {
    const [z, x, y] = tileIdToZxy(id);
    const text =
      y >= 2 ** z / 2 && z > 2 && (id * 7919) % 41 < 20 ? "sea" : `tile ${z}/${x}/${y} ${noise(id)}`;
    return { z, x, y, bytes: new TextEncoder().encode(text) };
  }),
  { vector_layers: [{ id: "roads" }], attribution: '<a href="https://osm.example">OSM</a>', more: [1] },
);

/** Text of any length that hardly compresses, always the same for a number. */
function noise(id: number): string {
  const words = Array.from({ length: 1 + ((id * 7919) % 41) }, (_, index) =>
    (((id + 1) * (index + 1) * 2654435761) % 2 ** 32).toString(36),
  );
  return words.join("");
}

const EUROPE: Area = { bounds: [-20, 30, 40, 65], maxZoom: null };

let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "wherehouse-copy-"));
  path = join(directory, "map", "europe.pmtiles");
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

async function planFrom(server: RangeServer, area: Area, signal = new AbortController().signal) {
  const { archive, header } = await RemoteArchive.open(URL, {
    fetch: server.fetch,
    signal,
    wait: async () => undefined,
  });
  const plan = await planCopy(area, { source: archive, header, pack: (bytes) => gzipSync(bytes) });
  return { archive, plan };
}

async function copyFrom(
  server: RangeServer,
  area: Area,
  { signal = new AbortController().signal, onProgress = (): void => undefined, sourceId = "a" } = {},
): Promise<number> {
  const { archive, plan } = await planFrom(server, area, signal);
  return copyArchive(
    plan,
    { path, sourceId },
    {
      files: createNodeFiles(),
      source: archive,
      signal,
      check: async (part) => (await openTileFile(createNodeInputs(), part)).close(),
      onProgress,
    },
  );
}

test("the copy has exactly the tiles of the area, and pmtiles reads them", async () => {
  const server = createRangeServer(WORLD);
  expect(await copyFrom(server, EUROPE)).toBe(0);
  expect(readdirSync(join(directory, "map"))).toEqual(["europe.pmtiles"]);

  const file = await openTileFile(createNodeInputs(), path);
  expect(file.facts).toMatchObject({ minZoom: 0, maxZoom: 7, bounds: EUROPE.bounds, attribution: "OSM" });
  const [source, copy] = [WORLD, readFileSync(path)].map((bytes) => pmtilesOf(new Uint8Array(bytes)));
  const header = await copy!.getHeader();
  expect(header.clustered).toBe(true);
  expect(await copy!.getMetadata()).toEqual(await source!.getMetadata());

  const wanted = new Set<number>();
  for (const { start, end } of tileRanges(EUROPE.bounds, 0, ZOOM_MAX)!)
    for (let id = start; id < end; id++) wanted.add(id);
  expect(header.numAddressedTiles).toBe(wanted.size);
  for (let id = 0; id < 4 ** 7; id += 1) {
    const [z, x, y] = tileIdToZxy(id);
    const expected = wanted.has(id) ? (await source!.getZxy(z, x, y))!.data : undefined;
    expect((await copy!.getZxy(z, x, y))?.data).toEqual(expected);
  }
  await file.close();
});

/** Read by the package alone. */
function pmtilesOf(bytes: Uint8Array<ArrayBuffer>): PMTiles {
  return new PMTiles({
    getKey: () => "bytes",
    getBytes: async (offset, length) => ({ data: bytes.slice(offset, offset + length).buffer }),
  });
}

test("a copy whose tiles do not fit into the root directory has leaf directories", async () => {
  await copyFrom(createRangeServer(WORLD), { bounds: [-180, -85, 180, 85], maxZoom: null });
  const copy = pmtilesOf(new Uint8Array(readFileSync(path)));
  expect((await copy.getHeader()).leafDirectoryLength).toBeGreaterThan(1000);
  const source = pmtilesOf(WORLD);
  for (const [z, x, y] of [
    [0, 0, 0],
    [7, 0, 0],
    [7, 127, 66],
    [7, 60, 30],
    [5, 3, 16],
  ] as const)
    expect((await copy.getZxy(z, x, y))?.data).toEqual((await source.getZxy(z, x, y))!.data);
});

test("few requests, none of more than 4 MiB; equal tiles are transferred and stored once", async () => {
  const server = createRangeServer(WORLD);
  const { plan } = await planFrom(server, { bounds: [-180, -85, 180, -1], maxZoom: null });
  const { plan: north } = await planFrom(server, { bounds: [-180, 1, 180, 85], maxZoom: null });
  expect(plan.tiles).toBeGreaterThan(8000);
  expect(plan.archiveBytes).toBeLessThan(0.8 * north.archiveBytes);
  expect(plan.requests.length).toBeLessThan(20);
  const { plan: europe } = await planFrom(server, EUROPE);
  expect(europe.requests.length).toBeLessThan(60);
  for (const { length } of europe.requests) expect(length).toBeLessThanOrEqual(4 * 1024 * 1024);
});

test("a lower zoom is a smaller copy; an area outside is refused", async () => {
  const server = createRangeServer(WORLD);
  const [all, less] = [await planFrom(server, EUROPE), await planFrom(server, { ...EUROPE, maxZoom: 5 })];
  expect(less.plan.zooms).toEqual([0, 5]);
  expect(less.plan.archiveBytes).toBeLessThan(all.plan.archiveBytes / 4);
  const outside: Area = { bounds: [10, 86, 20, 89], maxZoom: null };
  expect(await outcome(planFrom(server, outside))).toThrow("the archive does not cover that area");
});

test("an interrupted copy continues where it stopped; the old file stays until the new one is complete", async () => {
  const server = createRangeServer(WORLD);
  await copyFrom(server, { ...EUROPE, maxZoom: 3 });
  const old = readFileSync(path);
  const { plan } = await planFrom(server, EUROPE);
  const [middle] = plan.requests.slice(plan.requests.length >> 1);
  const isLate = (first: number) => first === middle!.offset;
  server.intercept = (first) => (isLate(first) ? new Response("", { status: 410 }) : null);
  expect(await outcome(copyFrom(server, EUROPE))).toThrow("the server answered 410");
  expect(readFileSync(path)).toEqual(old);
  expect(readdirSync(join(directory, "map"))).toEqual([
    "europe.pmtiles",
    "europe.pmtiles.part",
    "europe.pmtiles.part.json",
  ]);

  server.intercept = () => null;
  server.requests.length = 0;
  const continuedBytes = await copyFrom(server, EUROPE);
  expect(continuedBytes).toBe(plan.head.length + middle!.target);
  const again = server.requests.filter(([first]) => plan.requests.some(({ offset }) => offset === first));
  expect(again.length).toBe(plan.requests.length - (plan.requests.length >> 1));
  expect(readdirSync(join(directory, "map"))).toEqual(["europe.pmtiles"]);
  const continued = readFileSync(path);
  rmSync(path);
  await copyFrom(server, EUROPE);
  expect(continued).toEqual(readFileSync(path));
});

test("a partial copy of another source, of another area or without a validator is begun anew", async () => {
  const server = createRangeServer(WORLD);
  const { plan } = await planFrom(server, EUROPE);
  const last = plan.requests.at(-1)!;
  for (const [sourceId, area] of [
    ["b", EUROPE],
    ["a", { ...EUROPE, maxZoom: 6 }],
    ["", EUROPE],
  ] as const) {
    server.intercept = (first) => (first === last.offset ? new Response("", { status: 410 }) : null);
    await outcome(copyFrom(server, EUROPE, { sourceId: sourceId === "" ? "" : "a" }));
    expect(existsSync(`${path}.part`)).toBe(true);
    server.intercept = () => null;
    expect(await copyFrom(server, area, { sourceId })).toBe(0);
    await (await openTileFile(createNodeInputs(), path)).close();
  }
});

test("a state that is damaged, or a partial file that is shorter than it says, is begun anew", async () => {
  const server = createRangeServer(WORLD);
  const { plan } = await planFrom(server, EUROPE);
  const fail = () => {
    server.intercept = (first) =>
      first === plan.requests.at(-1)!.offset ? new Response("", { status: 410 }) : null;
  };
  for (const damage of [
    () => writeFileSync(`${path}.part.json`, "{"),
    () => writeFileSync(`${path}.part`, "x"),
  ]) {
    fail();
    await outcome(copyFrom(server, EUROPE));
    damage();
    server.intercept = () => null;
    expect(await copyFrom(server, EUROPE)).toBe(0);
  }
});

test("a copy that is stopped ends with the signal's reason and can continue", async () => {
  const server = createRangeServer(WORLD);
  const stop = new AbortController();
  let steps = 0;
  const onProgress = () => {
    if (++steps === 5) stop.abort();
  };
  expect(await outcome(copyFrom(server, EUROPE, { signal: stop.signal, onProgress }))).toThrow("abort");
  expect(await copyFrom(server, EUROPE)).toBeGreaterThan(0);
});
