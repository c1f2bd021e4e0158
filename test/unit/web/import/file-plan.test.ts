import { expect, test } from "bun:test";
import { gzipSync, zstdCompressSync } from "node:zlib";
import {
  BEGINNING_BYTES,
  baseName,
  FILE_BYTES_MAX,
  importCommand,
  planFile,
  sizeText,
} from "../../../../src/web/import/file-plan.ts";

function planOf(content: string | Uint8Array, { size = 100, isFolder = false } = {}) {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  return planFile({ name: "file", size, isFolder }, bytes.subarray(0, BEGINNING_BYTES));
}

test.each([
  ["GPX", "<gpx>"],
  ["XML with a mark and blanks before it", "\ufeff\r\n  <?xml version='1.0'?>"],
  ["GeoJSON", ' {"type": "FeatureCollection"'],
  ["a list", "[\n"],
  ["GeoJSON by lines", "\u001e{"],
  ["nothing, which the server names", ""],
  ["UTF-16 of little end", new Uint8Array([0xff, 0xfe, 0x3c, 0])],
  ["UTF-16 of big end", new Uint8Array([0xfe, 0xff, 0, 0x0a, 0, 0x3c])],
])("planFile() sends %s", (_, content) => {
  expect(planOf(content)).toEqual({ kind: "send", encoding: null });
});

test("planFile() sends packed files as they are", () => {
  expect(planOf(gzipSync("<gpx>"))).toEqual({ kind: "send", encoding: "gzip" });
  expect(planOf(zstdCompressSync("<gpx>"))).toEqual({ kind: "send", encoding: "zstd" });
});

test.each([
  ["a table", "latitude,longitude\n", {}, "It is not GPX, KML or GeoJSON."],
  ["FIT", "\u000e\u0010\u0000\u0000\u0000\u0000\u0000\u0000.FIT", {}, "It is not GPX, KML or GeoJSON."],
  ["a zip", "PK\u0003\u0004", {}, "It is an archive, such as a zip or a KMZ."],
  ["a folder", "", { isFolder: true }, "It is a folder."],
  ["a long file", "<gpx>", { size: FILE_BYTES_MAX + 1 }, "It is larger than 16 MiB."],
])("planFile() leaves %s to the import command", (_, content, facts, reason) => {
  expect(planOf(content, facts)).toEqual({ kind: "command", reason });
});

test("importCommand() is one line for a shell, whatever the names are", () => {
  expect(importCommand("Takeout.zip", "https://where.example", null)).toBe(
    "npm run --silent cli -- import Takeout.zip --url https://where.example --key KEY",
  );
  expect(importCommand("-it's mine.csv", "http://a:3000", "Anna's bike")).toBe(
    "npm run --silent cli -- import './-it'\\''s mine.csv' --device 'Anna'\\''s bike' --url http://a:3000 --key KEY",
  );
});

test.each([
  ["-x", "--device=-x"],
  ["-x y", "--device='-x y'"],
  ["x-y", "--device x-y"],
])("importCommand() for the device %p has %p", (deviceId, flag) => {
  const line = importCommand("a.gpx", "http://a:3000", deviceId);
  expect(line).toBe(`npm run --silent cli -- import a.gpx ${flag} --url http://a:3000 --key KEY`);
});

test("baseName() is the device that the import command would choose", () => {
  expect(["ride.gpx.gz", "a.b.kml", "ride", ".hidden", "x.GPX.ZST"].map(baseName)).toEqual([
    ...["ride", "a.b", "ride", ".hidden", "x"],
  ]);
});

test("sizeText() has two or three digits", () => {
  expect([8, 11_449, 999_499, 999_500, 16_777_216].map(sizeText)).toEqual([
    ...["8 bytes", "11 kB", "999 kB", "1.0 MB", "16.8 MB"],
  ]);
});
