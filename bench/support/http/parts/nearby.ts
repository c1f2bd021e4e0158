import type { WherehouseProcess } from "../../servers/server.ts";
import { NEARBY_KINDS } from "../nearby-kinds.ts";
import { type Judgement, measurePairs, type Part, type Setting } from "./part.ts";

/** All kinds of nearby queries. */
export class NearbyPart implements Part {
  async measure(setting: Setting, server: WherehouseProcess): Promise<void> {
    for (const { name, shareMin } of NEARBY_KINDS) {
      const questions = await setting.nearby.of(name, server);
      // Kinds without a bound have one round.
      const rounds = shareMin === undefined ? 1 : setting.run.size("nearbyRounds");
      await measurePairs(setting, server, { name, questions, rounds });
    }
  }

  report({ run, pairs }: Setting, { areSharesJudged }: Judgement): void {
    for (const { name, shareMin } of NEARBY_KINDS) {
      const bound = areSharesJudged && shareMin !== undefined ? { atLeast: shareMin } : undefined;
      pairs.report(run, name, bound);
    }
  }
}
