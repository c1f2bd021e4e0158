import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import manifest from "../../../package.json" with { type: "json" };

/*
 * Goal: packages are installed when, and only when, they are missing, and the launcher's end is its child's.
 * Method: the real launcher in a small project of its own, with an `npm` that notes its arguments and puts the
 * Bun that runs this test in place.
 */
const NODE = findNode();
if (NODE === null) console.warn("Left out: the launcher's tests, which need Node beside Bun.");

const ARCH = process.arch === "arm64" ? "aarch64" : process.arch;
const BUN_PACKAGE = `node_modules/@oven/bun-${process.platform}-${ARCH}`;

const NPM = `#!/bin/sh
echo "$*" >> npm.log
if [ -e broken ]; then echo "registry unreachable"; exit 1; fi
mkdir -p ${BUN_PACKAGE}/bin ${BUN_PACKAGE}-musl/bin
ln -sf "${process.execPath}" ${BUN_PACKAGE}-musl/bin/bun
if [ -e foreign ]; then printf '#!/bin/sh\\nexit 127\\n' > ${BUN_PACKAGE}/bin/bun; chmod +x ${BUN_PACKAGE}/bin/bun
else ln -sf "${process.execPath}" ${BUN_PACKAGE}/bin/bun; fi
`;

const MAIN = `
process.on("SIGTERM", () => process.exit(7));
if (process.argv.includes("--fail")) process.exit(3);
if (process.argv.includes("--stay")) setInterval(() => {}, 1000);
console.log(process.argv.includes("--stay") ? process.pid : process.argv.slice(2).join(" "));
`;

/** Makes a launcher stand still for a second after it has started a process, as on a machine with too much to do. */
const SLOW_SPAWN = `
import processes from "node:child_process";
import { syncBuiltinESMExports } from "node:module";
const { spawn } = processes;
processes.spawn = (...args) => {
  const child = spawn(...args);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);
  return child;
};
syncBuiltinESMExports();
`;

/** Once a launcher's child has ended, the launcher gets the signal again: from npm, after the terminal. */
const LATE_SIGNAL = `
import processes from "node:child_process";
import { syncBuiltinESMExports } from "node:module";
const { spawn } = processes;
processes.spawn = (...args) => {
  const child = spawn(...args);
  const again = () => setImmediate(() => process.kill(process.pid, "SIGTERM"));
  if (args[1].includes("--stay")) child.once("close", again);
  return child;
};
syncBuiltinESMExports();
`;

let project = "";

beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), "wherehouse-launch-"));
  for (const directory of ["src", "bin", "tmp"]) mkdirSync(join(project, directory));
  for (const name of ["launch.mjs", "programs.mjs"])
    copyFileSync(join(import.meta.dir, "../../../src", name), join(project, "src", name));
  put("src/main.ts", MAIN);
  mkdirSync(join(project, "test/runner"), { recursive: true });
  put("test/runner/main.ts", MAIN);
  put("package.json", "{}");
  put("package-lock.json", lockOf("1.0.0"));
  put("bin/npm", NPM);
  chmodSync(join(project, "bin/npm"), 0o755);
});

afterEach(() => rmSync(project, { recursive: true }));

describe.skipIf(NODE === null)("launch.mjs", () => {
  test("installs before the first start, and not before the second", async () => {
    expect(await launch("start", "--port", "1")).toEqual({
      code: 0,
      out: "serve --port 1\n",
      err: "Installing packages ...\n",
    });
    expect(npmCalls()).toEqual(["ci --omit=dev --include=optional --ignore-scripts --no-audit --no-fund"]);
    await launch("start");
    expect(npmCalls()).toHaveLength(1);
  });

  test("installs again when the lock file has changed", async () => {
    await launch("start");
    put("package-lock.json", lockOf("1.0.1"));
    await launch("start");
    expect(npmCalls()).toHaveLength(2);
  });

  test("adds development packages to what a running server uses, without removing it", async () => {
    await launch("start");
    await launch("test", "--version");
    expect(npmCalls()[1]).toStartWith("install --no-save --include=dev ");
    await launch("start");
    await launch("test", "--version");
    expect(npmCalls()).toHaveLength(2);
  });

  test("does a failed install again, after saying what the installer said", async () => {
    await launch("start");
    put("broken", "");
    const failed = await launch("test", "--version");
    expect(failed.code).toBe(1);
    expect(failed.err).toContain("registry unreachable");
    rmSync(join(project, "broken"));
    expect((await launch("start")).code).toBe(0); // What was there may have been half replaced.
    expect(npmCalls()).toHaveLength(3);
  });

  test("takes over what npm has installed by itself, if it is all there", async () => {
    await launch("start");
    rmSync(join(project, "node_modules/.wherehouse.json"));
    put("node_modules/.package-lock.json", lockOf("1.0.0"));
    await launch("start");
    expect(npmCalls()).toHaveLength(1);
    rmSync(join(project, "node_modules/.wherehouse.json"));
    put("node_modules/.package-lock.json", JSON.stringify({ packages: {} }));
    await launch("start");
    expect(npmCalls()).toHaveLength(2);
  });

  test("installs once when two are started at once", async () => {
    const both = await Promise.all([launch("start"), launch("start")]);
    expect(both.map(({ code }) => code)).toEqual([0, 0]);
    expect(npmCalls()).toHaveLength(1);
  });

  test("takes the first Bun among the packages that runs here", async () => {
    put("foreign", "");
    expect((await launch("start")).code).toBe(0);
    expect(readFileSync(join(project, "node_modules/.wherehouse.json"), "utf8")).toContain("-musl/bin/bun");
  });

  test("ends with its child's exit code", async () => {
    expect((await launch("start", "--fail")).code).toBe(3);
  });

  test("passes SIGTERM on and waits for the answer", async () => {
    const { launcher } = await startAndStay();
    launcher.kill("SIGTERM");
    expect(await launcher.exited).toBe(7);
  });

  test("passes on a signal that comes when the child runs and the launcher hasn't gone on yet", async () => {
    put("slow-spawn.mjs", SLOW_SPAWN);
    const { launcher } = await startAndStay({ NODE_OPTIONS: `--import ${join(project, "slow-spawn.mjs")}` });
    launcher.kill("SIGTERM");
    expect(await launcher.exited).toBe(7);
  });

  test("ends with its child's exit code where the signal comes again", async () => {
    put("late-signal.mjs", LATE_SIGNAL);
    const { launcher } = await startAndStay({ NODE_OPTIONS: `--import ${join(project, "late-signal.mjs")}` });
    launcher.kill("SIGTERM");
    await launcher.exited;
    expect([launcher.exitCode, launcher.signalCode]).toEqual([7, null]);
  });

  test("ends by the signal that ended its child", async () => {
    const { launcher, childPid } = await startAndStay();
    process.kill(childPid, "SIGKILL");
    await launcher.exited;
    expect(launcher.signalCode).toBe("SIGKILL");
  });

  test("refuses arguments of a command that takes none", async () => {
    const { code, err } = await launch("check", "--fix");
    expect([code, err]).toEqual([1, expect.stringContaining('check takes no arguments; got "--fix".\n')]);
  });

  test("knows every script of package.json, and has a script for each of its commands", async () => {
    const { err } = await launch("nothing");
    const commands = /launch\.mjs (\S+)/.exec(err)![1]!.split("|");
    expect(commands.sort()).toEqual(Object.keys(manifest.scripts).sort());
    for (const [name, line] of Object.entries(manifest.scripts))
      expect(line).toBe(`exec node src/launch.mjs ${name}`);
  });

  test("refuses an unknown command without installing for it", async () => {
    expect(await launch("stop")).toMatchObject({
      code: 2,
      out: "",
      err: expect.stringMatching(
        /^Unknown command "stop"\.\nUsage: launch\.mjs start\|.*simulate.* \[arguments\]\n$/,
      ),
    });
    expect(existsSync(join(project, "npm.log"))).toBe(false);
  });
});

function lockOf(version: string): string {
  return JSON.stringify({ packages: { "": {}, "node_modules/a": { version } } });
}

/** Node itself: where there is none, `bun run` puts Bun in its place, which installs in another way. */
function findNode(): string | null {
  const found = Bun.which("node");
  if (found === null) return null;
  const { stdout } = Bun.spawnSync([found, "-p", "typeof process.versions.bun"]);
  return stdout.toString().trim() === "undefined" ? found : null;
}

function put(path: string, content: string): void {
  writeFileSync(join(project, path), content);
}

function npmCalls(): string[] {
  return readFileSync(join(project, "npm.log"), "utf8").trim().split("\n");
}

function spawnLauncher(args: string[], settings: Readonly<Record<string, string>> = {}) {
  const env = {
    ...process.env,
    ...settings,
    PATH: [join(project, "bin"), process.env.PATH].join(delimiter),
    TMPDIR: join(project, "tmp"),
  };
  const command = [NODE ?? "", join(project, "src/launch.mjs"), ...args];
  return Bun.spawn(command, { env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
}

async function launch(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const launcher = spawnLauncher(args);
  const [out, err] = await Promise.all([textOf(launcher.stdout), textOf(launcher.stderr)]);
  const code = await launcher.exited;
  return { code, out, err };
}

/** A launcher whose child runs until it is told to end. */
async function startAndStay(settings: Readonly<Record<string, string>> = {}) {
  const launcher = spawnLauncher(["start", "--stay"], settings);
  const { value } = await launcher.stdout.getReader().read();
  const childPid = Number(new TextDecoder().decode(value));
  expect(childPid).toBeGreaterThan(1); // 0 would be our own process group.
  return { launcher, childPid };
}

function textOf(stream: ReadableStream<Uint8Array>): Promise<string> {
  return new Response(stream).text();
}
