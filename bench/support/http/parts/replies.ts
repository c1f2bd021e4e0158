import { rmSync } from "node:fs";
import { bunForServer } from "../../run/profiling.ts";
import { startProcess, type WherehouseProcess } from "../../servers/server.ts";
import { BEST_100 } from "../nearby-kinds.ts";
import type { Judgement } from "../pairs.ts";
import { sized } from "../sized.ts";
import { copyOf, measurePairs, type Part, type Setting } from "./part.ts";

/** The devices in replies: those that most queries find, and all, whose texts don't all fit in memory. */
const REPLIES = [
  { name: "reply without the finding, 100 of 24 h", ageHours: 24 },
  { name: "reply without the finding, 100 of all", ageHours: 8 * 24 },
] as const;
const SHARE_MIN = 0.5;

/** Replies of a server that returns random devices instead of searching. */
export class RepliesPart implements Part {
  async measure(setting: Setting, server: WherehouseProcess): Promise<void> {
    const questions = await setting.nearby.of(BEST_100, server);
    for (const { name, ageHours } of REPLIES) {
      const copy = copyOf(setting.dataDir);
      const replier = await startProcess([
        ...setting.cores.serverLauncher,
        ...bunForServer(),
        "bench/support/http/reply-server.ts",
        copy,
        String(ageHours),
      ]);
      try {
        await measurePairs(setting, replier, {
          name,
          questions: await sized(replier.url, questions),
          rounds: setting.run.size("replyRounds"),
        });
      } finally {
        await replier.stop();
        rmSync(copy, { recursive: true });
      }
    }
  }

  report({ run, pairs }: Setting, judgement: Judgement): void {
    for (const { name } of REPLIES) pairs.report(run, name, { shareMin: SHARE_MIN }, judgement);
  }
}
