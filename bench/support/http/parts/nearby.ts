import type { WherehouseProcess } from "../../servers/server.ts";
import { NEARBY_KINDS } from "../nearby-kinds.ts";
import type { Judgement } from "../pairs.ts";
import { measurePairs, type Part, type Setting } from "./part.ts";

/** All kinds of nearby queries. */
export class NearbyPart implements Part {
  async measure(setting: Setting, server: WherehouseProcess): Promise<void> {
    for (const { name, cpuMsMax } of NEARBY_KINDS) {
      const questions = await setting.nearby.of(name, server);
      // Kinds that no goal is set for have one round.
      const rounds = cpuMsMax === undefined ? 1 : setting.run.size("nearbyRounds");
      await measurePairs(setting, server, { name, questions, rounds });
    }
  }

  report({ run, pairs }: Setting, judgement: Judgement): void {
    for (const kind of NEARBY_KINDS) pairs.report(run, kind.name, kind, judgement);
  }
}
