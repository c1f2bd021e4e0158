import { closeSync, constants, openSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { until } from "../../support/until.ts";
import { childrenOf } from "../../unit/archive/write/engine/processes.ts";

/**
 * A named pipe in the place of a file. A native call that opens it stands still, as on a disk that hangs, and nothing
 * breaks it off but the end of its process. Linux alone tells of such calls.
 */
export interface PipedFile {
  /** Resolves once so many calls of a process and its children stand still. */
  whenStuck(pid: number, count: number): Promise<void>;
  /** Lets all of them go: they find an empty file. */
  release(): void;
  /** Puts the file back. */
  restore(): void;
}

export function pipeFile(path: string): PipedFile {
  const aside = `${path}.aside`;
  renameSync(path, aside);
  const { exitCode, stderr } = Bun.spawnSync(["mkfifo", path]);
  if (exitCode !== 0) throw new Error(stderr.toString());
  return {
    whenStuck(pid, count) {
      const stuckCount = () =>
        [pid, ...childrenOf(pid).map((child) => child.pid)].reduce(
          (sum, each) => sum + stuckThreads(each),
          0,
        );
      return until(() => stuckCount() === count);
    },
    release: () => closeSync(openSync(path, constants.O_WRONLY | constants.O_NONBLOCK)),
    restore() {
      rmSync(path);
      renameSync(aside, path);
    },
  };
}

/** Threads that wait for a pipe's other end. */
function stuckThreads(pid: number): number {
  const tasks = `/proc/${pid}/task`;
  try {
    return readdirSync(tasks).filter(
      (task) => readFileSync(`${tasks}/${task}/wchan`, "utf8") === "wait_for_partner",
    ).length;
  } catch {
    return 0; // The process, or one of its threads, has just ended.
  }
}
