import { median } from "../../figures/report.ts";
import { readCpuSeconds } from "../../peers/cpu.ts";
import type { WherehouseProcess } from "../../servers/server.ts";
import { BEST_100 } from "../nearby-kinds.ts";
import type { Judgement } from "../pairs.ts";
import { type Reported, type Reporter, startReporter } from "../reports/reporter.ts";
import type { Questions } from "../wrk.ts";
import { askEvenly, checkReported } from "./asking.ts";
import type { Part, Setting } from "./part.ts";

const QUESTIONS_PER_SECOND = 4000;
const CPU_MICROS_MAX = 11;

/**
 * The processor time of a report during queries: slices with and without reports take turns, and the difference is the
 * cost of the reports.
 */
export class ReportCostPart implements Part {
  readonly #micros: number[] = [];
  readonly #questionMicros: number[] = [];
  readonly #taken: number[] = [];

  async measure(setting: Setting, server: WherehouseProcess): Promise<void> {
    const { run, cores, cityOptions } = setting;
    const questions = await setting.nearby.of(BEST_100, server);
    const { url, key } = server;
    const reporter = await startReporter(
      { city: cityOptions, url, key, seed: run.size("seed") },
      cores.reporterLauncher,
    );
    try {
      await askBeside(setting, server, questions, reporter, run.size("warmSeconds"));
      for (let round = 0; round < run.size("reportCostRounds"); round++) {
        await this.#addRound(setting, server, questions, reporter, round % 2 === 0);
      }
    } finally {
      await reporter.end();
    }
  }

  /** Each kind of slice is first equally often. */
  async #addRound(
    setting: Setting,
    server: WherehouseProcess,
    questions: Questions,
    reporter: Reporter,
    isAloneFirst: boolean,
  ): Promise<void> {
    const seconds = setting.run.size("latencySeconds");
    const askAlone = async () => {
      // Until all work caused by reports is done.
      await askEvenly(server.url, questions, QUESTIONS_PER_SECOND, setting.run.size("warmSeconds"));
      return cpuOf(server, () => askEvenly(server.url, questions, QUESTIONS_PER_SECOND, seconds));
    };
    const before = isAloneFirst ? await askAlone() : null;
    const beside = await cpuOf(server, () => askBeside(setting, server, questions, reporter, seconds));
    const alone = before ?? (await askAlone());
    await checkReported(server, beside.value);
    if (alone.micros === null || beside.micros === null) return; // The system does not tell.
    const aloneMicros = alone.micros / alone.value.length;
    this.#micros.push((beside.micros - aloneMicros * beside.value.questions) / beside.value.reports);
    this.#questionMicros.push(aloneMicros);
    this.#taken.push(beside.value.reportsPerSecond);
  }

  report({ run }: Setting, { isJudged }: Judgement): void {
    if (this.#micros.length === 0) return;
    const beside = `beside ${QUESTIONS_PER_SECOND.toLocaleString("en")} questions/s`;
    run.figures([
      { name: `processor time of a report ${beside}`, unit: "µs", runs: this.#micros },
      { name: "processor time of a question, nothing beside it", unit: "µs", runs: this.#questionMicros },
      { name: `reports taken ${beside}`, unit: "reports/s", runs: this.#taken },
    ]);
    run.verdict(
      `a report ${beside}`,
      median(this.#micros),
      "µs",
      isJudged ? { atMost: CPU_MICROS_MAX } : undefined,
    );
  }
}

async function askBeside(
  { run }: Setting,
  { url }: WherehouseProcess,
  questions: Questions,
  reporter: Reporter,
  seconds: number,
): Promise<Reported & { readonly questions: number }> {
  const [reported, latenciesMs] = await Promise.all([
    reporter.report(run.size("reportsPerSecond"), seconds),
    askEvenly(url, questions, QUESTIONS_PER_SECOND, seconds),
  ]);
  return { ...reported, questions: latenciesMs.length };
}

/** Processor time of all threads of the server during some work; null if the system does not tell. */
async function cpuOf<Value>({ pid }: WherehouseProcess, work: () => Promise<Value>) {
  const before = readCpuSeconds(pid);
  const value = await work();
  const after = readCpuSeconds(pid);
  return { value, micros: before === null || after === null ? null : (after - before) * 1e6 };
}
