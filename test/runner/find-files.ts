import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, normalize } from "node:path";
import { fail, ok, type Result } from "../../src/lib/result.ts";
import type { Tier } from "./command-line.ts";

const FOLDER_OF = { system: "test/system", long: "test/long" } as const;

/** Its words are the ways to draw random cases: such unit tests run in the system tier too, with more cases. */
const DRAWS_CASES = /from "[./]*\/support\/(fast-check|random-runs)\.ts"/;
/** Names these tests in `npm run test:system -- random`. */
const RANDOM = "random";

/** The test files of a tier, or of some paths, as `test/…` from the project's root. The error is one line. */
export function findFiles(root: string, tier: Tier, paths: readonly string[]): Result<string[], string> {
  const all = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".test.ts"))
    .map((path) => `test/${path.replaceAll("\\", "/")}`)
    .sort();
  const units = all.filter((path) => tierOf(path) === "unit");
  if (paths.length === 0 && tier === "unit") return ok(units);
  const found = new Set<string>();
  for (const path of paths.length > 0 ? paths : [FOLDER_OF[tier as keyof typeof FOLDER_OF], RANDOM]) {
    const files =
      path === RANDOM ? units.filter((unit) => drawsCases(root, unit)) : filesAt(root, all, tier, path);
    if (files.length === 0) return fail(`There is no test at ${path}.`);
    for (const file of files) found.add(file);
  }
  return ok([...found]);
}

/** A folder may be named as it is called within its tier. */
function filesAt(root: string, all: readonly string[], tier: Tier, path: string): string[] {
  const tried = [...(tier === "unit" ? [] : [`${FOLDER_OF[tier]}/${path}`]), path];
  const place = tried
    .map((name) => normalize(name).replace(/\/$/, ""))
    .find((name) => existsSync(join(root, name)));
  if (place === undefined) return [];
  if (statSync(join(root, place)).isFile()) return [place];
  return all.filter((file) => file.startsWith(`${place}/`));
}

export function tierOf(path: string): Tier {
  if (path.startsWith(`${FOLDER_OF.long}/`)) return "long";
  return path.startsWith(`${FOLDER_OF.system}/`) ? "system" : "unit";
}

function drawsCases(root: string, path: string): boolean {
  return DRAWS_CASES.test(readFileSync(join(root, path), "utf8"));
}
