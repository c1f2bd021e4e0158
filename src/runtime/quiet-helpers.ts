import { readdirSync, readFileSync } from "node:fs";
import { constants, setPriority } from "node:os";
import process from "node:process";
import { afterInStep, type Timers } from "../lib/schedule/timers.ts";

/*
 * The runtime's own threads step back behind the one that answers. On few cores a compiler or a collector otherwise
 * takes the core for some 3 ms at a time, which was half of the slowest answers beside reports.
 */

/** Bun's threads that can always wait: compilers, collectors and the allocator. */
const BACKGROUND = /^(JITWorker|JSCWarmUp|HeapHelper|mi-scavenger)/;
const BACKGROUND_NICENESS = 19;

/** Threads that write and sync files. At 19, reports would wait for their sync while the core is busy. */
const POOL = /^Bun Pool/;
const POOL_NICENESS = 5;

const LOOK_MS = 1000;

/**
 * Looks until the background threads step back. Under full load, compilers that step back at once keep a new process
 * three times slower for some ten seconds.
 */
const WARM_LOOKS = 20;

/** The threads of this process; tests simulate them. */
export interface Threads {
  /** Their ids. */
  list(): readonly string[];
  nameOf(thread: string): string;
  setNiceness(thread: string, niceness: number): void;
}

/**
 * Lets helper threads step back, the pool now and the others after 20 s, and looks again every second, since new ones
 * come. If the system refuses, everything runs as it did and nothing more is tried. The returned function ends it.
 */
export function quietHelpers(threads: Threads | null, timers: Timers): () => void {
  let quiet: ReadonlySet<string> = new Set();
  let looks = 0;
  let cancel = (): void => undefined;

  function look(some: Threads): void {
    try {
      quiet = quieted(some, quiet, looks++ >= WARM_LOOKS);
    } catch {
      return;
    }
    cancel = afterInStep(timers, LOOK_MS, () => look(some));
  }

  if (threads !== null) look(threads);
  return () => cancel();
}

/** The threads that have stepped back. Others are looked at each time, since a new thread has no name yet. */
function quieted(threads: Threads, before: ReadonlySet<string>, isWarm: boolean): ReadonlySet<string> {
  return new Set(threads.list().filter((thread) => before.has(thread) || stepsBack(threads, thread, isWarm)));
}

function stepsBack(threads: Threads, thread: string, isWarm: boolean): boolean {
  try {
    const name = threads.nameOf(thread);
    if (isWarm && BACKGROUND.test(name)) threads.setNiceness(thread, BACKGROUND_NICENESS);
    else if (POOL.test(name)) threads.setNiceness(thread, POOL_NICENESS);
    else return false;
    return true;
  } catch (error) {
    if (hasEnded(error)) return false;
    throw error;
  }
}

/** Whether the thread has ended since it was listed. `setPriority` gives the reason only as a number. */
function hasEnded(error: unknown): boolean {
  const { code, errno } = error as { readonly code?: unknown; readonly errno?: unknown };
  return code === "ENOENT" || code === "ESRCH" || errno === -constants.errno.ESRCH;
}

/** Null on other systems than Linux, and on Deno, which lets a program read `/proc` only with `--allow-all`. */
export function ownThreads(): Threads | null {
  return process.platform === "linux" && !("Deno" in globalThis) ? LINUX : null;
}

/** proc_pid_task(5): a directory for each thread, by its id. */
const TASKS = "/proc/self/task";

const LINUX: Threads = {
  list: () => readdirSync(TASKS),
  nameOf: (thread) => readFileSync(`${TASKS}/${thread}/comm`, "utf8"),
  setNiceness: (thread, niceness) => setPriority(Number(thread), niceness),
};
