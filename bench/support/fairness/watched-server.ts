import { join } from "node:path";
import { RUNTIMES } from "../../../test/support/server-process.ts";
import { hasProcessFigures, readProcessFigures } from "../../../test/system/soak/support/process-figures.ts";
import { bunForServer } from "../run/profiling.ts";
import { type ServerProcess, startProcess } from "../servers/server.ts";
import { longestTurnMs, TURNS_FILE } from "./long-turns.ts";
import { childrenOf } from "./small-machine.ts";

/* A server under attack, on either runtime, observed from outside. */

export const RUNTIME_NAMES = ["bun", "deno"] as const;
export type RuntimeName = (typeof RUNTIME_NAMES)[number];

const RETRY_MS = 100;
/** A server that is silent for longer is lost. */
const STALL_MS_MAX = 600_000;

export interface WatchedServer extends ServerProcess {
  /** The longest blockage since the last call, in milliseconds. */
  takeLongestHoldMs(): Promise<number>;
  /** The longest turn of the event loop since then (Unix ms), in milliseconds of processor time. */
  longestTurnMs(sinceMs: number): number;
  /** Memory of the process and its children; 0 if the system does not tell. */
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
  // Avoids a log line for each stall, and a seal of the late rows.
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
    return readProcessFigures(pid).residentBytes || 0; // NaN if the process has just ended.
  } catch {
    return 0; // The child has just ended.
  }
}

/** Retries until an answer comes; the result includes how long that was. */
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
