import { LATE_WINDOW } from "../../../src/app/config.ts";
import type { OpenDirectory } from "../../../src/app/directory.ts";
import { Scheduler } from "../../../src/lib/schedule/scheduler.ts";
import type { UserId } from "../../../src/model/ids.ts";
import { NUMBER_FIELDS } from "../../../src/model/location-fields.ts";
import { BATCH_REPORTS_MAX } from "../../../src/model/report-batch.ts";
import { systemClock } from "../../../src/model/time/clock.ts";
import { DEFAULT_RETENTION, startOfUtcDayMs } from "../../../src/model/time/retention.ts";
import { MS_PER_DAY } from "../../../src/model/time/units.ts";
import { createHistoryQueries, type HistoryOutcome } from "../../../src/service/queries/history/history.ts";
import type { HistoryAnswer, HistoryQuery } from "../../../src/service/queries/history/history-query.ts";
import { median } from "../../support/figures/report.ts";
import { batchesOf } from "../../support/fleets/batches.ts";
import type { Bench, Bound } from "../../support/run/bench.ts";
import {
  openBenchDirectory,
  report,
  SERVED_APP,
  temporaryDataDir,
} from "../../support/store/archived-directory.ts";

const FIELDS = NUMBER_FIELDS.length;

/** Every 100th report belongs to another user. */
const OTHERS = 100;
/** Every 4th report replaces an archived record. */
const ARCHIVED = 4;

export const bench: Bench = {
  question:
    "pages of a sealed day with late rows all over it, in process, against the same pages once a seal has folded them in",
  sizes: {
    devices: { help: "devices that report late", smoke: 5, full: 100 },
    rows: { help: "late rows of each", smoke: 400, full: 10_000 },
    rounds: { help: "times that each page is asked for", smoke: 2, full: 20 },
    deepRounds: { help: "the same of a page that has all late rows before it", smoke: 1, full: 3 },
  },
  async run(run) {
    const [devices, rows] = [run.size("devices"), run.size("rows")];
    const directory = await openBenchDirectory(temporaryDataDir("late"), systemClock);
    try {
      const dayMs = startOfUtcDayMs(systemClock.nowMs()) - 10 * MS_PER_DAY;
      await report(directory, batchesOf(reports(devices, rows, dayMs, ARCHIVED), BATCH_REPORTS_MAX));
      await directory.schedule.sealNow();
      await report(directory, batchesOf(reports(devices, rows, dayMs, 1), BATCH_REPORTS_MAX));
      run.note(
        `${(devices * rows).toLocaleString("en")} late rows, one in ${ARCHIVED} over an archived record`,
      );
      const pages = pagesOf(directory, dayMs, devices * rows, run.size("rounds"), run.size("deepRounds"));
      const late = await askAll(pages);
      await directory.schedule.sealNow();
      const folded = await askAll(pages);
      for (const [index, { name, bound }] of pages.entries()) {
        const [ours, control] = [late[index]!, folded[index]!];
        if (!Bun.deepEquals(ours.records, control.records)) throw new Error(`${name}: folded, it is another`);
        run.figures([
          { name, unit: "ms", runs: ours.runs },
          { name: `${name}, folded`, unit: "ms", runs: control.runs },
        ]);
        run.verdict(`${name}, with late rows`, median(ours.runs), "ms", bound);
      }
    } finally {
      await directory.close();
    }
  },
};

/** Every `nth` report of the devices on a day. */
function* reports(devices: number, rows: number, dayMs: number, nth: number): Generator<object> {
  const stepMs = Math.floor(MS_PER_DAY / (rows + 1));
  for (let device = 0; device < devices; device++) {
    for (let row = 0; row < rows; row += nth) {
      yield {
        device_id: `device ${device}`,
        timestamp: dayMs + row * stepMs + device,
        latitude: 53 + row / 1e5,
        longitude: -3,
        altitude: nth,
        user_id: row % OTHERS === 0 ? "few" : "many",
      };
    }
  }
}

interface Page {
  readonly name: string;
  readonly rounds: number;
  readonly bound?: Bound;
  ask(): HistoryOutcome;
}

function pagesOf(
  { hot, archive }: OpenDirectory,
  dayMs: number,
  records: number,
  rounds: number,
  deepRounds: number,
): readonly Page[] {
  const { ofApp, ofDevice, ofUser } = createHistoryQueries({
    hot,
    clock: systemClock,
    retention: DEFAULT_RETENTION,
    scheduler: new Scheduler(),
    archive: () => archive,
    acknowledgedParts: async () => new Set(),
    lateWindow: LATE_WINDOW,
  });
  const client = { signal: new AbortController().signal };
  const query: HistoryQuery = {
    range: { startMs: dayMs, endMs: dayMs + MS_PER_DAY },
    order: "asc",
    offset: 0,
    limit: 100,
    accuracyMetersMax: null,
    withDistance: false,
  };
  const bound = { atMost: 100 };
  const user = "few" as UserId;
  return [
    { name: "device, first page", rounds, bound, ask: () => ofDevice(SERVED_APP, "device 1", query, client) },
    { name: "app, first page", rounds, bound, ask: () => ofApp(SERVED_APP, query, client) },
    {
      name: "app, last 1,000",
      rounds,
      bound,
      ask: () => ofApp(SERVED_APP, { ...query, order: "desc", limit: 1000 }, client),
    },
    { name: "user of one in 100", rounds, ask: () => ofUser(SERVED_APP, user, query, client) },
    {
      name: "app, half of all before it",
      rounds: deepRounds,
      ask: () => ofApp(SERVED_APP, { ...query, offset: Math.floor(records / 2) }, client),
    },
  ];
}

interface Asked {
  readonly runs: readonly number[];
  /** The records and counts of the first answer. */
  readonly records: readonly unknown[];
}

/** The first request of a page is not counted: it opens files and locates late rows. */
async function askAll(pages: readonly Page[]): Promise<readonly Asked[]> {
  const asked: Asked[] = [];
  for (const { name, rounds, ask } of pages) {
    const runs: number[] = [];
    let first: HistoryAnswer | null = null;
    for (let round = 0; round <= rounds; round++) {
      const startMs = performance.now();
      const answer = await ask();
      if (round > 0) runs.push(performance.now() - startMs);
      if (!answer.ok) throw new Error(`${name}: ${answer.error.kind}`);
      first ??= answer.value;
    }
    asked.push({ runs, records: shown(first!) });
  }
  return asked;
}

function shown({ pages, hasMore, total, devicesMatching }: HistoryAnswer): readonly unknown[] {
  const records = pages.flatMap(({ count, deviceIds, timestampMs, numbers }) =>
    Array.from({ length: count }, (_, row) => [
      deviceIds[row],
      timestampMs[row],
      [...numbers.subarray(row * FIELDS, (row + 1) * FIELDS)].map(String),
    ]),
  );
  return [...records, hasMore, total, devicesMatching];
}
