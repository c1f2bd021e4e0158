import { spawn } from "node:child_process";
import { getPriority, setPriority } from "node:os";
import process from "node:process";
import { fileURLToPath } from "node:url";
import type { HelperEvents, HelperPort, NativeWork, StartHelper } from "./helper.ts";
import { encodeMessage, MessageReader } from "./message-stream.ts";

/** What is used of Deno, declared here so that Bun's type check can read this file too. */
declare const Deno: {
  execPath(): string;
  readonly permissions: {
    querySync(permission: { readonly name: "run"; readonly command: string }): { readonly state: string };
  };
};

/** How often a helper looks whether anybody is left to help. */
const LOOK_MS = 100;

/** Begins a process of the runtime that we are in. */
export const startHelper: StartHelper = (script, events) => {
  const refusal = refusalOf();
  if (refusal !== null) {
    queueMicrotask(() => events.onEnd(refusal));
    return { send() {}, end() {} };
  }
  return spawnHelper(script, events);
};

/**
 * Messages go through its standard input and output. With a channel of the runtime's own, Deno 2.9.6 copies the tables
 * of all our memory to begin a process, which holds the event loop for 0.1 s and more for each gigabyte; so 1 to 3 ms.
 */
function spawnHelper(script: URL, { onMessage, onEnd }: HelperEvents) {
  const child = spawn(process.execPath, [...RUN_FLAGS, fileURLToPath(script), String(process.pid)], {
    env: withoutOurs(process.env),
    // What it says of its own accord is a fault.
    stdio: ["pipe", "pipe", "inherit"],
  });
  const { stdin, stdout } = child;
  let isGone = false;
  const end = (reason: string) => {
    if (isGone) return;
    isGone = true;
    onEnd(reason);
  };
  const reader = new MessageReader((message) => {
    if (!isGone) onMessage(message);
  });
  stdout.on("data", (bytes: Uint8Array) => reader.take(bytes));
  for (const stream of [stdin, stdout]) stream.on("error", () => {}); // Its exit tells.
  child.on("error", (error) => {
    if (child.pid === undefined) end(error.message); // Else it is told of by its exit.
  });
  child.on("exit", (code, signal) => end(signal ?? `exit code ${code}`));
  return {
    send(message: unknown) {
      if (isGone || !stdin.writable) return;
      for (const bytes of encodeMessage(message)) stdin.write(bytes);
    },
    end: () => void child.kill("SIGKILL"),
  };
}

/** A helper has the disk and the library, and no network. */
const RUN_FLAGS = "Deno" in globalThis ? ["run", "--no-prompt", "-A", "--deny-net"] : [];

/** Passwords among them, which a process for other work has no use for. */
function withoutOurs(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith("WHEREHOUSE_")));
}

/** Deno would ask whoever watches a terminal, in the middle of everything. */
function refusalOf(): string | null {
  if (!("Deno" in globalThis)) return null;
  const { state } = Deno.permissions.querySync({ name: "run", command: Deno.execPath() });
  return state === "granted" ? null : "Deno was started without --allow-run";
}

/** For the script of a helper, first of all: threads have the priority of the one that begins them. */
export function openHelperPort(niceness: number): HelperPort {
  // Who began us with less has said so, and may not be allowed more.
  setPriority(Math.max(niceness, getPriority()));
  // Ctrl-C reaches every process of a terminal, and a service's stop all of its own: ours ends us in its own time.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
  // Not `exit`, which would wait for what a library's threads are at.
  const end = () => process.kill(process.pid, "SIGKILL");
  process.stdin.on("close", end);
  // Deno does not tell of it where whoever began us was killed with something on the way to us or back.
  const owner = Number(process.argv[2]);
  setInterval(() => {
    if (process.ppid !== owner) end();
  }, LOOK_MS);
  return {
    send(message) {
      for (const bytes of encodeMessage(message)) process.stdout.write(bytes);
    },
    onMessage(take) {
      const reader = new MessageReader(take);
      process.stdin.on("data", (bytes: Uint8Array) => reader.take(bytes));
    },
    work: nativeWork,
  };
}

/** Of this process. */
export function nativeWork(): NativeWork {
  const all = process.cpuUsage();
  const script = process.threadCpuUsage();
  const { fsRead, fsWrite } = process.resourceUsage();
  return {
    cpuMs: (all.user + all.system - script.user - script.system) / 1000,
    diskBlocks: fsRead + fsWrite,
  };
}
