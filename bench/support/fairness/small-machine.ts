import { readdirSync, readFileSync } from "node:fs";

/* A share of a core for a process and all that it begins: they stand still for the rest of the time. */

const PERIOD_MS = 60;
const LOOK_MS = 250;

/** Begins at once; what it returns gives them all of the machine again. */
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
    setTimeout(() => tell("SIGCONT"), PERIOD_MS); // One that was to stop may have come in between.
  };
}

/** Processes that a process has begun; none where the system doesn't tell. */
export function childrenOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").split(" ").filter(Boolean).map(Number),
    );
  } catch {
    return []; // No Linux, or a thread that has just ended.
  }
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has just ended.
  }
}
