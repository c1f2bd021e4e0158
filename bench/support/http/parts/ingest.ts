import { forSeconds, measureLoad } from "../../servers/load.ts";
import type { WherehouseProcess } from "../../servers/server.ts";
import { type Judgement, takePairs, withBareServer } from "../pairs.ts";
import { BATCH, movesOf } from "../reports/moves.ts";
import { answeredOf, CONNECTIONS, timed } from "../turn.ts";
import { type Part, type Setting, secondsOf } from "./part.ts";

const NAME = `ingest of ${BATCH} reports`;
const SHARE_MIN = 0.23;

/** Reports, durable before the acknowledgement, compared with a bare server that only parses them. */
export class IngestPart implements Part {
  /** Doesn't use wrk, which would need all bodies in memory; requests are slow enough for our own client. */
  async measure({ run, cores, city, pairs }: Setting, server: WherehouseProcess): Promise<void> {
    await withBareServer("parse", cores.serverLauncher, async (bare) => {
      const servers = { ours: server, control: bare };
      const seed = run.size("seed");
      const moves = {
        ours: movesOf(city, server.url, server.key, seed),
        control: movesOf(city, bare.url, server.key, seed),
      };
      await takePairs(pairs.of(NAME), run.size("endpointRounds"), secondsOf(run), (whom, seconds) =>
        timed(servers[whom], async () => {
          const next = forSeconds(seconds, () => moves[whom].next(Date.now()));
          return answeredOf(await measureLoad({ url: servers[whom].url, connections: CONNECTIONS, next }));
        }),
      );
    });
  }

  report({ run, pairs }: Setting, { isJudged }: Judgement): void {
    pairs.report(run, NAME, { shareMin: SHARE_MIN }, { isJudged, areSharesJudged: isJudged });
  }
}
