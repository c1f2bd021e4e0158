/*
 * What `npm start`, `npm test` and the other scripts run: puts the packages in place where they are missing,
 * then starts the real thing under Bun. Plain JavaScript without packages, because it comes before them: it
 * runs on Node 20 or newer, and on Bun where there is no Node (`bun run start`).
 *
 *   launch.mjs start|demo|cli|example|example-live|test|test:system|test:long|bench|simulate|cluster|soak|phones|fuzz|picture|check|format ARGUMENTS
 *
 * Where nothing is missing it costs one hash and no child process but the one that was asked for.
 */
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { constants, tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const NODE_MAJOR_MIN = 20;

/** The launcher that installs touches its lock this often; one left alone for ten times that is forgotten. */
const LOCK_BEAT_MS = 500;
const LOCK_STALE_MS = 5000;

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const MODULES = join(ROOT, "node_modules");
/** Says what an install that came to its end has put in place: removed first, written last. */
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
  fuzz: { development: true, programs: fuzzers },
  picture: { development: true, programs: (bun, args) => [[bun, "test/system/picture/main.ts", ...args]] },
  check: { development: true, programs: checks },
  format: {
    development: true,
    programs: (bun, args) => [
      [process.execPath, BIOME, "check", "--write", ".", ...args],
      [bun, "test/system/docs/write-endpoints.ts"],
    ],
  },
};

const FUZZ = join(ROOT, "test/system/fuzz");

/** Both are scripts that start the binary of their platform; whichever runtime we are runs them. */
const BIOME = join(MODULES, "@biomejs/biome/bin/biome");
const TSC = join(MODULES, "typescript-native/bin/tsc");

/** A failure that its message explains. */
class LaunchError extends Error {}

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
      `Node ${NODE_MAJOR_MIN} or newer is needed, and this is ${process.versions.node}. ` +
        `With Bun alone: bun run ${name}`,
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
    const exitCode = await run(program);
    if (exitCode !== 0) return exitCode;
  }
  return 0;
}

function testProgram(bun, tier, args) {
  return [bun, "test/runner/main.ts", tier, ...args];
}

function checks(bun, args) {
  if (args.length > 0) throw new LaunchError(`check takes no arguments, and "${args[0]}" is one.`);
  const all = [
    [process.execPath, BIOME, "ci", "."],
    [bun, "test/runner/refuse-sleeps.ts"],
    [bun, "test/system/examples/write-types.ts"], // The compiler reads them next.
    [process.execPath, TSC, "--noEmit", "-p", "."],
  ];
  const deno = findDeno();
  if (deno !== null) all.push([deno, "check", "src/main.ts"]);
  else console.error(`Left out: deno check, since there is no Deno for ${process.platform} ${process.arch}.`);
  return all;
}

/** On Deno, since V8 says what code has run. */
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

/** The path of the Bun that belongs to the packages, once everything that is needed is in place. */
async function ensureInstalled(development) {
  const digest = packagesDigest();
  const find = () => findStamped(digest, development) ?? adopt(digest, development);
  return find() ?? (await alone(async () => find() ?? (await install(digest, development))));
}

/** Changes when other packages belong in place: with the two files, and with the machine they are for. */
function packagesDigest() {
  const hash = createHash("sha256").update(`${process.platform} ${process.arch}`);
  for (const file of ["package.json", "package-lock.json"]) hash.update(fs.readFileSync(join(ROOT, file)));
  return hash.digest("hex");
}

/** The Bun of an install that was made for these packages; null where there is none. */
function findStamped(digest, development) {
  const stamp = readJson(STAMP);
  if (stamp?.digest !== digest || (development && !stamp.development)) return null;
  const bun = join(ROOT, stamp.bun);
  return fs.existsSync(bun) ? bun : null;
}

/**
 * Takes over what `npm ci` has put in place without us. npm writes its own list of what is there at the end of
 * an install, so an interrupted one is not taken for whole.
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
 * npm with Node, Bun without. `npm ci` begins by removing everything; where only development packages are
 * missing `npm install` adds them, so that a server running from this directory keeps its files.
 */
function installer(development, canRun) {
  const npm = IN_BUN ? null : findOnPath("npm");
  if (npm !== null) {
    const how = canRun ? ["install", "--no-save"] : ["ci"];
    const which = [development ? "--include=dev" : "--omit=dev", "--include=optional"];
    return [npm, ...how, ...which, "--ignore-scripts", "--no-audit", "--no-fund"];
  }
  const bun = IN_BUN ? fs.realpathSync(process.execPath) : findOnPath("bun");
  if (bun === null) throw new LaunchError("Neither npm nor bun is on the PATH to install packages with.");
  return [bun, "install", "--frozen-lockfile", "--ignore-scripts", ...(development ? [] : ["--production"])];
}

/** Finds the packages' Bun and remembers it beside what is installed; null where none of them runs here. */
function stampInstall(digest, development) {
  const arch = process.arch === "arm64" ? "aarch64" : process.arch;
  const bun = findNative("@oven", `bun-${process.platform}-${arch}`, "bin/bun");
  if (bun === null) return null;
  try {
    fs.writeFileSync(`${STAMP}.${process.pid}`, JSON.stringify({ digest, development, bun }));
    fs.renameSync(`${STAMP}.${process.pid}`, STAMP);
  } catch {
    // Packages on a read-only disk can be used as they are; they are looked at again next time.
  }
  return join(ROOT, bun);
}

/**
 * The first binary, as a path from the root, that runs among a scope's packages for a platform: several may be
 * there, for other C libraries and older processors. `node_modules/.bin` is no help: its entries wait for
 * install scripts, which don't run here.
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

/** Does the work while no other launcher of this directory does it. Where no lock can be had it goes ahead. */
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

/** Whether another launcher holds the lock; if none does, it is ours now. */
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

/** Runs a program in our place: it has our terminal, gets our signals, and its end is our end. */
async function run([program, ...args]) {
  const { code, signal } = await ended(program, () => spawn(program, args, { cwd: ROOT, stdio: "inherit" }));
  if (signal === null) return code;
  process.removeAllListeners(signal);
  process.kill(process.pid, signal); // No handler is left: we end as it did.
  return 128 + constants.signals[signal]; // Where the signal doesn't end us.
}

/** Runs a program for its exit code; its output is kept. */
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
  if (signal !== null) process.exit(128 + constants.signals[signal]); // Nobody wants what was to come.
  return { code, output };
}

/**
 * How the child ended. Until then signals are its to answer, and each is passed on.
 */
function ended(program, start) {
  let child = null;
  // A terminal tells the whole group, and npm tells us again. Each signal is passed on once, since a child that hears
  // one more at its very end, when its handlers are gone, would end by it.
  const passedOn = new Set();
  const forward = (signal) => {
    if (!passedOn.has(signal)) child.kill(signal);
    passedOn.add(signal);
  };
  const handlers = { SIGTERM: forward, SIGHUP: forward, SIGINT: forward };
  // Before there is a child: one that came between the two would end us and leave it alone.
  for (const [signal, handler] of Object.entries(handlers)) process.on(signal, handler);
  child = start();
  return new Promise((resolve, reject) => {
    child.once("error", (cause) => reject(new LaunchError(`Cannot run ${program}: ${cause.message}`)));
    child.once("close", (code, signal) => {
      for (const [name, handler] of Object.entries(handlers)) process.off(name, handler);
      for (const name of passedOn) process.on(name, () => {}); // The child has answered: one more says nothing new.
      resolve({ code, signal });
    });
  });
}

/* Files */

function findOnPath(name) {
  for (const directory of (process.env.PATH ?? "").split(delimiter)) {
    const path = join(directory, name);
    if (directory !== "" && fs.existsSync(path)) return path;
  }
  return null;
}

/** The file's content; null where it is missing or no JSON, which both mean that it tells us nothing. */
function readJson(path) {
  try {
    return JSON.parse(fs.readFileSync(path, "utf8"));
  } catch {
    return null;
  }
}
