import { afterAll, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { readResults } from "../../../bench/support/figures/results.ts";
import { chromiumPath } from "../browser/support/chromium.ts";

const MAIN = join(import.meta.dir, "../../../bench/main.ts");
const RESULTS = join(import.meta.dir, "../../../bench/results");

const folder = mkdtempSync(join(tmpdir(), "wherehouse-bench-test-"));
afterAll(() => rmSync(folder, { recursive: true }));

async function bench(...args: string[]) {
  const child = Bun.spawn([process.execPath, MAIN, ...args], { stdout: "pipe", stderr: "pipe" });
  const [out, error, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { out, error, code };
}

/** As `--help` lists them. */
async function benchNames(): Promise<string[]> {
  const { out } = await bench("--help");
  return [...out.matchAll(/^ {2}([a-z][a-z-]*) {2}/gm)].map(([, name]) => name!);
}

test("every bench runs, finds the answers it times equal, and leaves results that can be read", async () => {
  const names = await benchNames();
  expect(names).toContain("ingest");
  const { out, error, code } = await bench("--smoke", "--save", `${folder}/all/`);
  expect({ code, error: code === 0 ? "" : error }).toEqual({ code: 0, error: "" });
  expect(out).not.toContain("\u001b"); // A pipe gets no colours.
  for (const name of names) {
    expect(out).toContain(`\n${name}: `);
    const results = readResults(join(folder, "all", `${name}.json`));
    if (!results.ok) throw new Error(results.error);
    expect(results.value).toMatchObject({ bench: name, isSmoke: true });
    const isLeftOut = ["page", "seen"].includes(name) && chromiumPath === null;
    expect(results.value.figures.length > 0, name).toBe(!isLeftOut);
  }
  expect(existsSync(join(folder, "all", "year.svg"))).toBe(true);
}, 600_000); // Forty benches, on a machine that does much else.

test("every file that is a bench is in the list", async () => {
  const files = readdirSync(join(MAIN, "../benches"), { recursive: true, encoding: "utf8" });
  const benches = files.filter((file) => file.endsWith(".ts")).map((file) => basename(file, ".ts"));
  expect((await benchNames()).sort()).toEqual(benches.sort());
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
}, 30_000);

test("--profile says where the time of a bench and of its server went", async () => {
  const { out, code } = await bench("device-page", "--smoke", "--rounds=1", "--seconds=0.1", "--profile");
  expect(code).toBe(0);
  expect(out).toMatch(
    /the bench's process, \d+ samples in .*\/device-page\.cpuprofile\n( {3,}[\d.]+ % {2}.*\n){10}/,
  );
  expect(out).toMatch(/servers it started, [\d,]+ samples in .*\/device-page-server-1\.cpuprofile\n/);
  expect(existsSync(join(RESULTS, "profiles", "device-page-server-1.cpuprofile"))).toBe(true);
}, 30_000);

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
}, 30_000);

test("--help after a name shows the question and the sizes", async () => {
  const { out, code } = await bench("replay", "--help");
  expect(code).toBe(0);
  expect(out).toContain("replaying the log into a queryable store");
  expect(out).toMatch(/--reports N +.* \(500; smoke 5\)/);
});
