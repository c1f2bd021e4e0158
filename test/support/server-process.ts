import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Subprocess } from "bun";
import { nativeDeno } from "./native-deno.ts";

/** The real program in separate processes, on either runtime. */

const ROOT = resolve(import.meta.dir, "../..");

export interface Runtime {
  readonly name: "Bun" | "Deno";
  /** The command that starts the program. */
  command(permissions: Permissions): readonly string[];
}

/** What a process may access besides the project's files, if the runtime enforces it. */
export interface Permissions {
  readonly directory: string;
  /** Readable files, such as one to import. */
  readonly files?: readonly string[];
}

const MAIN = join(ROOT, "src/main.ts");

const BUN: Runtime = { name: "Bun", command: () => [process.execPath, MAIN] };

/** The minimal permissions. Creating the data directory needs access to its parent. */
const DENO: Runtime = {
  name: "Deno",
  command: ({ directory, files = [] }) => [
    nativeDeno(),
    "run",
    "--no-prompt",
    "--allow-env",
    "--allow-ffi",
    "--allow-net=127.0.0.1",
    "--allow-sys=hostname",
    `--allow-run=${nativeDeno()}`,
    `--allow-read=${[ROOT, directory, ...files].join(",")}`,
    `--allow-write=${directory}`,
    MAIN,
  ],
};

/** An executable of a release, which has a Bun inside; tests run it in place of the sources if it is named. */
const EXECUTABLE = process.env.WHEREHOUSE_TEST_EXECUTABLE;

/** Its libraries lie beside the data directories, some of which are on disks without room for them. */
const LIBRARIES: Readonly<Record<string, string>> =
  EXECUTABLE === undefined ? {} : { WHEREHOUSE_LIB_DIR: join(tmpdir(), "wherehouse-test-libraries") };

export const RUNTIMES: readonly Runtime[] =
  EXECUTABLE === undefined ? [BUN, DENO] : [{ name: "Bun", command: () => [EXECUTABLE] }];

/** A temporary directory for a data directory and other files. */
export interface Place {
  readonly directory: string;
  /** Inside `directory`; not created yet. */
  readonly dataDir: string;
}

export function openPlace(): Place {
  const directory = mkdtempSync(join(tmpdir(), "wherehouse-process-"));
  return { directory, dataDir: join(directory, "data") };
}

/** Ends all processes, then removes the directory. */
export async function closePlace({ directory }: Place): Promise<void> {
  for (const child of running) child.kill("SIGKILL");
  await Promise.all([...running].map((child) => child.exited));
  if (IS_SHOWN) console.error(`Kept: ${directory}`);
  else rmSync(directory, { recursive: true, force: true });
}

/** For debugging: prints command lines and output, and keeps directories. */
const IS_SHOWN = process.env.WHEREHOUSE_TEST_SHOW === "1";

const running = new Set<Subprocess>();

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly error: string;
}

/** Runs a command to its end; `args` precede `--data-dir`, and `input` is standard input. */
export function runCommand(
  runtime: Runtime,
  place: Place,
  args: readonly string[],
  files: readonly string[] = [],
  input: string | null = null,
): Promise<Ended> {
  return startCommand(runtime, place, args, files, input).ended;
}

export interface CommandProcess {
  kill(signal: NodeJS.Signals): void;
  /** Resolves when the process has ended, with all output; the code is null after a signal. */
  readonly ended: Promise<Ended>;
}

export function startCommand(
  runtime: Runtime,
  { directory, dataDir }: Place,
  args: readonly string[],
  files: readonly string[] = [],
  input: string | null = null,
): CommandProcess {
  const child = spawn([...runtime.command({ directory, files }), ...args, "--data-dir", dataDir], input);
  const out = createTranscript(child.stdout);
  const error = createTranscript(child.stderr);
  const ended = Promise.all([child.exited, out.ended, error.ended]).then(() => ({
    code: child.exitCode,
    out: out.text,
    error: error.text,
  }));
  return { kill: (signal) => child.kill(signal), ended };
}

export interface ServerProcess {
  readonly url: string;
  readonly pid: number;
  /** The output so far. */
  readonly out: string;
  readonly error: string;
  /** Resolves once its standard error matches; rejects if the process ends before. */
  says(pattern: RegExp): Promise<void>;
  kill(signal: NodeJS.Signals): void;
  /** Resolves when the process has ended, with all output. */
  readonly ended: Promise<Ended>;
  /** Asks the process to stop, and waits for its end. */
  stop(): Promise<Ended>;
}

/** Starts `serve` on the given or a free port, and waits for its address; it may still be replaying its log. */
export async function startServing(
  runtime: Runtime,
  place: Place,
  args: readonly string[] = [],
): Promise<ServerProcess> {
  await moveIn(runtime, place);
  const port = args.includes("--port") ? [] : ["--port", "0"];
  const log = args.includes("--log") ? [] : logOf(place);
  return startUntil(/locations\/current\n/, runtime, place, ["serve", ...port, ...log, ...args]);
}

/**
 * Log servers, if the tests run on cluster nodes: each place has a stream of its own, which outlives a process as its
 * directory does.
 */
const LOG = process.env.WHEREHOUSE_TEST_LOG;

function logOf({ directory }: Place): string[] {
  if (LOG === undefined) return [];
  const stream = `s${createHash("sha256").update(directory).digest("hex").slice(0, 16)}`;
  return ["--log", LOG, "--stream", stream, "--log-size", "100MB"];
}

/** Moves the data of a directory into its cluster before it is served. */
async function moveIn(runtime: Runtime, place: Place): Promise<void> {
  const { dataDir } = place;
  if (LOG === undefined || !existsSync(dataDir) || existsSync(join(dataDir, "cluster.json"))) return;
  const { code, error } = await runCommand(runtime, place, ["cluster", "init", ...logOf(place)]);
  if (code !== 0) throw new Error(error);
}

/** Starts `demo` on a free port, and waits until its history is loaded and its devices move. */
export function startDemo(
  runtime: Runtime,
  place: Place,
  args: readonly string[] = [],
): Promise<ServerProcess> {
  return startUntil(/start over\.\n/, runtime, place, ["demo", ...args]);
}

/** Waits for the last line of the announcement. */
async function startUntil(
  lastLine: RegExp,
  runtime: Runtime,
  { directory, dataDir }: Place,
  words: readonly string[],
): Promise<ServerProcess> {
  const child = spawn([...runtime.command({ directory }), ...words, "--data-dir", dataDir]);
  const out = createTranscript(child.stdout);
  const error = createTranscript(child.stderr);
  try {
    await out.matches(lastLine);
  } catch (cause) {
    throw new Error(`The server did not start: ${error.text}`, { cause });
  }
  servers.push({ pid: child.pid, error });
  const ended = Promise.all([child.exited, out.ended, error.ended]).then(() => ({
    code: child.exitCode,
    out: out.text,
    error: error.text,
  }));
  return {
    url: /http:\/\/[\d.]+:\d+/.exec(out.text)![0],
    pid: child.pid,
    get out() {
      return out.text;
    },
    get error() {
      return error.text;
    },
    says: (pattern) => error.matches(pattern),
    kill: (signal) => child.kill(signal),
    ended,
    stop() {
      child.kill("SIGTERM");
      return ended;
    },
  };
}

const servers: { readonly pid: number; readonly error: Transcript }[] = [];
/** The number of servers whose output is reported. */
const SERVERS_TOLD = 3;
const SAID_CHARACTERS_MAX = 4000;

/** The last output of the latest servers of this test file, for the message of a failed test. */
export function whatServersSaid(): string {
  const last = servers.slice(-SERVERS_TOLD);
  if (last.length === 0) return "The file has started no server so far.";
  return last
    .map(({ pid, error }) => `Server ${pid} said:\n${error.text.slice(-SAID_CHARACTERS_MAX)}`)
    .join("\n");
}

/** Like `startServing`, but waits until all acknowledged records can be queried. */
export async function startReady(
  runtime: Runtime,
  place: Place,
  args: readonly string[] = [],
): Promise<ServerProcess> {
  const server = await startServing(runtime, place, args);
  await server.says(/Ready after/);
  return server;
}

export function readFirstKey({ dataDir }: Place): string {
  return readFileSync(join(dataDir, "first-key"), "utf8").trim();
}

/** Creates a key for `/metrics`; a running server knows it within 2 s. */
export async function createOperatorKey(runtime: Runtime, place: Place): Promise<string> {
  const flags = ["--app", "default", "--permission", "operate", "--tier", "unlimited"];
  const { code, out, error } = await runCommand(runtime, place, ["keys", "create", ...flags]);
  if (code !== 0) throw new Error(error);
  return out.trim();
}

function spawn(command: readonly string[], input: string | null = null) {
  const {
    WHEREHOUSE_DATA_DIR,
    WHEREHOUSE_PORT,
    WHEREHOUSE_HOST,
    WHEREHOUSE_KEY,
    WHEREHOUSE_MQTT_PASSWORD,
    ...env
  } = process.env;
  if (IS_SHOWN) console.error(`$ ${command.join(" ")}`);
  const child = Bun.spawn([...command], {
    cwd: ROOT,
    stdin: input === null ? "ignore" : new Blob([input]),
    stdout: "pipe",
    stderr: "pipe",
    env: { ...env, ...LIBRARIES, NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" },
  });
  running.add(child);
  child.exited.finally(() => running.delete(child));
  return child;
}

interface Transcript {
  readonly text: string;
  readonly ended: Promise<void>;
  matches(pattern: RegExp): Promise<void>;
}

/** Records a stream, and notifies of new text. */
function createTranscript(stream: ReadableStream<Uint8Array>): Transcript {
  let text = "";
  let isOver = false;
  let arrival = Promise.withResolvers<void>();

  async function read(): Promise<void> {
    const decoder = new TextDecoder();
    for await (const bytes of stream) {
      const piece = decoder.decode(bytes, { stream: true });
      if (IS_SHOWN) process.stderr.write(piece);
      text += piece;
      arrival.resolve();
      arrival = Promise.withResolvers();
    }
    isOver = true;
    arrival.resolve();
  }

  return {
    get text() {
      return text;
    },
    ended: read(),
    async matches(pattern) {
      while (!pattern.test(text)) {
        if (isOver) throw new Error(`The process ended without saying ${pattern}, but: ${text}`);
        await arrival.promise;
      }
    },
  };
}
