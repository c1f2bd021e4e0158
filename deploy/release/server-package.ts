import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import { ROOT } from "./assets.ts";
import { packFolder, run } from "./run.ts";

/* The server as a package for npm: its sources, which run under the Bun that npm installs with them. */

export const SERVER_NAME = manifest.name;

const SOURCES = ["src", "data", "LICENSE"];

/** Returns the path of the package, which `npm install` and `npx` take. */
export function packServer(folder: string): string {
  const scratch = mkdtempSync(join(tmpdir(), "wherehouse-server-"));
  try {
    for (const path of sourcePaths()) {
      mkdirSync(dirname(join(scratch, path)), { recursive: true });
      copyFileSync(join(ROOT, path), join(scratch, path));
    }
    mkdirSync(join(scratch, "bin"));
    copyFileSync(join(ROOT, "deploy/npm/wherehouse.mjs"), join(scratch, "bin/wherehouse.mjs"));
    copyFileSync(join(ROOT, "deploy/npm/README.md"), join(scratch, "README.md"));
    writeFileSync(join(scratch, "package.json"), `${JSON.stringify(packageManifest(), null, 2)}\n`);
    return packFolder(scratch, folder);
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

/** From the project's folder. */
function sourcePaths(): readonly string[] {
  const which = ["--cached", "--others", "--exclude-standard"];
  return run("git", ["ls-files", "-z", ...which, ...SOURCES])
    .split("\0")
    .filter(Boolean);
}

function packageManifest() {
  const { name, version, description, license, type, engines, dependencies } = manifest;
  const bin = { wherehouse: "bin/wherehouse.mjs" };
  return { name, version, description, license, type, engines, bin, dependencies };
}
