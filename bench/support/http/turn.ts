import { readCpuSeconds } from "../peers/cpu.ts";
import { forSeconds, getRequest, type Load, measureLoad } from "../servers/load.ts";
import type { ServerProcess } from "../servers/server.ts";
import { startWaitMeter } from "./wait-meter.ts";
import { type Answered, type Questions, runWrk } from "./wrk.ts";

export const CONNECTIONS = 16;

/** How a server did when it was asked for some seconds. */
export interface Turn {
  readonly requestsPerSecond: number;
  /** Processor time of the server, all threads; null where the system doesn't tell, or the turn is too short to. */
  readonly cpuMicros: number | null;
  /**
   * Of the turn, how long the server's first thread was kept waiting for its core; null where the system doesn't tell.
   */
  readonly waitPercent: number | null;
}

/** Asks a server as fast as it answers. */
export type Client = (server: ServerProcess, questions: Questions, seconds: number) => Promise<Turn>;

/** For turns of these lengths: wrk where it is installed and can, and the bench's own client elsewhere. */
export function chooseClient(seconds: readonly number[]): {
  readonly isWrk: boolean;
  readonly text: string;
  ask: Client;
} {
  const wrk = Bun.which("wrk");
  const isWrk = wrk !== null && seconds.every(Number.isInteger);
  const why =
    wrk === null ? "no wrk in the PATH; Debian: apt install wrk" : "wrk asks for whole seconds alone";
  return {
    isWrk,
    text: isWrk
      ? "client: wrk, one thread; no status it got was above 399"
      : `client: the bench's own (${why}); the control's figures may be bound by it`,
    ask: (server, questions, seconds) =>
      timed(server, () => {
        const { url } = server;
        if (isWrk) return runWrk({ program: wrk, url, questions, connections: CONNECTIONS, seconds });
        return askWithOurs(url, questions, seconds);
      }),
  };
}

async function askWithOurs(url: string, { paths, headers }: Questions, seconds: number): Promise<Answered> {
  const requests = paths.map((path) => getRequest(url + path, headers));
  let sent = 0;
  const next = forSeconds(seconds, () => requests[sent++ % requests.length]!);
  return answeredOf(await measureLoad({ url, connections: CONNECTIONS, next }));
}

export function answeredOf({ requestsPerSecond, latenciesMs }: Load): Answered {
  return { requests: latenciesMs.length, requestsPerSecond };
}

/** Of a busy machine a short turn may see nothing at all; so many in a row are no turns any more. */
const EMPTY_TURNS_MAX = 20;

/** Adds what the server took of the processor to a load that is over when it resolves: one with an answer at least. */
export async function timed({ pid }: ServerProcess, load: () => Promise<Answered>): Promise<Turn> {
  for (let empty = 0; empty < EMPTY_TURNS_MAX; empty++) {
    const turn = await timedOnce(pid, load);
    if (turn.requestsPerSecond > 0) return turn;
  }
  throw new Error(`Nobody was answered in ${EMPTY_TURNS_MAX} turns`);
}

async function timedOnce(pid: number, load: () => Promise<Answered>): Promise<Turn> {
  const cpuBefore = readCpuSeconds(pid);
  const waited = startWaitMeter(pid);
  const { requests, requestsPerSecond } = await load();
  const waitPercent = waited();
  const cpuAfter = readCpuSeconds(pid);
  const isKnown = cpuBefore !== null && cpuAfter !== null && cpuAfter > cpuBefore;
  const cpuMicros = isKnown ? ((cpuAfter - cpuBefore) / requests) * 1e6 : null;
  return { requestsPerSecond, cpuMicros, waitPercent };
}
