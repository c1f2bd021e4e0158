import { spawnSync } from "node:child_process";
import { cpus } from "node:os";

const SERVER_CORE = 0;
const CLIENT_CORE = 1;
const REPORTER_CORE = 2;

/** A core for the server and another for whoever asks it, where the system lets us say so. */
export interface Cores {
  /** Words before the command of a server, which give it its core; all its threads share it. */
  readonly serverLauncher: readonly string[];
  /** The same for who reports beside the questions: a core of its own where there is a third. */
  readonly reporterLauncher: readonly string[];
  /** How the cores are given out, for the results. */
  readonly text: string;
  /** Lets this process go where it wants again. */
  release(): void;
}

/** Takes the client's core for this process and whatever it starts without the server's launcher. */
export function takeCores(): Cores {
  const taskset = Bun.which("taskset");
  const allowed = taskset === null ? null : allowedCores(taskset);
  if (taskset === null || allowed === null || cpus().length < 2) {
    return { serverLauncher: [], reporterLauncher: [], text: "no core is the server's own", release() {} };
  }
  const reporterCore = cpus().length > REPORTER_CORE ? REPORTER_CORE : CLIENT_CORE;
  confine(taskset, String(CLIENT_CORE));
  return {
    serverLauncher: [taskset, "-c", String(SERVER_CORE)],
    reporterLauncher: [taskset, "-c", String(reporterCore)],
    text:
      `the server has core ${SERVER_CORE} for all its threads, and the client core ${CLIENT_CORE}; ` +
      `who reports beside questions has core ${reporterCore}`,
    release: () => confine(taskset, allowed),
  };
}

/** As taskset lists them, e.g. `0,1` or `0-7`. */
function allowedCores(taskset: string): string | null {
  const { stdout } = spawnSync(taskset, ["-cp", String(process.pid)], { encoding: "utf8" });
  return /: ([\d,-]+)\s*$/.exec(stdout)?.[1] ?? null;
}

/** With all threads that there are; later ones follow. */
function confine(taskset: string, cores: string): void {
  spawnSync(taskset, ["-acp", cores, String(process.pid)]);
}
