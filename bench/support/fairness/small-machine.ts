import { readdirSync, readFileSync } from "node:fs";

/* Limits a process and its children to a share of a core by suspending them for the rest of the time. */

const PERIOD_MS = 60;
const LOOK_MS = 250;

/** Starts immediately; the result ends the limit. */
export function confine(pid: number, cores: number): () => void {
  let pids: readonly number[] = [];
  const look = () => {
    pids = [pid, ...childrenOf(pid)];
  };
  const tell = (signal: NodeJS.Signals) => {
    for (const each of pids) kill(each, signal);
  };
  look();
  const looking = setInterval(look, LOOK_MS);
  const going = setInterval(() => {
    tell("SIGCONT");
    setTimeout(() => tell("SIGSTOP"), PERIOD_MS * cores);
  }, PERIOD_MS);
  return () => {
    clearInterval(looking);
    clearInterval(going);
    tell("SIGCONT");
    setTimeout(() => tell("SIGCONT"), PERIOD_MS); // A child may have been started in between.
  };
}

/** The child processes of a process; empty if the system does not tell. */
export function childrenOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").split(" ").filter(Boolean).map(Number),
    );
  } catch {
    return []; // Not Linux, or the thread has just ended.
  }
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has just ended.
  }
}
