import { assert } from "../../../src/lib/assert.ts";
import type { Figure } from "../figures/report.ts";
import type { BenchRun, Bound } from "../run/bench.ts";
import { getRequest } from "../servers/load.ts";
import { measureOpenLoad, percentile } from "../servers/open-load.ts";
import type { ServerProcess, WherehouseProcess } from "../servers/server.ts";
import type { Moves } from "./moves.ts";
import { CONNECTIONS } from "./turn.ts";
import { startWaitMeter } from "./wait-meter.ts";
import type { Questions } from "./wrk.ts";

/* How long answers take at a fixed rate, with reports coming in beside them and without. */

const INGEST_CONNECTIONS = 2;
const SHARES = [0.5, 0.99, 0.999] as const;

/**
 * Who is asked: ours alone, ours while reports come in, and the bare server, which shows what the client itself adds.
 */
const WHOM = ["alone", "with reports", "bare"] as const;
type Whom = (typeof WHOM)[number];

export interface LatencyOptions {
  readonly server: WherehouseProcess;
  readonly bare: ServerProcess;
  readonly questions: Questions;
  readonly moves: Moves;
  readonly requestsPerSecond: number;
  readonly batchesPerSecond: number;
  readonly seconds: number;
}

/** Latencies of all rounds, from when a request was due: a server that stalls is charged for all it kept waiting. */
export class Latencies {
  readonly #ms = new Map<string, number[]>();
  readonly #serverWaits: number[] = [];
  readonly #clientWaits: number[] = [];

  /** All three in turns, each at the same rate. */
  async addRound(options: LatencyOptions): Promise<void> {
    const { server, bare, moves, batchesPerSecond, seconds } = options;
    this.#add("bare", await ask(bare.url, options));
    const waits = [startWaitMeter(server.pid), startWaitMeter(process.pid)] as const;
    this.#add("alone", await ask(server.url, options));
    const endMs = performance.now() + seconds * 1000;
    const [asked] = await Promise.all([
      ask(server.url, options),
      measureOpenLoad({
        url: server.url,
        requestsPerSecond: batchesPerSecond,
        connections: INGEST_CONNECTIONS,
        next: () => moves.next(Date.now()),
        goesOn: () => performance.now() < endMs,
      }),
    ]);
    this.#add("with reports", asked);
    const [serverWait, clientWait] = [waits[0](), waits[1]()];
    if (serverWait !== null) this.#serverWaits.push(serverWait);
    if (clientWait !== null) this.#clientWaits.push(clientWait);
    await checkMoved(server, moves);
  }

  report(run: BenchRun, bound?: Bound): void {
    if (this.#ms.size === 0) return; // Left out of this run.
    if (this.#serverWaits.length > 0 && this.#clientWaits.length > 0) {
      run.figures([
        { name: "of the time of latencies, ours waited for its core", unit: "%", runs: this.#serverWaits },
        { name: "of the time of latencies, the client did", unit: "%", runs: this.#clientWaits },
      ]);
    }
    for (const share of SHARES) run.figures(WHOM.map((whom) => this.#figure(whom, share)));
    for (const share of SHARES) {
      const [withReports, alone] = [this.#figure("with reports", share), this.#figure("alone", share)];
      const name = `nearby latency, ${nameOf(share)}: with reports, times alone`;
      run.ratio(name, withReports, alone, share === 0.99 ? bound : undefined);
    }
  }

  #add(whom: Whom, latenciesMs: readonly number[]): void {
    for (const share of SHARES) {
      const key = `${whom} ${share}`;
      this.#ms.set(key, [...(this.#ms.get(key) ?? []), percentile(latenciesMs, share)]);
    }
  }

  #figure(whom: Whom, share: number): Figure {
    const runs = this.#ms.get(`${whom} ${share}`)!;
    return { name: `nearby latency, ${nameOf(share)}: ${whom}`, unit: "ms", runs };
  }
}

function nameOf(share: number): string {
  return `p${Number((share * 100).toFixed(1))}`;
}

function ask(url: string, { questions, requestsPerSecond, seconds }: LatencyOptions): Promise<number[]> {
  const requests = questions.paths.map((path) => getRequest(url + path, questions.headers));
  const endMs = performance.now() + seconds * 1000;
  let sent = 0;
  return measureOpenLoad({
    url,
    requestsPerSecond,
    connections: CONNECTIONS,
    next: () => requests[sent++ % requests.length]!,
    goesOn: () => performance.now() < endMs,
    isWatchful: true,
  });
}

/** What was acknowledged must be there, or it cost nothing. */
async function checkMoved({ url, key }: WherehouseProcess, moves: Moves): Promise<void> {
  const { deviceId, timestampMs } = moves.last();
  const headers = { authorization: `Bearer ${key}` };
  const answer = await fetch(`${url}/api/v1/devices/${deviceId}/locations/current`, { headers });
  const { location } = (await answer.json()) as { location: { timestamp: number } };
  assert(location.timestamp === timestampMs, `${deviceId} has moved at ${timestampMs}`);
}
