import { expect } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { readResults } from "../../../../bench/support/figures/results.ts";
import { chromiumPath } from "../../browser/support/chromium.ts";

export const BENCH = join(import.meta.dir, "../../../../bench");

/** They start many servers, browsers or processes that are measured: `npm run test:long` runs them. */
export const SLOW_BENCHES: readonly string[] = [
  "memory",
  "http",
  "doctor",
  "track",
  "page",
  "seen",
  "fenced-map",
  "fairness",
  "cluster",
  "nodes",
  "live",
  "decade",
  "seal",
];
const OF_BROWSER: readonly string[] = ["page", "seen", "fenced-map"];

export async function bench(...args: string[]) {
  const argv = [process.execPath, join(BENCH, "main.ts"), ...args];
  const child = Bun.spawn(argv, { stdout: "pipe", stderr: "pipe" });
  const [out, error, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { out, error, code };
}

/** Runs a bench at its small sizes, and looks at what it says and saves. */
export async function smoke(name: string, folder: string): Promise<void> {
  const saved = join(folder, "all", `${name}.json`);
  const { out, error, code } = await bench(name, "--smoke", "--save", saved);
  expect({ code, error: code === 0 ? "" : error }).toEqual({ code: 0, error: "" });
  expect(out).not.toContain("\u001b"); // A pipe gets no colours.
  expect(out).toContain(`\n${name}: `);
  const results = readResults(saved);
  if (!results.ok) throw new Error(results.error);
  expect(results.value).toMatchObject({ bench: name, isSmoke: true });
  const isLeftOut = OF_BROWSER.includes(name) && chromiumPath === null;
  expect(results.value.figures.length > 0, name).toBe(!isLeftOut);
  if (name === "year") expect(existsSync(saved.replace(/\.json$/, ".svg"))).toBe(true);
}
