import { type Figure, median } from "../../support/figures/report.ts";
import { createYearFleet } from "../../support/fleets/year-fleet.ts";
import type { Bench } from "../../support/run/bench.ts";
import { startArchiveServer } from "../../support/servers/archive-server.ts";
import {
  ARCHIVED_DAYS_MAX,
  type ArchivedDirectory,
  archivedDirectory,
  MINUTES_PER_DAY,
} from "../../support/store/archived-directory.ts";

export const bench: Bench = {
  question:
    "from the start of the process to the first 200 of /ready, with a year archived, against a month with the same week to replay",
  sizes: {
    devices: { help: "devices that report every minute", smoke: 5, full: 100 },
    dayMinutes: { help: "minutes of each day that are reported", smoke: 150, full: MINUTES_PER_DAY },
    daysFew: { help: "archived days of the smaller directory", smoke: 2, full: 30 },
    daysMany: { help: "archived days of the larger directory", smoke: 3, full: ARCHIVED_DAYS_MAX },
    positions: { help: "positions of the track that devices follow, at most", smoke: 5000, full: 500_000 },
    seed: { help: "of the fleet", smoke: 11, full: 11 },
    rounds: { help: "times that each is started", smoke: 1, full: 9 },
  },
  async run(run) {
    const minutesPerDay = run.size("dayMinutes");
    const fleet = createYearFleet({
      devices: run.size("devices"),
      seed: run.size("seed"),
      positionsMax: run.size("positions"),
    });
    const few = await archivedDirectory({ fleet, archivedDays: run.size("daysFew"), minutesPerDay });
    const many = await archivedDirectory({ fleet, archivedDays: run.size("daysMany"), minutesPerDay });
    await startOnce(few); // Warms the disk cache.
    await startOnce(many);
    const ours: number[] = [];
    const control: number[] = [];
    for (let round = 0; round < run.size("rounds"); round++) {
      control.push(await startOnce(few));
      ours.push(await startOnce(many));
    }
    const figures: Figure[] = [
      { name: `${many.dayStartsMs.length} days archived`, unit: "s", runs: ours },
      { name: `${few.dayStartsMs.length} days archived`, unit: "s", runs: control },
    ];
    run.figures(figures);
    run.verdict("times the smaller archive", median(ours) / median(control), "", { atMost: 1.2 });
  },
};

/** Starts and stops a server; returns the seconds to its readiness. */
async function startOnce({ dataDir, dayStartsMs, unsealedRecords }: ArchivedDirectory): Promise<number> {
  const server = await startArchiveServer(dataDir);
  const [, records, days] = await server.logLine(/with ([\d,]+) records .* and (\d+) archived day/);
  await server.stop();
  const isWhole =
    Number(days) === dayStartsMs.length && Number(records!.replaceAll(",", "")) === unsealedRecords;
  if (!isWhole) throw new Error(`ready with ${records} records and ${days} archived days`);
  return server.readyMs / 1000;
}
