import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

/** The folder of real tracks, places and reference answers for tests. */
const TEST_DATA = process.env.WHEREHOUSE_TEST_DATA ?? join(import.meta.dir, "../../../shared/data");

/** Reads a reference file, decompressing `.gz`. If it is missing, names the skipped tests and returns null. */
export function readTestData(path: string): string | null {
  const bytes = readTestDataBytes(path);
  if (bytes === null) return null;
  return (path.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8");
}

export function readTestDataBytes(path: string): Buffer | null {
  const file = testDataPath(path);
  return file === null ? null : readFileSync(file);
}

/** The file's path, for a process that reads it; null, after a line that says so, if it is missing. */
export function testDataPath(path: string): string | null {
  const file = join(TEST_DATA, path);
  if (existsSync(file)) return file;
  console.warn(`Left out: everything checked against ${path}, which WHEREHOUSE_TEST_DATA does not hold.`);
  return null;
}

/** Rows of a CSV without quoted fields, except the header and `#` lines. */
export function csvRows(text: string): string[][] {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return lines.slice(1).map((line) => line.trimEnd().split(","));
}
