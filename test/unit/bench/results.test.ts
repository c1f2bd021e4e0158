import { expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { formatJson } from "../../../bench/support/figures/json.ts";
import {
  encodeResults,
  parseResults,
  readResults,
  saveResults,
} from "../../../bench/support/figures/results.ts";
import { sampleResults } from "./sample-results.ts";

test("parseResults() reads what encodeResults() wrote", () => {
  const parsed = parseResults(encodeResults(sampleResults));
  if (!parsed.ok) throw new Error(parsed.error);
  expect(parsed.value).toMatchObject(sampleResults);
});

test("encodeResults() keeps six digits and adds the median of the runs", () => {
  const figure = { name: "ours", unit: "ms", runs: [1.23456789, 3, 2.00000049] };
  const json = JSON.parse(encodeResults({ ...sampleResults, figures: [figure] }));
  expect(json.figures).toEqual([{ name: "ours", unit: "ms", median: 2, runs: [1.23457, 3, 2] }]);
});

test("parseResults() says what a file is that holds no results", () => {
  const errorOf = (text: string) => {
    const parsed = parseResults(text);
    return parsed.ok ? null : parsed.error;
  };
  const sample = JSON.parse(encodeResults(sampleResults));
  expect(errorOf("{")).toBe("is not JSON");
  expect(errorOf("[1, 2]")).toBe("is not a results file of a bench");
  expect(errorOf(JSON.stringify({ ...sample, formatVersion: 2 }))).toBe("has format version 2, expected 1");
  for (const broken of [
    { machine: null },
    { figures: [{ name: "ours", unit: "ms", runs: [] }] },
    { figures: [{ name: "ours", unit: "ms", runs: [null] }] },
    { ratios: [{ name: "ours", runs: [1] }] },
    { ratios: undefined },
  ]) {
    expect(errorOf(JSON.stringify({ ...sample, ...broken }))).toBe("is not a whole results file");
  }
});

test("saveResults() writes the file and what belongs beside it, and readResults() names a file it can't read", () => {
  const folder = mkdtempSync(join(tmpdir(), "wherehouse-results-"));
  try {
    const path = join(folder, "new", "sample.json");
    const attachments = new Map([
      [".svg", "<svg/>"],
      ["-days.json", "[]"],
    ]);
    saveResults(path, sampleResults, attachments);
    expect(readdirSync(join(folder, "new")).sort()).toEqual([
      "sample-days.json",
      "sample.json",
      "sample.svg",
    ]);
    expect(readFileSync(join(folder, "new", "sample.svg"), "utf8")).toBe("<svg/>");
    expect(readResults(path).ok).toBe(true);
    const missing = join(folder, "missing.json");
    expect(readResults(missing)).toEqual({ ok: false, error: `${missing} cannot be read: ENOENT` });
    writeFileSync(missing, "no");
    expect(readResults(missing)).toEqual({ ok: false, error: `${missing} is not JSON` });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("formatJson() has a line a member, and as many numbers to a line as fit", () => {
  expect(formatJson({ a: 1, none: undefined, b: [], c: {}, d: [{ e: "f" }] })).toBe(
    '{\n  "a": 1,\n  "b": [],\n  "c": {},\n  "d": [\n    {\n      "e": "f"\n    }\n  ]\n}\n',
  );
  const runs = Array.from({ length: 100 }, (_, index) => 1000 + index);
  const text = formatJson({ runs, short: [1, 2] });
  const lines = text.split("\n");
  expect(JSON.parse(text)).toEqual({ runs, short: [1, 2] });
  expect(lines).toContain('  "short": [1, 2]');
  expect(lines[2]).toHaveLength(4 + 17 * "1000, ".length - 1); // An eighteenth would be one column too many.
  expect(lines[2]!.length).toBeLessThanOrEqual(110);
});
