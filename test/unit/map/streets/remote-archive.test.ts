import { expect, test } from "bun:test";
import { RemoteArchive } from "../../../../src/map/streets/remote-archive.ts";
import { outcome } from "../../../support/rejection.ts";
import { streetsFile } from "../fixture.ts";
import { createRangeServer, partOf, type RangeServer } from "./range-server.ts";

const URL = "https://maps.example.org/planet.pmtiles?token=secret";
/** With some bytes behind its tiles, so that it is longer than the first request. */
const GOOD = new Uint8Array([...streetsFile(), ...new Array(20_000).fill(0)]);
const BEGIN = "Cannot copy from https://maps.example.org/planet.pmtiles: ";

function openFrom(server: RangeServer, pausesMs: number[] = []) {
  const wait = async (ms: number) => void pausesMs.push(ms);
  return RemoteArchive.open(URL, { fetch: server.fetch, signal: new AbortController().signal, wait });
}

test("the archive is opened by one request, and a range is what the server has there", async () => {
  const server = createRangeServer(GOOD);
  const { archive, header } = await openFrom(server);
  expect([header.minZoom, header.maxZoom, archive.sizeBytes]).toEqual([0, 14, GOOD.length]);
  expect(archive.validator).toBe('"1"');
  const { data } = await archive.getBytes(1000, 500);
  expect(new Uint8Array(data)).toEqual(GOOD.slice(1000, 1500));
  expect(server.requests).toEqual([
    [0, 16_383],
    [1000, 1499],
  ]);
});

type Answer = (first: number, last: number) => Response;

const asIs = (first: number, last: number, headers: Record<string, string>) =>
  partOf({ bytes: GOOD, etag: '"1"' }, first, last, headers);

test.each<[string, Answer, string]>([
  [
    "ignores ranges",
    () => new Response(GOOD),
    "the server ignores ranges: it answered 200 with the whole file",
  ],
  ["has no such file", () => new Response("no", { status: 404 }), "the server answered 404 instead of 206"],
  [
    "names another range",
    (first, last) => asIs(first, last, { "content-range": `bytes 5-${last}/${GOOD.length}` }),
    `the server sent the wrong range: asked for bytes 0-16383, it answered Content-Range "bytes 5-16383/`,
  ],
  [
    "names no size",
    (first, last) => asIs(first, last, { "content-range": `bytes ${first}-${last}/*` }),
    "the server sent the wrong range: ",
  ],
  [
    "names no range",
    () => new Response(GOOD, { status: 206 }),
    "the server sent the wrong range: asked for bytes 0-16383, it answered without Content-Range",
  ],
  [
    "sends more than it says",
    (_first, last) =>
      new Response(GOOD, { status: 206, headers: { "content-range": `bytes 0-${last}/${2 ** 40}` } }),
    "the server sent more than the 16384 bytes of a range",
  ],
  [
    "compresses a range",
    (first, last) => asIs(first, last, { "content-encoding": "br" }),
    "the server compressed a range (br)",
  ],
])("a server is refused at once that %s", async (_what, answer, message) => {
  const server = createRangeServer(GOOD);
  server.intercept = answer;
  expect(await outcome(openFrom(server))).toThrow(BEGIN + message);
  expect(server.requests).toHaveLength(1);
});

test("a file that changes is noticed by its tag, its time or its size", async () => {
  const changes: ((server: RangeServer) => void)[] = [
    (server) => {
      server.etag = '"2"';
    },
    (server) => {
      server.intercept = (first, last) =>
        asIs(first, last, { "last-modified": "Thu, 01 Jan 2026 00:00:00 GMT" });
    },
    (server) => {
      server.bytes = new Uint8Array([...GOOD, 0]);
    },
  ];
  for (const change of changes) {
    const server = createRangeServer(GOOD);
    const { archive } = await openFrom(server);
    change(server);
    expect(await outcome(archive.getBytes(10, 10))).toThrow(
      `${BEGIN}it changed while it was copied; run the command again.`,
    );
  }
});

test("answers that are cut off, 503 and a lost network are tried again, each time later", async () => {
  const server = createRangeServer(GOOD);
  const pausesMs: number[] = [];
  server.intercept = (first, last, count) => {
    if (count === 1) return new Response("", { status: 503 });
    if (count === 2) throw new TypeError("fetch failed");
    if (count > 3) return null;
    const short = GOOD.slice(first, first + 10);
    const headers = { "content-range": `bytes ${first}-${last}/${GOOD.length}`, etag: '"1"' };
    return new Response(short, { status: 206, headers });
  };
  const { archive } = await openFrom(server, pausesMs);
  expect(archive.sizeBytes).toBe(GOOD.length);
  expect(pausesMs).toEqual([500, 1000, 2000]);
});

test("in the end it gives up, and says why", async () => {
  const server = createRangeServer(GOOD);
  server.intercept = () => new Response("", { status: 502 });
  expect(await outcome(openFrom(server))).toThrow(
    `${BEGIN}the server answered 502, 8 times in a row; try again later.`,
  );
});

test("a range outside the archive, or of more than 4 MiB, is not asked for", async () => {
  const server = createRangeServer(GOOD);
  const { archive } = await openFrom(server);
  for (const [offset, length] of [
    [GOOD.length - 5, 6],
    [0, 5 * 1024 * 1024],
    [2 ** 52, 1],
    [-1, 1],
    [0, 0],
  ] as const)
    expect(await outcome(archive.getBytes(offset, length))).toThrow(
      `${BEGIN}it refers to ${length} bytes at `,
    );
  expect(server.requests).toHaveLength(1);
});

test("at most four requests run at once", async () => {
  const server = createRangeServer(GOOD);
  const { archive } = await openFrom(server);
  let [running, most] = [0, 0];
  const gates: (() => void)[] = [];
  const slow = await RemoteArchive.open(URL, {
    signal: new AbortController().signal,
    async fetch(url, init) {
      most = Math.max(most, ++running);
      if (server.requests.length > 1) await new Promise<void>((resolve) => gates.push(resolve));
      running--;
      return server.fetch(url, init);
    },
  });
  const asked = Array.from({ length: 12 }, (_, index) => slow.archive.getBytes(index, 1));
  let answered = 0;
  for (const each of asked) void each.then(() => answered++);
  while (answered < asked.length) {
    gates.shift()?.();
    await Promise.resolve();
  }
  expect(most).toBe(4);
  expect(archive.sizeBytes).toBe(GOOD.length);
});

test("an archive that is no map is refused as a file would be", async () => {
  const other = new Uint8Array(20_000);
  expect(await outcome(openFrom(createRangeServer(other)))).toThrow(
    'Cannot use "https://maps.example.org/planet.pmtiles" as a map: it is not a PMTiles archive',
  );
});
