import { afterAll, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { readResults } from "../../../bench/support/figures/results.ts";
import { BENCH_NAMES } from "../../../bench/support/run/benches.ts";
import { BENCH, bench, SLOW_BENCHES, smoke } from "./support/smoke.ts";

const RESULTS = join(BENCH, "results");
/** `peers/peers.test.ts` runs it, with peers and without. */
const TRIED_BY_PEERS = "peers";

const folder = mkdtempSync(join(tmpdir(), "wherehouse-bench-test-"));
afterAll(() => rmSync(folder, { recursive: true }));

const SMOKED = BENCH_NAMES.filter((name) => !SLOW_BENCHES.includes(name) && name !== TRIED_BY_PEERS);

test.each(SMOKED)("%s runs, finds the answers it times equal, and leaves results that can be read", (name) =>
  smoke(name, folder),
);

test("every file that is a bench is in the list", async () => {
  const files = readdirSync(join(BENCH, "benches"), { recursive: true, encoding: "utf8" });
  const benches = files.filter((file) => file.endsWith(".ts")).map((file) => basename(file, ".ts"));
  expect([...BENCH_NAMES].sort()).toEqual(benches.sort());
  const { out } = await bench("--help");
  const listed = [...out.matchAll(/^ {2}([a-z][a-z-]*) {2}/gm)].map(([, name]) => name!);
  expect(listed).toEqual([...BENCH_NAMES]);
});

test("a size is given by flag, and a run is compared with an earlier one", async () => {
  const small = ["replay", "--smoke", "--positions", "500", "--reports=1"];
  const path = join(folder, "replay.json");
  expect((await bench(...small, "--runs", "5", "--save", path)).code).toBe(0);
  const saved = readResults(path);
  expect(saved).toMatchObject({ value: { sizes: { positions: 500, reports: 1, runs: 5 } } });
  const { out, code } = await bench(...small, "--runs", "6", "--against", path);
  expect(code).toBe(0);
  expect(out).toContain("careful: runs was 5, is 6");
  expect(out).toMatch(
    /full reports, replay +[\d,]+ -> [\d,]+ records\/s {2}[+-][\d.]+ % {2}\w.*\(p [\d.]+\)\n/,
  );
});

test("--profile says where the time of a bench and of its server went", async () => {
  const { out, code } = await bench("device-page", "--smoke", "--rounds=1", "--seconds=0.1", "--profile");
  expect(code).toBe(0);
  expect(out).toMatch(
    /the bench's process, \d+ samples in .*\/device-page\.cpuprofile\n( {3,}[\d.]+ % {2}.*\n){10}/,
  );
  expect(out).toMatch(/servers it started, [\d,]+ samples in .*\/device-page-server-1\.cpuprofile\n/);
  expect(existsSync(join(RESULTS, "profiles", "device-page-server-1.cpuprofile"))).toBe(true);
});

test("a mistake is one line on stderr, with exit code 2", async () => {
  const missing = join(folder, "missing.json");
  for (const [args, line] of [
    [["nothing"], /^There is no bench nothing\. .*\n$/],
    [["--fast"], /^Unknown option --fast\. See --help\.\n$/],
    [["replay", "--batches", "5"], /^--batches is no flag of replay, but of .*ingest.*\n$/],
    [["replay", "--runs", "many"], /^--runs takes a number, and "many" is none\.\n$/],
    [["replay", "--against", missing], /^.*missing\.json cannot be read: ENOENT\n$/],
    [["--smoke", "--against", `${folder}/none/`], /^.*none\/ has no results of .*\n$/],
  ] as const) {
    const { out, error, code } = await bench(...args);
    expect({ out, code }).toEqual({ out: "", code: 2 });
    expect(error).toMatch(line);
  }
});

test("--help after a name shows the question and the sizes", async () => {
  const { out, code } = await bench("replay", "--help");
  expect(code).toBe(0);
  expect(out).toContain("replaying the log into a queryable store");
  expect(out).toMatch(/--reports N +.* \(500; smoke 5\)/);
});
