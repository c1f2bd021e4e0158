import type { WherehouseProcess } from "../../servers/server.ts";
import { checkPages, knownByDay } from "../checks/pages.ts";
import { drawEndpointQuestions, type EndpointQuestions } from "../endpoints.ts";
import type { Judgement } from "../pairs.ts";
import { measurePairs, type Part, type Setting } from "./part.ts";

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

  report({ run, pairs }: Setting, judgement: Judgement): void {
    for (const questions of this.#all ?? []) pairs.report(run, questions.name, questions, judgement);
  }
}
