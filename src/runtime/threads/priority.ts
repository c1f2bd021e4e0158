import { pbkdf2 } from "node:crypto";
import { availableParallelism, setPriority } from "node:os";
import { promisify } from "node:util";

/** What is used of Deno, declared here so that Bun's type check can read this file too. */
declare const Deno: {
  readonly permissions: {
    querySync(permission: { readonly name: "sys"; readonly kind: "setPriority" }): { readonly state: string };
  };
};

/** The lowest: a thread that wakes up takes the core at once. With 10 it waits for 0.8 ms in one of a hundred times. */
const NICENESS = 19;

/** Work of some milliseconds for each thread, so that none does another's before that one has begun. */
const POOL_TASKS_A_CORE = 4;
const POOL_TASK_ROUNDS = 10_000;

/**
 * To be waited for before a thread lowers its priority. A thread has the priority of the one that begins it, and Bun
 * begins those that read and write files, for all of the process, when somebody has work for one more: the log's syncs
 * must not come to be done by one that lets others run first. This begins nearly all of them, and others that are there
 * begin more before a new thread does. Deno's threads each have theirs.
 */
export async function beginPoolThreads(): Promise<void> {
  if (process.platform !== "linux" || "Deno" in globalThis) return;
  const work = promisify(pbkdf2);
  const tasks = Array.from({ length: POOL_TASKS_A_CORE * availableParallelism() }, () =>
    work("", "", POOL_TASK_ROUNDS, 32, "sha256"),
  );
  await Promise.all(tasks);
}

/**
 * Lets the other threads of the machine run before the one that calls this. Null where that is so from now on, else why
 * it isn't. Only Linux has a priority for each thread; elsewhere it is the process's, and nothing changes.
 */
export function lowerThreadPriority(): string | null {
  if (process.platform !== "linux") return null;
  try {
    // Deno would ask whoever watches a terminal, in the middle of everything.
    if ("Deno" in globalThis) {
      const { state } = Deno.permissions.querySync({ name: "sys", kind: "setPriority" });
      if (state !== "granted") return "Deno was started without --allow-sys=setPriority";
    }
    setPriority(0, NICENESS);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
