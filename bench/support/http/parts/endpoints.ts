import { median } from "../../figures/report.ts";
import type { WherehouseProcess } from "../../servers/server.ts";
import { checkPages, knownByDay } from "../checks/pages.ts";
import { drawEndpointQuestions, type EndpointQuestions } from "../endpoints.ts";
import { type Judgement, measurePairs, type Part, type Setting } from "./part.ts";

const MICROS_PER_MS = 1000;

/** The cost of an answer of every read endpoint except nearby. */
export class EndpointsPart implements Part {
  #all: readonly EndpointQuestions[] | null = null;

  async measure(setting: Setting, server: WherehouseProcess): Promise<void> {
    const { run, city } = setting;
    const { url, key } = server;
    const headers = { authorization: `Bearer ${key}` };
    const [count, seed] = [run.size("questions"), run.size("seed")];
    if (this.#all === null) {
      this.#all = await drawEndpointQuestions({ url, headers, city, count, seed });
      await this.#check(setting, url);
    }
    for (const questions of this.#all) {
      const { name } = questions;
      await measurePairs(setting, server, { name, questions, rounds: run.size("endpointRounds") });
    }
  }

  async #check({ run, city }: Setting, url: string): Promise<void> {
    const days = knownByDay(city);
    for (const questions of this.#all ?? []) {
      const paths = questions.paths.slice(0, run.size("compared"));
      const compared = await checkPages(url, city, days, { ...questions, paths });
      if (compared > 0)
        run.note(`${questions.name}: ${compared} pages have the records that all reports have in that place`);
    }
  }

  report({ run, pairs }: Setting, { isJudged, areSharesJudged }: Judgement): void {
    for (const { name, cpuMsMax, timesBusyMax } of this.#all ?? []) {
      const times = areSharesJudged && timesBusyMax !== undefined ? { atMost: timesBusyMax } : undefined;
      pairs.report(run, name, undefined, times);
      const micros = pairs.of(name).ours.map((turn) => turn.cpuMicros);
      if (cpuMsMax === undefined || !micros.every((value) => value !== null)) continue;
      const bound = isJudged ? { atMost: cpuMsMax } : undefined;
      run.verdict(`${name}: processor time of the server`, median(micros) / MICROS_PER_MS, "ms", bound);
    }
  }
}
