import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import lock from "../../package-lock.json" with { type: "json" };
import { ROOT } from "./assets.ts";
import type { Architecture, ExecutableOptions } from "./executable.ts";
import { run } from "./run.ts";

/* Packages of another architecture, which an install leaves out. */

const CACHE = join(ROOT, "node_modules/.cache/wherehouse-release");

/** What an executable for an architecture has inside, besides the program. */
export function partsFor(architecture: Architecture): Pick<ExecutableOptions, "bun" | "libraries"> {
  const name = architecture === "x64" ? "bun-linux-x64" : "bun-linux-aarch64";
  return {
    bun: join(packageFolder(`@oven/${name}`), "bin/bun"),
    libraries: packageFolder(`@duckdb/node-bindings-linux-${architecture}`),
  };
}

/** The folder of a package that the lockfile names. Fetches it from npm's registry unless it is installed. */
function packageFolder(name: string): string {
  const installed = join(ROOT, "node_modules", name);
  if (existsSync(installed)) return installed;
  const folder = join(CACHE, name);
  if (!existsSync(folder)) fetchPackage(name, folder);
  return folder;
}

function fetchPackage(name: string, folder: string): void {
  const locked = (
    lock.packages as Readonly<Record<string, { readonly version?: string; readonly integrity?: string }>>
  )[`node_modules/${name}`];
  if (locked?.version === undefined || locked.integrity === undefined)
    throw new Error(`package-lock.json has no checksum of ${name}`);
  const scratch = mkdtempSync(join(tmpdir(), "wherehouse-package-"));
  try {
    const packed = run("npm", ["pack", "--silent", `${name}@${locked.version}`], { cwd: scratch }).trim();
    const archive = join(scratch, packed);
    const hash = `sha512-${createHash("sha512").update(readFileSync(archive)).digest("base64")}`;
    if (hash !== locked.integrity)
      throw new Error(`${name}@${locked.version} is not what package-lock.json names`);
    mkdirSync(folder, { recursive: true });
    run("tar", ["-xzf", archive, "-C", folder, "--strip-components=1"]);
  } finally {
    rmSync(scratch, { recursive: true });
  }
}
