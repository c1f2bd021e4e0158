import { BATCH_REPORTS_MAX } from "../../../src/model/report-batch.ts";
import { type LocalDate, localDays } from "../../../src/model/time/range.ts";
import { UTC } from "../../../src/model/time/zone.ts";
import { longestTurnMs } from "../../support/figures/longest-turn.ts";
import { median } from "../../support/figures/report.ts";
import { batchesOf } from "../../support/fleets/batches.ts";
import { deviceYearRange, readDeviceYear } from "../../support/fleets/device-year.ts";
import { type AskInProcess, askInProcess } from "../../support/http/in-process.ts";
import type { Bench } from "../../support/run/bench.ts";
import { report, temporaryDataDir } from "../../support/store/archived-directory.ts";
import { openServedDirectory } from "../../support/store/served-directory.ts";

const DEVICE = "all of Boston";
const PATH = `/api/v1/devices/${encodeURIComponent(DEVICE)}`;

export const bench: Bench = {
  question:
    "the days of one device with half a million records in a year, whole answers in process: read from archived days, remembered, and as a question for the stops of each day",
  sizes: {
    rows: { help: "of the Boston track, at most", smoke: 3000, full: 500_000 },
    rounds: { help: "times that each is asked for", smoke: 2, full: 9 },
  },
  async run(run) {
    const records = readDeviceYear(run.size("rows"))?.map((record) => ({ device_id: DEVICE, ...record }));
    if (records === undefined) return;
    const served = await openServedDirectory(temporaryDataDir("days"));
    const { directory } = served;
    try {
      await report(directory, batchesOf(records, BATCH_REPORTS_MAX));
      await directory.schedule.sealNow();
      const { startMs, endMs } = deviceYearRange();
      const [start, end] = [startMs, endMs - 1].map((ms) => new Date(ms).toISOString().slice(0, 10));
      const ask = await askInProcess(served);
      const askDays = (zone: string) =>
        textOf(ask, `${PATH}/days?start_date=${start}&end_date=${end}&timezone=${encodeURIComponent(zone)}`);
      const rounds = run.size("rounds");
      await askDays("+00:59"); // Learns of files.
      // Each zone has days of its own, so nothing is remembered of them.
      const read = await timed(rounds, (round) => askDays(`+01:${String(round).padStart(2, "0")}`));
      const days = await askDays("UTC");
      const remembered = await timed(rounds, () => askDays("UTC"));
      const obvious = await timed(1, async () => {
        const distances = await byDay(ask, start as LocalDate, end as LocalDate);
        if (!Bun.deepEquals(distances, distancesOf(days))) throw new Error("the days have other distances");
      });
      run.note(`${Object.keys(distancesOf(days)).length} days with a distance`);
      run.figures([
        { name: "read from the archive", unit: "ms", runs: read },
        { name: "remembered", unit: "ms", runs: remembered },
        { name: "control: stops of each day", unit: "ms", runs: obvious },
      ]);
      run.verdict("read from the archive", median(read), "ms", { atMost: 1500 });
      run.verdict("read from the archive, longest turn", await longestTurnMs(() => askDays("+02:00")), "ms", {
        atMost: 20,
      });
      run.note(`stops of each day take ${(median(obvious) / median(read)).toFixed(1)} times as long`);
    } finally {
      await directory.close();
    }
  },
};

async function textOf(ask: AskInProcess, path: string): Promise<string> {
  return (await ask(path)).text();
}

async function timed(rounds: number, work: (round: number) => Promise<unknown>): Promise<number[]> {
  const runs: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const startMs = performance.now();
    await work(round);
    runs.push(performance.now() - startMs);
  }
  return runs;
}

type Distances = Readonly<Record<string, number>>;

/** Meters by date, for the days on which the device moved. */
function distancesOf(days: string): Distances {
  const entries: { date: string; distance_meters: number }[] = JSON.parse(days).days;
  return Object.fromEntries(
    entries.flatMap(({ date, distance_meters: meters }) => (meters > 0 ? [[date, meters]] : [])),
  );
}

async function byDay(ask: AskInProcess, start: LocalDate, end: LocalDate): Promise<Distances> {
  const distances: Record<string, number> = {};
  for (const { date, range } of localDays(start, end, UTC)) {
    const stops = await textOf(ask, `${PATH}/stops?start=${range.startMs}&end=${range.endMs}`);
    const { distance_meters: meters } = JSON.parse(stops);
    if (meters > 0) distances[date] = meters;
  }
  return distances;
}
