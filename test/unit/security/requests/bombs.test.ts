import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { createTestApp, NOON_MS } from "../../../support/test-app.ts";
import { turns } from "../../../support/turns.ts";

/*
 * Goal: a small body can't become a large one, nor keep the service from others. Method: bombs of each coding, one
 * in the other, in many pieces, with lengths that are not true, and many at once; each is refused, memory stays
 * bounded, and a plain report beside them is answered.
 */

const app = await createTestApp();
const MIB = 2 ** 20;
/** Sixty-four bombs hold 16 GiB. A few are unpacked at a time, and what is freed lingers until it is collected. */
const GROWTH_BYTES_MAX = 2048 * MIB;

async function send(
  body: Uint8Array<ArrayBuffer>,
  coding: string,
  type = "application/json",
): Promise<number> {
  const response = await app.fetch("/ingest/v1/locations", {
    method: "POST",
    headers: { authorization: `Bearer ${app.keys.full}`, "content-type": type, "content-encoding": coding },
    body,
  });
  await response.arrayBuffer();
  return response.status;
}

const own = (bytes: Uint8Array) => new Uint8Array(bytes);
const zeros = new Uint8Array(256 * MIB);
const BOMBS = {
  gzip: own(gzipSync(zeros, { level: 9 })),
  zstd: own(zstdCompressSync(zeros)),
};
const report = Buffer.from(
  JSON.stringify({ device_id: "bus", timestamp: NOON_MS, latitude: 1, longitude: 2 }),
);

test.each(["gzip", "zstd"] as const)(
  "256 MiB of zeros in %s are too large, before they are 17 MiB",
  async (coding) => {
    expect(BOMBS[coding].length).toBeLessThan(MIB);
    expect(await send(BOMBS[coding], coding)).toBe(413);
  },
);

test("a bomb in a bomb is a body that is no JSON: one layer is taken off, and no list of codings", async () => {
  expect(await send(own(gzipSync(BOMBS.gzip)), "gzip")).toBe(400);
  expect(await send(own(zstdCompressSync(BOMBS.zstd)), "zstd")).toBe(400);
  for (const coding of [
    "gzip, gzip",
    "gzip,zstd",
    "zstd;q=1",
    "x-gzip",
    "deflate",
    "br",
    "compress",
    "gzip\t,",
  ]) {
    expect([415, 400]).toContain(await send(own(gzipSync(report)), coding));
  }
});

test("one coding named as the other, or as none, is no body", async () => {
  expect(await send(own(gzipSync(report)), "zstd")).toBe(400);
  expect(await send(own(zstdCompressSync(report)), "gzip")).toBe(400);
  expect(await send(own(gzipSync(report)), "identity")).toBe(400);
});

test("many frames and members are taken within the limits of one body, and bombs in pieces are not", async () => {
  const line = Buffer.concat([report, Buffer.from("\n")]);
  for (const [coding, pack] of [
    ["gzip", gzipSync],
    ["zstd", zstdCompressSync],
  ] as const) {
    const few = Buffer.concat(Array.from({ length: 100 }, () => pack(line)));
    expect(await send(own(few), coding, "application/x-ndjson")).toBe(200);
    const pieces = Buffer.concat(Array.from({ length: 900 }, () => pack(zeros.subarray(0, 64 * 1024))));
    expect(await send(own(pieces), coding)).toBe(413);
    const empty = Buffer.concat(Array.from({ length: 100_000 }, () => pack(new Uint8Array())));
    expect([200, 400, 413]).toContain(await send(own(empty), coding));
  }
});

test("a thousand frames of zstd are taken, with text and without, and no more", async () => {
  const skippable = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 1, 0, 0, 0, 7]);
  for (const frame of [skippable, zstdCompressSync(""), zstdCompressSync("\n")]) {
    const most = Buffer.concat(Array.from({ length: 999 }, () => frame));
    const line = zstdCompressSync(report);
    expect(await send(own(Buffer.concat([most, line])), "zstd", "application/x-ndjson")).toBe(200);
    expect(await send(own(Buffer.concat([most, frame, line])), "zstd", "application/x-ndjson")).toBe(400);
    const long = Buffer.concat([most, frame, zstdCompressSync(randomBytes(100_000)), line]);
    expect(await send(own(long), "zstd", "application/x-ndjson")).toBe(400);
  }
});

test("lengths that are not true are not believed", async () => {
  const gzip = gzipSync(report);
  for (const size of [0, 1, 0xffffffff]) {
    const lying = Buffer.from(gzip);
    lying.writeUInt32LE(size, lying.length - 4);
    expect(await send(own(lying), "gzip")).toBe(400);
  }
  // A frame that announces 2^60 bytes, and one that asks for a window of 2 GiB.
  const header = (descriptor: number, ...more: number[]) =>
    Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd, descriptor, ...more);
  expect(await send(header(0xe0, 0, 0, 0, 0, 0, 0, 0, 0x10, 0x01, 0, 0), "zstd")).toBe(400);
  expect(await send(header(0x00, 0xa8, 0x01, 0, 0), "zstd")).toBe(400);
  // A skippable frame that announces 4 GiB and holds nothing.
  expect(await send(Uint8Array.of(0x50, 0x2a, 0x4d, 0x18, 0xff, 0xff, 0xff, 0xff), "zstd")).toBe(400);
  for (const [coding, bytes] of [
    ["gzip", gzip],
    ["zstd", zstdCompressSync(report)],
  ] as const) {
    for (const end of [1, 5, bytes.length >> 1, bytes.length - 1])
      expect(await send(own(bytes.subarray(0, end)), coding)).toBe(400);
    expect(await send(own(Buffer.concat([bytes, Buffer.from("trailing junk")])), coding)).toBe(400);
  }
});

test("many bombs at once are refused, within memory, while others are answered", async () => {
  Bun.gc(true);
  const before = process.memoryUsage.rss();
  let largest = before;
  let isOver = false;
  const watched = (async () => {
    for (; !isOver; await turns(1)) largest = Math.max(largest, process.memoryUsage.rss());
  })();
  const bombs = Array.from({ length: 64 }, (_, index) =>
    send(index % 2 ? BOMBS.gzip : BOMBS.zstd, index % 2 ? "gzip" : "zstd"),
  );
  const plain = await send(own(report), "identity");
  const statuses = await Promise.all(bombs);
  isOver = true;
  await watched;
  expect(plain).toBe(200);
  expect(statuses.filter((status) => status !== 413 && status !== 503)).toEqual([]);
  expect(statuses).toContain(413);
  expect((largest - before) / MIB).toBeLessThan(GROWTH_BYTES_MAX / MIB);
  expect(app.faults).toEqual([]);
});
