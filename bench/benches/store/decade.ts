import { FixedRetention } from "../../../src/model/time/retention.ts";
import { utcDayName, utcDayOf } from "../../../src/model/time/utc-day.ts";
import { WINDOW_DAYS } from "../../../src/service/upkeep/seal/plan.ts";
import { median } from "../../support/figures/report.ts";
import { createRandom, pick, type Random } from "../../support/fleets/random.ts";
import { createYearFleet, type YearFleet } from "../../support/fleets/year-fleet.ts";
import type { Bench, BenchRun } from "../../support/run/bench.ts";
import { startArchiveServer } from "../../support/servers/archive-server.ts";
import { openHttpClient } from "../../support/servers/http-client.ts";
import { getRequest } from "../../support/servers/load.ts";
import {
  type ArchivedDirectory,
  archivedDirectory,
  MINUTES_PER_DAY,
} from "../../support/store/archived-directory.ts";

const LIMIT = 100;
const GROWTH_MAX = 1.2;

export const bench: Bench = {
  question:
    "with ten years of a household's devices, against one: start of the process to the first 200 of /ready, and pages of a device's day, of any day there is",
  sizes: {
    devices: { help: "devices that report every minute", smoke: 5, full: 20 },
    dayMinutes: { help: "minutes of each day that are reported", smoke: 120, full: MINUTES_PER_DAY },
    daysFew: { help: "days of the smaller directory, the week in memory too", smoke: 10, full: 365 },
    daysMany: { help: "days of the larger directory", smoke: 20, full: 3650 },
    positions: { help: "positions of the track that devices follow, at most", smoke: 5000, full: 500_000 },
    seed: { help: "of the fleet", smoke: 11, full: 11 },
    rounds: { help: "times that each is started", smoke: 1, full: 9 },
    pages: { help: "days that each is asked for, a start", smoke: 2, full: 24 },
  },
  async run(run) {
    const fleet = createYearFleet({
      devices: run.size("devices"),
      seed: run.size("seed"),
      positionsMax: run.size("positions"),
    });
    const make = (days: number) =>
      archivedDirectory({
        fleet,
        archivedDays: days - WINDOW_DAYS,
        minutesPerDay: run.size("dayMinutes"),
        retention: FixedRetention.FOREVER,
      });
    const few = await make(run.size("daysFew"));
    const many = await make(run.size("daysMany"));
    const random = createRandom(14);
    const launch = (directory: ArchivedDirectory) => launchOnce(run, directory, fleet, random);
    await launch(few); // Warms the disk cache.
    await launch(many);
    const control = noRuns();
    const ours = noRuns();
    for (let round = 0; round < run.size("rounds"); round++) {
      note(control, await launch(few));
      note(ours, await launch(many));
    }
    const compare = (name: string, unit: string, of: (runs: Runs) => readonly number[]) => {
      run.figures([
        { name: `${name}, ${run.size("daysMany")} days`, unit, runs: of(ours) },
        { name: `${name}, ${run.size("daysFew")} days`, unit, runs: of(control) },
      ]);
      run.verdict(`${name}, times the shorter archive`, median(of(ours)) / median(of(control)), "", {
        atMost: GROWTH_MAX,
      });
    };
    compare("start", "s", ({ seconds }) => seconds);
    compare("device-day page, the first of its day since the start", "ms", ({ firstMs }) => firstMs);
    compare("device-day page", "ms", ({ againMs }) => againMs);
  },
};

/** One number per launch: seconds to readiness, and medians of the pages. */
interface Runs {
  readonly seconds: number[];
  readonly firstMs: number[];
  readonly againMs: number[];
}

type Launch = { readonly [Name in keyof Runs]: number };

function noRuns(): Runs {
  return { seconds: [], firstMs: [], againMs: [] };
}

function note(runs: Runs, { seconds, firstMs, againMs }: Launch): void {
  runs.seconds.push(seconds);
  runs.firstMs.push(firstMs);
  runs.againMs.push(againMs);
}

/** Starts a server, requests days of all its years twice, and stops it. */
async function launchOnce(
  run: BenchRun,
  { dataDir, dayStartsMs, unsealedRecords }: ArchivedDirectory,
  fleet: YearFleet,
  random: Random,
): Promise<Launch> {
  const server = await startArchiveServer(dataDir);
  const client = await openHttpClient(server.url);
  try {
    const [, records, days] = await server.logLine(/with ([\d,]+) records .* and (\d+) archived day/);
    const isWhole =
      Number(days) === dayStartsMs.length && Number(records!.replaceAll(",", "")) === unsealedRecords;
    if (!isWhole) throw new Error(`ready with ${records} records and ${days} archived days`);
    const asked = new Set<number>();
    while (asked.size < run.size("pages")) asked.add(pick(random, dayStartsMs));
    const requests = [...asked].map((dayMs) => {
      const day = utcDayName(utcDayOf(dayMs));
      const path = `/api/v1/devices/${pick(random, fleet.deviceIds)}/locations/history`;
      return getRequest(`${server.url}${path}?start_date=${day}&end_date=${day}`, {
        authorization: `Bearer ${server.key}`,
      });
    });
    const pages = async () => {
      const times: number[] = [];
      for (const request of requests) {
        const startMs = performance.now();
        const body = await client.ask(request);
        times.push(performance.now() - startMs);
        const { locations } = JSON.parse(body.toString("utf8")) as { locations: unknown[] };
        if (locations.length !== LIMIT) throw new Error(`a page of ${locations.length} records`);
      }
      return median(times);
    };
    return { seconds: server.readyMs / 1000, firstMs: await pages(), againMs: await pages() };
  } finally {
    client.close();
    await server.stop();
  }
}
