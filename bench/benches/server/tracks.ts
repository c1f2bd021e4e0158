import { gzipSync } from "node:zlib";
import { BATCH_REPORTS_MAX } from "../../../src/model/report-batch.ts";
import { startOfUtcDayMs } from "../../../src/model/time/retention.ts";
import { MS_PER_DAY, MS_PER_HOUR } from "../../../src/model/time/units.ts";
import { longestTurnMs } from "../../support/figures/longest-turn.ts";
import { median } from "../../support/figures/report.ts";
import { batchesOf } from "../../support/fleets/batches.ts";
import { shipsOfDays } from "../../support/fleets/ships.ts";
import { askInProcess } from "../../support/http/in-process.ts";
import type { Bench } from "../../support/run/bench.ts";
import { report, temporaryDataDir } from "../../support/store/archived-directory.ts";
import { openServedDirectory } from "../../support/store/served-directory.ts";

/** Long enough ago to be archived. */
const DAYS_AGO = 10;

export const bench: Bench = {
  question:
    "the lines of all ships of a day, for a time lapse: whole answers in process, from memory and from the archive",
  sizes: {
    ships: { help: "that report every minute of a day", smoke: 20, full: 1400 },
    rounds: { help: "times that each is asked", smoke: 2, full: 7 },
  },
  async run(run) {
    const served = await openServedDirectory(temporaryDataDir("tracks"));
    const { directory } = served;
    const startMs = startOfUtcDayMs(Date.now()) - DAYS_AGO * MS_PER_DAY;
    try {
      await report(directory, batchesOf(shipsOfDays(run.size("ships"), startMs), BATCH_REPORTS_MAX));
      const ask = await askInProcess(served);
      for (const store of ["memory", "archive"]) {
        if (store === "archive") await directory.schedule.sealNow();
        for (const [span, spanMs] of [
          ["hour", MS_PER_HOUR],
          ["day", MS_PER_DAY],
        ] as const) {
          const path = `/api/v1/tracks?start=${startMs}&end=${startMs + spanMs}`;
          const name = `${store}, a${span === "hour" ? "n" : ""} ${span}`;
          const runs: number[] = [];
          let text = "";
          for (let round = 0; round < run.size("rounds"); round++) {
            const beginMs = performance.now();
            text = await (await ask(path)).text();
            runs.push(performance.now() - beginMs);
          }
          const { total, tolerance_meters: meters, timestamp } = JSON.parse(text);
          run.note(
            `${name}: ${total} records, ${timestamp.length} positions within ${meters} m, ${text.length} bytes, ${gzipSync(text).length} gzip`,
          );
          run.figures([{ name, unit: "ms", runs }]);
          run.verdict(`${name}, whole answer`, median(runs), "ms", { atMost: 2000 });
          run.verdict(`${name}, longest turn`, await longestTurnMs(() => ask(path)), "ms", { atMost: 20 });
        }
      }
    } finally {
      await directory.close();
    }
  },
};
