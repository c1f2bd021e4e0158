import { readCpuSeconds } from "../peers/cpu.ts";
import { forSeconds, getRequest, type Load, measureLoad } from "../servers/load.ts";
import type { ServerProcess } from "../servers/server.ts";
import { startWaitMeter } from "./wait-meter.ts";
import { type Answered, type Questions, runWrk } from "./wrk.ts";

export const CONNECTIONS = 16;

/** The result of some seconds of queries. */
export interface Turn {
  readonly requestsPerSecond: number;
  /** Processor time of all threads of the server; null if unknown, or if the turn is too short. */
  readonly cpuMicros: number | null;
  /** The percentage of the turn in which the server's first thread waited for its core; null if unknown. */
  readonly waitPercent: number | null;
}

/** Sends queries as fast as a server answers. */
export type Client = (server: ServerProcess, questions: Questions, seconds: number) => Promise<Turn>;

/** Chooses wrk if it is installed and supports these lengths, otherwise the bench's own client. */
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

/** On a busy machine a short turn may have no answer; this many in a row are an error. */
const EMPTY_TURNS_MAX = 20;

/** Runs a load and adds the server's processor time; the load must have at least one answer. */
export async function timed({ pid }: ServerProcess, load: () => Promise<Answered>): Promise<Turn> {
  for (let empty = 0; empty < EMPTY_TURNS_MAX; empty++) {
    const turn = await timedOnce(pid, load);
    if (turn.requestsPerSecond > 0) return turn;
  }
  throw new Error(`No request was answered in ${EMPTY_TURNS_MAX} turns`);
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
