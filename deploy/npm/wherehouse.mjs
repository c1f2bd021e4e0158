#!/usr/bin/env node
/* The command of the npm package: runs the program under the Bun that is installed with it. */

import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { LaunchError, run } from "../src/programs.mjs";

const MAIN = fileURLToPath(new URL("../src/main.ts", import.meta.url));

try {
  process.exitCode = await run([findBun(), MAIN, ...process.argv.slice(2)], {
    // So that the program's help names this command.
    env: { ...process.env, npm_package_name: "wherehouse", npm_lifecycle_event: "npx" },
  });
} catch (error) {
  if (!(error instanceof LaunchError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}

/** The first of Bun's programs that runs on this machine. The package `bun` would choose by an install script. */
function findBun() {
  const manifestPath = createRequire(import.meta.url).resolve("bun/package.json");
  const require = createRequire(manifestPath);
  for (const name of Object.keys(require(manifestPath).optionalDependencies)) {
    const program = programOf(require, name);
    if (program !== null && spawnSync(program, ["--version"], { stdio: "ignore" }).status === 0)
      return program;
  }
  throw new LaunchError(`There is no Bun for ${process.platform} ${process.arch}.`);
}

/** Null if the package is one of another platform, which npm leaves out. */
function programOf(require, name) {
  try {
    return join(dirname(require.resolve(`${name}/package.json`)), "bin/bun");
  } catch {
    return null;
  }
}
