import { BATCH_REPORTS_MAX } from "../../../src/model/report-batch.ts";
import { startOfUtcDayMs } from "../../../src/model/time/retention.ts";
import { MS_PER_DAY } from "../../../src/model/time/units.ts";
import { longestTurnMs } from "../../support/figures/longest-turn.ts";
import { median } from "../../support/figures/report.ts";
import { batchesOf } from "../../support/fleets/batches.ts";
import { shipsOfDays } from "../../support/fleets/ships.ts";
import { requestInProcess } from "../../support/http/in-process.ts";
import type { Bench } from "../../support/run/bench.ts";
import { report, temporaryDataDir } from "../../support/store/archived-directory.ts";
import { openServedDirectory } from "../../support/store/served-directory.ts";

/** When the reports begin: long enough ago to be archived, and within what memory keeps. */
const DAYS_AGO = { archive: 20, memory: 3 };
const MINUTES_A_DAY = 1440;
/** More old records than this are not taken before they are sealed. */
const UNSEALED_MAX = 1_000_000;
const FIRST_EVENTS_MS_MAX = 1000;
const WHOLE_MS_MAX = 15_000;
const TURN_MS_MAX = 20;

/** In the middle of the ships, some of which come and go. */
const FENCE = JSON.stringify({
  type: "Feature",
  geometry: { type: "Point", coordinates: [10, 56] },
  properties: { radius_meters: 40_000, dwell_seconds: 3600, silence_minutes: 60 },
});

export const bench: Bench = {
  question:
    "what a geofence would have said of all ships of some days: the first events, the whole answer, and the longest turn",
  sizes: {
    ships: { help: "that report every minute", smoke: 20, full: 1750 },
    days: { help: "of reports", smoke: 1, full: 2 },
    rounds: { help: "times that each is asked", smoke: 1, full: 3 },
  },
  async run(run) {
    const served = await openServedDirectory(temporaryDataDir("geofence-preview"));
    const { directory } = served;
    const [ships, days] = [run.size("ships"), run.size("days")];
    const todayMs = startOfUtcDayMs(Date.now());
    try {
      const ask = await requestInProcess(served);
      for (const [store, daysAgo] of Object.entries(DAYS_AGO)) {
        const startMs = todayMs - daysAgo * MS_PER_DAY;
        for (const batch of batchesOf(shipsOfDays(ships, startMs, days), BATCH_REPORTS_MAX)) {
          const isFull = directory.hot.recordCount > UNSEALED_MAX && store === "archive";
          if (isFull) await directory.schedule.sealNow();
          await report(directory, [batch]);
        }
        if (store === "archive") await directory.schedule.sealNow();
        const path = `/api/v1/geofences/preview?start=${startMs}&end=${startMs + days * MS_PER_DAY}&limit=1000`;
        const headers = { "content-type": "application/geo+json" };
        const preview = () => ask(path, { method: "POST", headers, body: FENCE });
        const runs: { first: number[]; whole: number[] } = { first: [], whole: [] };
        let text = "";
        for (let round = 0; round < run.size("rounds"); round++) {
          const timed = await timeAnswer(preview);
          runs.first.push(timed.firstEventMs);
          runs.whole.push(timed.wholeMs);
          text = timed.text;
        }
        const { pagination } = JSON.parse(text);
        run.note(`${store}: ${ships * days * MINUTES_A_DAY} records, ${pagination.total_count} events`);
        run.figures([
          { name: `${store}, first events`, unit: "ms", runs: runs.first },
          { name: `${store}, whole answer`, unit: "ms", runs: runs.whole },
        ]);
        run.verdict(`${store}, first events`, median(runs.first), "ms", { atMost: FIRST_EVENTS_MS_MAX });
        run.verdict(`${store}, whole answer`, median(runs.whole), "ms", { atMost: WHOLE_MS_MAX });
        const turnMs = await longestTurnMs(async () => (await preview()).text());
        run.verdict(`${store}, longest turn`, turnMs, "ms", { atMost: TURN_MS_MAX });
      }
    } finally {
      await directory.close();
    }
  },
};

/** When the first event of an answer came, and all of it. */
async function timeAnswer(ask: () => Promise<Response>) {
  const beginMs = performance.now();
  const response = await ask();
  const decoder = new TextDecoder();
  let text = "";
  let firstEventMs: number | null = null;
  for await (const bytes of response.body!) {
    text += decoder.decode(bytes, { stream: true });
    if (firstEventMs === null && text.includes('"visit_id"')) firstEventMs = performance.now() - beginMs;
  }
  const wholeMs = performance.now() - beginMs;
  return { firstEventMs: firstEventMs ?? wholeMs, wholeMs, text };
}
