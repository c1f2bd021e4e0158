import { spawn } from "node:child_process";
import { getPriority, setPriority } from "node:os";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { HELPER_WORD, isExecutable } from "./executable.ts";
import type { HelperEvents, HelperPort, NativeWork, StartHelper } from "./helper.ts";
import { encodeMessage, MessageReader } from "./message-stream.ts";

/** The parts of Deno used here, declared so that Bun's type check can read this file too. */
declare const Deno: {
  execPath(): string;
  readonly permissions: {
    querySync(permission: { readonly name: "run"; readonly command: string }): { readonly state: string };
  };
};

/** How often a helper checks that its parent is alive. */
const LOOK_MS = 100;

/** Starts a helper on the same runtime. */
export const startHelper: StartHelper = (script, events) => {
  const refusal = refusalOf();
  if (refusal !== null) {
    queueMicrotask(() => events.onEnd(refusal));
    return { send() {}, end() {} };
  }
  return spawnHelper(script, events);
};

/**
 * Messages go through standard input and output, which takes 1 to 3 ms to set up. With a channel of the runtime's own,
 * Deno 2.9.6 copies the page tables of all our memory, which blocks the event loop for 0.1 s and more per gigabyte.
 */
function spawnHelper(script: URL, { onMessage, onEnd }: HelperEvents) {
  const child = spawn(process.execPath, [...RUN_FLAGS, fileURLToPath(script), String(process.pid)], {
    env: withoutOurs(process.env),
    // The helper writes to stderr only if something is wrong.
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
  for (const stream of [stdin, stdout]) stream.on("error", () => {}); // The exit event reports it.
  child.on("error", (error) => {
    if (child.pid === undefined) end(error.message); // Otherwise the exit event reports it.
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

/** On Deno a helper has access to the disk and to libraries, but not to the network. */
const RUN_FLAGS = isExecutable
  ? [HELPER_WORD]
  : "Deno" in globalThis
    ? ["run", "--no-prompt", "-A", "--deny-net"]
    : [];

/** Our variables may hold passwords, which a helper does not need. */
function withoutOurs(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith("WHEREHOUSE_")));
}

/** Without the permission Deno would prompt on the terminal. */
function refusalOf(): string | null {
  if (!("Deno" in globalThis)) return null;
  const { state } = Deno.permissions.querySync({ name: "run", command: Deno.execPath() });
  return state === "granted" ? null : "Deno was started without --allow-run";
}

/** A helper's script calls this first: threads inherit the priority of the thread that starts them. */
export function openHelperPort(niceness: number): HelperPort {
  // If the parent runs at a lower priority, keep that: raising it may not be permitted.
  setPriority(Math.max(niceness, getPriority()));
  // Ctrl-C and a service manager signal every process of the group. The parent ends this helper when it is ready.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
  // Not `exit`, which would wait for library threads.
  const end = () => process.kill(process.pid, "SIGKILL");
  process.stdin.on("close", end);
  // Deno reports no close if the parent was killed while data was in transit, so check the parent's id too.
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

export function nativeWork(): NativeWork {
  const all = process.cpuUsage();
  const script = process.threadCpuUsage();
  const { fsRead, fsWrite } = process.resourceUsage();
  return {
    cpuMs: (all.user + all.system - script.user - script.system) / 1000,
    diskBlocks: fsRead + fsWrite,
  };
}
