import { median } from "../../figures/report.ts";
import type { WherehouseProcess } from "../../servers/server.ts";
import { drawEndpointQuestions, type EndpointQuestions } from "../endpoints.ts";
import { type Judgement, measurePairs, type Part, type Setting } from "./part.ts";

const MICROS_PER_MS = 1000;

/** Every endpoint that reads but nearby, and what an answer costs the server. */
export class EndpointsPart implements Part {
  #all: readonly EndpointQuestions[] | null = null;

  async measure(setting: Setting, server: WherehouseProcess): Promise<void> {
    const { run, city } = setting;
    const { url, key } = server;
    const headers = { authorization: `Bearer ${key}` };
    const [count, seed] = [run.size("questions"), run.size("seed")];
    this.#all ??= await drawEndpointQuestions({ url, headers, city, count, seed });
    for (const questions of this.#all) {
      const { name } = questions;
      await measurePairs(setting, server, { name, questions, rounds: run.size("endpointRounds") });
    }
  }

  report({ run, pairs }: Setting, { isJudged }: Judgement): void {
    for (const { name, cpuMsMax } of this.#all ?? []) {
      pairs.report(run, name);
      const micros = pairs.of(name).ours.map((turn) => turn.cpuMicros);
      if (cpuMsMax === undefined || !micros.every((value) => value !== null)) continue;
      const bound = isJudged ? { atMost: cpuMsMax } : undefined;
      run.verdict(`${name}: processor time of the server`, median(micros) / MICROS_PER_MS, "ms", bound);
    }
  }
}
