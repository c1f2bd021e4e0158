import type { WherehouseProcess } from "../../servers/server.ts";
import { NEARBY_KINDS } from "../nearby-kinds.ts";
import { type Judgement, measurePairs, type Part, type Setting } from "./part.ts";

/** All kinds of nearby queries. */
export class NearbyPart implements Part {
  async measure(setting: Setting, server: WherehouseProcess): Promise<void> {
    for (const { name, shareMin, fields } of NEARBY_KINDS) {
      const questions = await setting.nearby.of(name, server);
      // Kinds that no goal is set for have one round.
      const rounds = shareMin === undefined && fields === undefined ? 1 : setting.run.size("nearbyRounds");
      await measurePairs(setting, server, { name, questions, rounds });
    }
  }

  report({ run, pairs }: Setting, { areSharesJudged }: Judgement): void {
    for (const { name, shareMin, timesBusyMax } of NEARBY_KINDS) {
      const share = areSharesJudged && shareMin !== undefined ? { atLeast: shareMin } : undefined;
      const times = areSharesJudged && timesBusyMax !== undefined ? { atMost: timesBusyMax } : undefined;
      pairs.report(run, name, share, times);
    }
  }
}
