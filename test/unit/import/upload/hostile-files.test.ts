import { expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { startHelper } from "../../../../src/runtime/helper/spawn-helper.ts";
import { createTestApp } from "../../../support/test-app.ts";

/*
 * Files that are made to hurt, sent to a server whose reading process is a real one. Each is refused or read in part,
 * nothing of it is stored that is no point, and the next file is read as usual.
 */

const MIB = 1024 * 1024;
const app = await createTestApp({ startHelper });

async function send(body: string | Uint8Array, more: Record<string, string> = {}) {
  const response = await app.fetch("/api/v1/imports?device_id=x", {
    method: "POST",
    headers: {
      authorization: `Bearer ${app.keys.full}`,
      "content-type": "application/octet-stream",
      ...more,
    },
    body: typeof body === "string" ? body : new Uint8Array(body),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const POINT = '<trkpt lat="1" lon="2"><time>2026-03-20T10:00:00Z</time></trkpt>';
const BOMB = `<!DOCTYPE gpx [<!ENTITY a "${"x".repeat(99)}">${Array.from(
  { length: 20 },
  (_, n) => `<!ENTITY a${n} "${(n === 0 ? "&a;" : `&a${n - 1};`).repeat(10)}">`,
).join("")}]><gpx><trk><name>&a19;</name><trkseg>${POINT}</trkseg></trk></gpx>`;

const FILES: readonly (readonly [name: string, file: () => string | Uint8Array, expected: object])[] = [
  ["an entity bomb", () => BOMB, { status: 200, body: { new: 1 } }],
  [
    "an entity that names a file",
    () => `<!DOCTYPE gpx [<!ENTITY a SYSTEM "file:///etc/passwd">]><gpx><name>&a;</name></gpx>`,
    { status: 200, body: { new: 0 } },
  ],
  ["16 MiB of one tag", () => `<gpx><${"a".repeat(16 * MIB - 8)}`, { status: 400 }],
  ["elements within elements", () => "<gpx>".repeat(3 * MIB), { status: 400 }],
  ["deep JSON", () => `{"type":"Feature","properties":${"[".repeat(15 * MIB)}`, { status: 400 }],
  ["brackets alone", () => "[".repeat(MIB), { status: 400 }],
  ["zeros", () => new Uint8Array(MIB), { status: 400 }],
  ["more than 16 MiB", () => " ".repeat(16 * MIB + 1), { status: 413 }],
];

test.each(FILES)("%s", async (_, file, expected) => {
  expect(await send(file())).toMatchObject(expected);
});

test("a body that unpacks to more than 16 MiB is refused", async () => {
  const packed = gzipSync(new Uint8Array(200 * MIB));
  expect(await send(packed, { "content-encoding": "gzip" })).toMatchObject({ status: 413 });
});

test("a line of 100,000 positions is read, some of them of one instant", async () => {
  const at = Date.UTC(2026, 2, 19) / 1000;
  const rows = Array.from({ length: 100_000 }, (_, n) => `[1.${n},2,0,${at + (n % 80_000)}]`).join();
  const file = `{"type":"Feature","geometry":{"type":"LineString","coordinates":[${rows}]},"properties":{}}`;
  expect(await send(file)).toMatchObject({ status: 200, body: { read: 100_000, new: 80_000 } });
}, 30_000);

test("after all of them 100,000 points in one file come in", async () => {
  const rows = Array.from({ length: 100_000 }, (_, n) => {
    const time = new Date(Date.UTC(2026, 2, 15) + n * 500).toISOString();
    return `<trkpt lat="1" lon="${n / 1e5}"><time>${time}</time></trkpt>`;
  });
  const { body } = await send(`<gpx><trk><trkseg>${rows.join("")}</trkseg></trk></gpx>`);
  expect(body).toMatchObject({ new: 100_000 });
}, 30_000);
