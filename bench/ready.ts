import { startArchiveServer } from "./support/archive-server.ts";
import {
  ARCHIVED_DAYS_MAX,
  type ArchivedDirectory,
  archivedDirectory,
  MINUTES_PER_DAY,
} from "./support/archived-directory.ts";
import { type Bench, size } from "./support/bench.ts";
import { type Figure, median, printFigures } from "./support/report.ts";
import { printAtMost } from "./support/verdict.ts";
import { createYearFleet } from "./support/year-fleet.ts";

export const bench: Bench = {
  question:
    "from the start of the process to the first 200 of /ready, with a year archived, against a month with the same week to replay",
  async run(isSmoke) {
    const minutesPerDay = size(isSmoke, 150, MINUTES_PER_DAY);
    const devices = size(isSmoke, 5, 100);
    const positionsMax = size(isSmoke, 5000, Number.POSITIVE_INFINITY);
    const fleet = createYearFleet({ devices, seed: 11, positionsMax });
    const archivedDays = { few: size(isSmoke, 2, 30), many: size(isSmoke, 3, ARCHIVED_DAYS_MAX) };
    const few = await archivedDirectory({ fleet, archivedDays: archivedDays.few, minutesPerDay });
    const many = await archivedDirectory({ fleet, archivedDays: archivedDays.many, minutesPerDay });
    await startOnce(few); // What the disk has to be asked for, it is asked for here.
    await startOnce(many);
    const ours: number[] = [];
    const control: number[] = [];
    for (let round = 0; round < size(isSmoke, 1, 9); round++) {
      control.push(await startOnce(few));
      ours.push(await startOnce(many));
    }
    const figures: Figure[] = [
      { name: `${many.dayStartsMs.length} days archived`, unit: "s", runs: ours },
      { name: `${few.dayStartsMs.length} days archived`, unit: "s", runs: control },
    ];
    printFigures(figures);
    printAtMost("times the smaller archive", median(ours) / median(control), 1.2);
  },
};

/** Starts a server and stops it; returns the seconds to its readiness. */
async function startOnce({ dataDir, dayStartsMs, unsealedRecords }: ArchivedDirectory): Promise<number> {
  const server = await startArchiveServer(dataDir);
  const [, records, days] = await server.said(/with ([\d,]+) records .* and (\d+) archived day/);
  await server.stop();
  const isWhole =
    Number(days) === dayStartsMs.length && Number(records!.replaceAll(",", "")) === unsealedRecords;
  if (!isWhole) throw new Error(`ready with ${records} records and ${days} archived days`);
  return server.readyMs / 1000;
}
