import { spawnSync } from "node:child_process";
import { cpus } from "node:os";

const SERVER_CORE = 0;
const CLIENT_CORE = 1;
const REPORTER_CORE = 2;

/** A core for the server and another for its client, if the system supports that. */
export interface Cores {
  /** The launcher that gives a server its core, for all its threads. */
  readonly serverLauncher: readonly string[];
  /** The launcher for a process that reports during queries: a third core if there is one. */
  readonly reporterLauncher: readonly string[];
  /** The assignment of cores, for the results. */
  readonly text: string;
  /** Lets this process use all cores again. */
  release(): void;
}

/** Confines this process, and children without a launcher, to the client's core. */
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

/** In taskset's format, e.g. `0,1` or `0-7`. */
function allowedCores(taskset: string): string | null {
  const { stdout } = spawnSync(taskset, ["-cp", String(process.pid)], { encoding: "utf8" });
  return /: ([\d,-]+)\s*$/.exec(stdout)?.[1] ?? null;
}

/** Applies to all threads; new ones inherit it. */
function confine(taskset: string, cores: string): void {
  spawnSync(taskset, ["-acp", cores, String(process.pid)]);
}
