import { type Figure, median } from "../../figures/report.ts";
import type { BenchRun } from "../../run/bench.ts";
import { percentile } from "../../servers/open-load.ts";
import type { ServerProcess, WherehouseProcess } from "../../servers/server.ts";
import { BEST_100 } from "../nearby-kinds.ts";
import { type Judgement, withBareServer } from "../pairs.ts";
import { type Reporter, startReporter } from "../reports/reporter.ts";
import type { Sized } from "../sized.ts";
import { startWaitMeter } from "../wait-meter.ts";
import { askEvenly, checkReported } from "./asking.ts";
import { type Part, type Setting, wholeText } from "./part.ts";

const SHARES = [0.5, 0.99, 0.999] as const;
const P99_TIMES_MAX = 2.5;
const P99_MS_MAX = 4;
/** Latencies of batches of reports, from the time when a batch was due until its acknowledgement. */
const ACKNOWLEDGED_P99_MS_MAX = 15;
/** The peak is only needed to be sure that the server is not overloaded. */
const PEAK_ROUNDS = 2;

/** The targets: our server alone, our server with reports, and the bare server, which shows the client's share. */
const WHOM = ["alone", "with reports", "bare"] as const;
type Whom = (typeof WHOM)[number];

/** The queries of a launch. */
interface Asking {
  readonly server: WherehouseProcess;
  readonly bare: ServerProcess;
  readonly questions: Sized;
  readonly reporter: Reporter;
  readonly requestsPerSecond: number;
}

/** Latencies at a steady rate, half of the server's peak at most, with and without reports. */
export class LatencyPart implements Part {
  readonly #ms = new Map<string, number[]>();
  readonly #serverWaits: number[] = [];
  readonly #clientWaits: number[] = [];
  readonly #taken: number[] = [];
  readonly #acknowledgedMs: number[] = [];

  async measure(setting: Setting, server: WherehouseProcess): Promise<void> {
    const { run, cores, cityOptions } = setting;
    const questions = await setting.nearby.of(BEST_100, server);
    const { url, key } = server;
    const rounds = run.size("latencyRounds");
    const peaks: number[] = [];
    for (let round = 0; round < PEAK_ROUNDS; round++) {
      peaks.push((await setting.ask(server, questions, run.size("seconds"))).requestsPerSecond);
    }
    const requestsPerSecond = Math.min(run.size("questionsPerSecond"), median(peaks) / 2);
    const reporter = await startReporter(
      { city: cityOptions, url, key, seed: run.size("seed") },
      cores.reporterLauncher,
    );
    try {
      await withBareServer({ bytes: questions.answerBytes }, cores.serverLauncher, async (bare) => {
        const asking = { server, bare, questions, reporter, requestsPerSecond };
        for (let round = 0; round < rounds; round++) await this.#addRound(run, asking, round % 2 === 0);
      });
    } finally {
      await reporter.end();
    }
    run.note(
      `latencies are of ${wholeText(requestsPerSecond)} requests/s; this launch's peak is ${wholeText(median(peaks))}`,
    );
  }

  /** Measures all three at the same rate, in both orders equally often. */
  async #addRound(run: BenchRun, asking: Asking, isAloneFirst: boolean): Promise<void> {
    const seconds = run.size("latencySeconds");
    this.#add("bare", await ask("bare", asking, seconds));
    const waits = [startWaitMeter(asking.server.pid), startWaitMeter(process.pid)] as const;
    if (isAloneFirst) await this.#askAlone(run, asking);
    const [reported, latenciesMs] = await Promise.all([
      asking.reporter.report(run.size("reportsPerSecond"), seconds),
      ask("server", asking, seconds),
    ]);
    this.#add("with reports", latenciesMs);
    this.#taken.push(reported.reportsPerSecond);
    this.#acknowledgedMs.push(reported.p99Ms);
    await checkReported(asking.server, reported);
    if (!isAloneFirst) await this.#askAlone(run, asking);
    const [serverWait, clientWait] = [waits[0](), waits[1]()];
    if (serverWait !== null) this.#serverWaits.push(serverWait);
    if (clientWait !== null) this.#clientWaits.push(clientWait);
  }

  /** Measures after all work caused by reports is done. */
  async #askAlone(run: BenchRun, asking: Asking): Promise<void> {
    await ask("server", asking, run.size("warmSeconds"));
    this.#add("alone", await ask("server", asking, run.size("latencySeconds")));
  }

  report({ run }: Setting, { isJudged }: Judgement): void {
    if (this.#serverWaits.length > 0 && this.#clientWaits.length > 0) {
      run.figures([
        { name: "of the time of latencies, ours waited for its core", unit: "%", runs: this.#serverWaits },
        { name: "of the time of latencies, the client did", unit: "%", runs: this.#clientWaits },
      ]);
    }
    run.figures([
      { name: "reports taken beside questions", unit: "reports/s", runs: this.#taken },
      { name: "batches acknowledged in, p99", unit: "ms", runs: this.#acknowledgedMs },
    ]);
    for (const share of SHARES) run.figures(WHOM.map((whom) => this.#figure(whom, share)));
    for (const share of SHARES) {
      const [withReports, alone] = [this.#figure("with reports", share), this.#figure("alone", share)];
      const bound = isJudged && share === 0.99 ? { atMost: P99_TIMES_MAX } : undefined;
      run.ratio(`nearby latency, ${nameOf(share)}: with reports, times alone`, withReports, alone, bound);
    }
    const judged = (atMost: number) => (isJudged ? { atMost } : undefined);
    const p99 = median(this.#figure("with reports", 0.99).runs);
    run.verdict("nearby latency beside reports, median p99 of the slices", p99, "ms", judged(P99_MS_MAX));
    const acknowledged = median(this.#acknowledgedMs);
    run.verdict("reports, median p99 of the slices", acknowledged, "ms", judged(ACKNOWLEDGED_P99_MS_MAX));
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

function ask(whom: "server" | "bare", asking: Asking, seconds: number): Promise<number[]> {
  return askEvenly(asking[whom].url, asking.questions, asking.requestsPerSecond, seconds);
}
