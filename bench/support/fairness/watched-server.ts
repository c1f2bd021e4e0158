import { join } from "node:path";
import { RUNTIMES } from "../../../test/support/server-process.ts";
import { hasProcessFigures, readProcessFigures } from "../../../test/system/soak/support/process-figures.ts";
import { bunForServer } from "../run/profiling.ts";
import { type ServerProcess, startProcess } from "../servers/server.ts";
import { longestTurnMs, TURNS_FILE } from "./long-turns.ts";
import { childrenOf } from "./small-machine.ts";

/* A server to attack, on either runtime, and what can be seen of it from outside. */

export const RUNTIME_NAMES = ["bun", "deno"] as const;
export type RuntimeName = (typeof RUNTIME_NAMES)[number];

const RETRY_MS = 100;
/** A server that is silent for longer is not coming back. */
const STALL_MS_MAX = 600_000;

/** A server under attack, and what can be seen of it. */
export interface WatchedServer extends ServerProcess {
  /** The longest that nothing could be answered, since this was last asked; in milliseconds. */
  takeLongestHoldMs(): Promise<number>;
  /** The longest turn of the event loop since then (Unix ms), in milliseconds of processor time. */
  longestTurnMs(sinceMs: number): number;
  /** Memory of the process and of those that it has begun; zero where the system does not tell. */
  residentBytes(): number;
}

export async function startWatched(
  runtime: RuntimeName,
  directory: string,
  operatorKey: string,
): Promise<WatchedServer> {
  const { command } = RUNTIMES.find(({ name }) => name.toLowerCase() === runtime)!;
  const [program, ...words] = command({ directory });
  const turnsFile = join(directory, "turns.txt");
  // No line for each stall, and no seal that takes the late rows away.
  const flags = ["--port", "0", "--data-dir", directory, "--log-level", "error", "--seal-every", "20d"];
  const recorded = ["--preload", join(import.meta.dir, "turn-recorder.ts")];
  const launcher =
    runtime === "bun"
      ? [...bunForServer(), ...recorded, ...words]
      : [program!, words[0]!, ...recorded, ...words.slice(1)];
  const server = await startProcess([...launcher, "serve", ...flags], { [TURNS_FILE]: turnsFile });
  while ((await fetch(`${server.url}/ready`)).status !== 200) await Bun.sleep(10);
  return {
    ...server,
    async takeLongestHoldMs() {
      const text = await scrape(server.url, operatorKey);
      return Number(/^wherehouse_event_loop_delay_max_seconds (\S+)$/m.exec(text)![1]) * 1000;
    },
    longestTurnMs: (sinceMs) => longestTurnMs(turnsFile, sinceMs),
    residentBytes: () =>
      [server.pid, ...childrenOf(server.pid)].reduce((sum, pid) => sum + residentOf(pid), 0),
  };
}

function residentOf(pid: number): number {
  if (!hasProcessFigures) return 0;
  try {
    return readProcessFigures(pid).residentBytes || 0; // NaN where it has ended and nobody has heard of it yet.
  } catch {
    return 0; // It has just ended.
  }
}

/** Asks again for as long as nobody answers: how long that was is what is asked for. */
async function scrape(url: string, operatorKey: string): Promise<string> {
  const headers = { authorization: `Bearer ${operatorKey}` };
  for (const startMs = performance.now(); ; await Bun.sleep(RETRY_MS)) {
    try {
      const answer = await fetch(`${url}/metrics`, { headers });
      if (answer.status === 200) return await answer.text();
    } catch (error) {
      if (performance.now() - startMs > STALL_MS_MAX) throw error;
    }
  }
}
