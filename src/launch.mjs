/*
 * Runs `npm start`, `npm test` and the other scripts: installs missing packages, then starts the program under Bun.
 * Plain JavaScript without packages, because it runs before they are installed, on Node 20 or newer, or on Bun if there
 * is no Node (`bun run start`).
 *
 *   launch.mjs start|demo|cli|example|example-live|test|test:system|test:long|bench|simulate|cluster|soak|phones|fences|fuzz|release|docs|picture|check|format ARGUMENTS
 *
 * If nothing is missing, it costs one hash and no child process besides the requested one.
 */
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { constants, tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ended, LaunchError, run } from "./programs.mjs";

const NODE_MAJOR_MIN = 20;

/** The launcher that installs touches its lock this often. A lock untouched for ten times as long is stale. */
const LOCK_BEAT_MS = 500;
const LOCK_STALE_MS = 5000;

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const MODULES = join(ROOT, "node_modules");
/** Lists the packages of a finished install. An install removes it first and writes it last. */
const STAMP = join(MODULES, ".wherehouse.json");

const IN_BUN = process.versions.bun !== undefined;

/** Every command: whether it needs the development packages, and the programs that it runs in order. */
const COMMANDS = {
  start: { development: false, programs: (bun, args) => [[bun, "src/main.ts", "serve", ...args]] },
  demo: { development: false, programs: (bun, args) => [[bun, "src/main.ts", "demo", ...args]] },
  cli: { development: false, programs: (bun, args) => [[bun, "src/main.ts", ...args]] },
  example: {
    development: true,
    programs: (bun, args) => [[bun, "examples/typescript/courier.ts", ...args]],
  },
  "example-live": {
    development: false,
    programs: (bun, args) => [[bun, "examples/typescript/live.ts", ...args]],
  },
  test: { development: true, programs: (bun, args) => [testProgram(bun, "unit", args)] },
  "test:system": { development: true, programs: (bun, args) => [testProgram(bun, "system", args)] },
  "test:long": { development: true, programs: (bun, args) => [testProgram(bun, "long", args)] },
  bench: { development: true, programs: (bun, args) => [[bun, "bench/main.ts", ...args]] },
  simulate: { development: true, programs: (bun, args) => [[bun, "test/unit/simulation/main.ts", ...args]] },
  cluster: { development: true, programs: (bun, args) => [[bun, "test/system/cluster/main.ts", ...args]] },
  soak: { development: true, programs: (bun, args) => [[bun, "test/system/soak/main.ts", ...args]] },
  phones: { development: true, programs: (bun, args) => [[bun, "test/system/phones/main.ts", ...args]] },
  fences: { development: true, programs: (bun, args) => [[bun, "test/fences/main.ts", ...args]] },
  fuzz: { development: true, programs: fuzzers },
  release: { development: true, programs: (bun, args) => [[bun, "deploy/release/main.ts", ...args]] },
  docs: { development: true, programs: (bun, args) => [[bun, "deploy/site/main.ts", ...args]] },
  picture: { development: true, programs: (bun, args) => [[bun, "test/system/picture/main.ts", ...args]] },
  check: { development: true, programs: checks },
  format: {
    development: true,
    programs: (bun, args) => [
      [process.execPath, BIOME, "check", "--write", ".", ...args],
      [bun, "test/system/docs/write-pages.ts"],
    ],
  },
};

const FUZZ = join(ROOT, "test/system/fuzz");

/** Scripts that start their platform's binary; the runtime of the launcher runs them. */
const BIOME = join(MODULES, "@biomejs/biome/bin/biome");
const TSC = join(MODULES, "typescript-native/bin/tsc");

try {
  process.exitCode = await main(process.argv[2] ?? "", process.argv.slice(3));
} catch (error) {
  if (!(error instanceof LaunchError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}

async function main(name, args) {
  if (!IN_BUN && Number.parseInt(process.versions.node, 10) < NODE_MAJOR_MIN) {
    throw new LaunchError(
      `Node ${NODE_MAJOR_MIN} or newer is required; this is Node ${process.versions.node}. ` +
        `With Bun alone, run: bun run ${name}`,
    );
  }
  if (!Object.hasOwn(COMMANDS, name)) {
    if (name !== "") console.error(`Unknown command "${name}".`);
    console.error(`Usage: launch.mjs ${Object.keys(COMMANDS).join("|")} [arguments]`);
    return 2;
  }
  const { development, programs } = COMMANDS[name];
  const bun = await ensureInstalled(development);
  for (const program of programs(bun, args)) {
    const exitCode = await run(program, { cwd: ROOT });
    if (exitCode !== 0) return exitCode;
  }
  return 0;
}

function testProgram(bun, tier, args) {
  return [bun, "test/runner/main.ts", tier, ...args];
}

function checks(bun, args) {
  if (args.length > 0) throw new LaunchError(`check takes no arguments; got "${args[0]}".`);
  const all = [
    [process.execPath, BIOME, "ci", ".", ...(process.env.NO_COLOR ? ["--colors=off"] : [])],
    [bun, "test/runner/refuse-sleeps.ts"],
    [bun, "test/runner/refuse-dialect.ts"],
    [bun, "test/system/examples/write-types.ts"], // The compiler reads its output.
    [process.execPath, TSC, "--noEmit", "-p", "."],
  ];
  const deno = findDeno();
  if (deno !== null) all.push([deno, "check", "src/main.ts"]);
  else console.error(`Skipped deno check: there is no Deno for ${process.platform} ${process.arch}.`);
  return all;
}

/** The fuzzers run on Deno, because V8 reports which code has run. */
function fuzzers(_bun, args) {
  const deno = findDeno();
  if (deno === null) throw new LaunchError(`There is no Deno for ${process.platform} ${process.arch}.`);
  return [
    [
      deno,
      "run",
      "--no-prompt",
      "--allow-env",
      "--allow-sys",
      "--allow-read",
      `--allow-write=${FUZZ}`,
      join(FUZZ, "main.ts"),
      ...args,
    ],
  ];
}

function findDeno() {
  const deno = findNative("@deno", `${process.platform}-${process.arch}`, "deno");
  return deno === null ? null : join(ROOT, deno);
}

/* Packages */

/** Installs the packages if needed; returns the path of the Bun among them. */
async function ensureInstalled(development) {
  const digest = packagesDigest();
  const find = () => findStamped(digest, development) ?? adopt(digest, development);
  return find() ?? (await alone(async () => find() ?? (await install(digest, development))));
}

/** Changes with the two package files and with the platform. */
function packagesDigest() {
  const hash = createHash("sha256").update(`${process.platform} ${process.arch}`);
  for (const file of ["package.json", "package-lock.json"]) hash.update(fs.readFileSync(join(ROOT, file)));
  return hash.digest("hex");
}

/** The Bun of a finished install of these packages; null if there is none. */
function findStamped(digest, development) {
  const stamp = readJson(STAMP);
  if (stamp?.digest !== digest || (development && !stamp.development)) return null;
  const bun = join(ROOT, stamp.bun);
  return fs.existsSync(bun) ? bun : null;
}

/**
 * Accepts an install that `npm ci` made without the launcher. npm writes its list of installed packages at the end, so
 * an interrupted install is not accepted.
 */
function adopt(digest, development) {
  const installed = readJson(join(MODULES, ".package-lock.json"))?.packages;
  const wanted = readJson(join(ROOT, "package-lock.json"))?.packages;
  if (installed === undefined || wanted === undefined) return null;
  const missing = Object.entries(wanted).filter(
    ([path, { version, optional, devOptional }]) =>
      path !== "" && !optional && !devOptional && installed[path]?.version !== version,
  );
  const usable = development ? missing.length === 0 : missing.every(([, { dev }]) => dev);
  return usable ? stampInstall(digest, missing.length === 0) : null;
}

async function install(digest, development) {
  const canRun = findStamped(digest, false) !== null;
  const [program, ...args] = installer(development, canRun);
  console.error("Installing packages ...");
  fs.rmSync(STAMP, { force: true });
  const { code, output } = await runQuietly([program, ...args]);
  if (code !== 0) {
    process.stderr.write(output);
    throw new LaunchError(`Installing packages failed: ${[program, ...args].join(" ")}`);
  }
  const bun = stampInstall(digest, development);
  if (bun === null) throw new LaunchError(`No package holds a Bun for ${process.platform} ${process.arch}.`);
  return bun;
}

/**
 * Uses npm with Node, and Bun without it. `npm ci` begins by removing everything, so if only development packages are
 * missing `npm install` adds them: a server that runs from this directory keeps its files.
 */
function installer(development, canRun) {
  const npm = IN_BUN ? null : findOnPath("npm");
  if (npm !== null) {
    const how = canRun ? ["install", "--no-save"] : ["ci"];
    const which = [development ? "--include=dev" : "--omit=dev", "--include=optional"];
    return [npm, ...how, ...which, "--ignore-scripts", "--no-audit", "--no-fund"];
  }
  const bun = IN_BUN ? fs.realpathSync(process.execPath) : findOnPath("bun");
  if (bun === null) throw new LaunchError("Cannot install packages: neither npm nor bun is on the PATH.");
  return [bun, "install", "--frozen-lockfile", "--ignore-scripts", ...(development ? [] : ["--production"])];
}

/** Finds the Bun among the packages and records the install; null if none of them runs on this machine. */
function stampInstall(digest, development) {
  const arch = process.arch === "arm64" ? "aarch64" : process.arch;
  const bun = findNative("@oven", `bun-${process.platform}-${arch}`, "bin/bun");
  if (bun === null) return null;
  try {
    fs.writeFileSync(`${STAMP}.${process.pid}`, JSON.stringify({ digest, development, bun }));
    fs.renameSync(`${STAMP}.${process.pid}`, STAMP);
  } catch {
    // A read-only disk: the packages are usable as they are, and the next launch examines them again.
  }
  return join(ROOT, bun);
}

/**
 * The path, from the root, of the first binary among a scope's packages that runs on this machine. A platform may have
 * several, for other C libraries and older processors. `node_modules/.bin` is no help: its entries need install
 * scripts, which the launcher doesn't run.
 */
function findNative(scope, prefix, binary) {
  const directory = join(MODULES, scope);
  if (!fs.existsSync(directory)) return null;
  const candidates = fs
    .readdirSync(directory)
    .filter((name) => name === prefix || name.startsWith(`${prefix}-`));
  for (const name of candidates.sort()) {
    const path = join("node_modules", scope, name, binary);
    if (spawnSync(join(ROOT, path), ["--version"], { stdio: "ignore" }).status === 0) return path;
  }
  return null;
}

/* One install at a time */

/** Runs `work` while no other launcher of this directory does. If the lock can't be created, it runs anyway. */
async function alone(work) {
  const name = createHash("sha256").update(ROOT).digest("hex").slice(0, 16);
  const lock = join(tmpdir(), `wherehouse-install-${name}`);
  if (isHeld(lock)) {
    console.error("Waiting for another launch to install packages ...");
    while (isHeld(lock)) await new Promise((resolve) => setTimeout(resolve, LOCK_BEAT_MS / 2));
  }
  const beat = setInterval(() => fs.utimes(lock, new Date(), new Date(), () => {}), LOCK_BEAT_MS);
  const release = () => fs.rmSync(lock, { recursive: true, force: true });
  process.once("exit", release);
  try {
    return await work();
  } finally {
    clearInterval(beat);
    process.off("exit", release);
    release();
  }
}

/** Whether another launcher has the lock. If none has, this call takes it. */
function isHeld(lock) {
  try {
    fs.mkdirSync(lock);
    return false;
  } catch (error) {
    if (error.code !== "EEXIST") return false;
  }
  const touchedMs = fs.statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (Date.now() - touchedMs > LOCK_STALE_MS) fs.rmSync(lock, { recursive: true, force: true });
  return true;
}

/* Processes */

/** Runs a program and collects its output. */
async function runQuietly([program, ...args]) {
  let output = "";
  const { code, signal } = await ended(program, () => {
    const child = spawn(program, args, { cwd: ROOT, stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text) => {
        output += text;
      });
    }
    return child;
  });
  if (signal !== null) process.exit(128 + constants.signals[signal]); // The user has cancelled the rest.
  return { code, output };
}

/* Files */

function findOnPath(name) {
  for (const directory of (process.env.PATH ?? "").split(delimiter)) {
    const path = join(directory, name);
    if (directory !== "" && fs.existsSync(path)) return path;
  }
  return null;
}

/** The file's content; null if it is missing or not JSON, which mean the same here. */
function readJson(path) {
  try {
    return JSON.parse(fs.readFileSync(path, "utf8"));
  } catch {
    return null;
  }
}
