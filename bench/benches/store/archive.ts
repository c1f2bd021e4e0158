import { readdirSync } from "node:fs";
import { DEFAULT_ARCHIVE_CONFIG } from "../../../src/app/config.ts";
import { dayFolder } from "../../../src/archive/archive-files.ts";
import { MS_PER_DAY } from "../../../src/model/time/units.ts";
import { utcDayName, utcDayOf } from "../../../src/model/time/utc-day.ts";
import { type Figure, median } from "../../support/figures/report.ts";
import { createRandom, pick, type Random } from "../../support/fleets/random.ts";
import { createYearFleet, type YearFleet } from "../../support/fleets/year-fleet.ts";
import type { Bench, BenchRun, Bound } from "../../support/run/bench.ts";
import { type ArchiveServer, startArchiveServer } from "../../support/servers/archive-server.ts";
import { type HttpClient, openHttpClient } from "../../support/servers/http-client.ts";
import { getRequest } from "../../support/servers/load.ts";
import {
  ARCHIVED_DAYS_MAX,
  type ArchivedDirectory,
  archivedDirectory,
  archivePath,
  MINUTES_PER_DAY,
} from "../../support/store/archived-directory.ts";
import {
  type Formulation,
  type HandWritten,
  openHandWritten,
  type Question,
  type Row,
} from "../../support/store/hand-written.ts";

const LIMIT = 100;
const CHECKED = 10;

export const bench: Bench = {
  question:
    "pages of archived days over HTTP, one request after the other, against the best hand-written DuckDB statement in a process of its own",
  sizes: {
    devices: { help: "devices that report every minute", smoke: 5, full: 100 },
    dayMinutes: { help: "minutes of each day that are reported", smoke: 150, full: MINUTES_PER_DAY },
    daysFew: { help: "archived days of the smaller directory", smoke: 2, full: 30 },
    daysMany: { help: "archived days of the larger directory", smoke: 3, full: ARCHIVED_DAYS_MAX },
    positions: { help: "positions of the track that devices follow, at most", smoke: 5000, full: 500_000 },
    seed: { help: "of the fleet", smoke: 11, full: 11 },
    devicePages: { help: "pages of a device's day that are timed", smoke: 5, full: 400 },
    widePages: {
      help: "pages of a whole app and deep in many days that are timed, of each",
      smoke: 3,
      full: 60,
    },
    offset: { help: "of a page deep in many days", smoke: 50, full: 5000 },
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
    const hand = await openHandWritten(DEFAULT_ARCHIVE_CONFIG);
    const served = await serve(many);
    try {
      await comparePages(run, served, hand, fleet);
      await compareSizes(run, served, few, fleet);
    } finally {
      await served.close();
      hand.close();
    }
  },
};

/** A directory with a server and a connection to it. */
interface Served extends ArchivedDirectory {
  readonly server: ArchiveServer;
  readonly client: HttpClient;
  close(): Promise<void>;
}

async function serve(directory: ArchivedDirectory): Promise<Served> {
  const server = await startArchiveServer(directory.dataDir);
  const client = await openHttpClient(server.url);
  return {
    ...directory,
    server,
    client,
    async close() {
      client.close();
      await server.stop();
    },
  };
}

async function comparePages(
  run: BenchRun,
  served: Served,
  hand: HandWritten,
  fleet: YearFleet,
): Promise<void> {
  const { dayStartsMs } = served;
  const random = createRandom(12);
  const range = Math.min(30, dayStartsMs.length);
  const offset = run.size("offset");
  const devicePage = (dayMs: number) => questionOf(served, dayMs, 1, anyDevice(random, fleet), 0);
  const appPage = () => questionOf(served, pick(random, dayStartsMs), 1, null, 0);
  const deepPage = () => {
    const startMs = pick(random, dayStartsMs.slice(0, dayStartsMs.length - range + 1));
    return questionOf(served, startMs, range, anyDevice(random, fleet), offset);
  };
  const few = run.size("widePages");
  await compare(run, {
    served,
    name: "device-day page, the first of its day since the start",
    questions: shuffled(random, dayStartsMs).map(devicePage),
    formulations: hand.devicePage,
  });
  await compare(run, {
    served,
    name: "device-day page",
    questions: times(run.size("devicePages"), () => devicePage(pick(random, dayStartsMs))),
    formulations: hand.devicePage,
    bound: { atMost: 1.3 },
  });
  await compare(run, {
    served,
    name: "app-wide day, first page",
    questions: times(few, appPage),
    formulations: hand.appPage,
    bound: { atMost: 1.5 },
  });
  await compare(run, {
    served,
    name: `device, ${range} days, page at offset ${offset}`,
    questions: times(few, deepPage),
    formulations: hand.devicePageDeep,
    bound: { atMost: 1.5 },
  });
}

interface Comparison {
  readonly served: Served;
  readonly name: string;
  readonly questions: readonly Question[];
  readonly formulations: readonly Formulation[];
  readonly bound?: Bound;
}

/**
 * Compares ours with all formulations in turns, question by question; the fastest formulation is the control. Answers
 * are compared afterwards, so that a day's first question finds cold caches.
 */
async function compare(
  run: BenchRun,
  { served, name, questions, formulations, bound }: Comparison,
): Promise<void> {
  const ours: number[] = [];
  const theirs = formulations.map((): number[] => []);
  for (const question of questions) {
    const request = requestOf(served, question);
    ours.push(await elapsedMs(() => served.client.ask(request)));
    for (const [way, { ask }] of formulations.entries()) {
      theirs[way]!.push(await elapsedMs(() => ask(question)));
    }
  }
  for (const question of questions.slice(0, CHECKED)) await check(served, formulations, question);
  run.figures([
    { name, unit: "ms", runs: ours },
    ...formulations.map((way, index): Figure => {
      return { name: `${name}, by hand: ${way.name}`, unit: "ms", runs: theirs[index]! };
    }),
  ]);
  const ratio = median(ours) / Math.min(...theirs.map(median));
  run.verdict(`${name}, times the fastest`, ratio, "", bound);
}

/** Requests the same page from a small and from a large archive. */
async function compareSizes(
  run: BenchRun,
  many: Served,
  directory: ArchivedDirectory,
  fleet: YearFleet,
): Promise<void> {
  const few = await serve(directory);
  try {
    const random = createRandom(13);
    const runs = { many: [] as number[], few: [] as number[] };
    const requests = run.size("devicePages");
    for (let index = -CHECKED; index < requests; index++) {
      const startMs = pick(random, few.dayStartsMs);
      const question = questionOf(few, startMs, 1, anyDevice(random, fleet), 0);
      const [manyMs, manyRows] = await timed(many, question);
      const [fewMs, fewRows] = await timed(few, question);
      if (!Bun.deepEquals(manyRows, fewRows)) throw new Error("the two archives answer differently");
      if (index < 0) continue; // The first questions warm up both.
      runs.many.push(manyMs);
      runs.few.push(fewMs);
    }
    run.figures([
      { name: `device-day page, ${many.dayStartsMs.length} days archived`, unit: "ms", runs: runs.many },
      { name: `the same, ${few.dayStartsMs.length} days archived`, unit: "ms", runs: runs.few },
    ]);
    run.verdict("times the smaller archive", median(runs.many) / median(runs.few), "", { atMost: 1.2 });
  } finally {
    await few.close();
  }
}

async function timed(served: Served, question: Question): Promise<[ms: number, rows: readonly Row[]]> {
  const request = requestOf(served, question);
  const startMs = performance.now();
  const body = await served.client.ask(request);
  return [performance.now() - startMs, recordsOf(body).rows];
}

async function elapsedMs(work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await work();
  return performance.now() - startMs;
}

/** Checks that every formulation has the server's values. */
async function check(
  served: Served,
  formulations: readonly Formulation[],
  question: Question,
): Promise<void> {
  const shown = recordsOf(await served.client.ask(requestOf(served, question)));
  if (shown.rows.length === 0) throw new Error("the page is empty");
  for (const { name, ask } of formulations) {
    const found = await ask(question);
    const isSame =
      Bun.deepEquals(found.rows().slice(0, LIMIT), shown.rows) && found.devices === shown.devices;
    if (!isSame) throw new Error(`"${name}" and the server answer differently`);
  }
}

interface Shown {
  readonly rows: readonly Row[];
  readonly devices: number | null;
}

function recordsOf(body: Buffer): Shown {
  const { locations, pagination } = JSON.parse(body.toString("utf8")) as {
    locations: Record<string, unknown>[];
    pagination: { total_devices?: number };
  };
  return {
    rows: locations.map(({ id, appId, ...fields }) => fields),
    devices: pagination.total_devices ?? null,
  };
}

function questionOf(
  { dataDir }: ArchivedDirectory,
  startMs: number,
  days: number,
  deviceId: string | null,
  offset: number,
): Question {
  const starts = Array.from({ length: days }, (_, index) => startMs + index * MS_PER_DAY);
  return {
    files: starts.flatMap((dayMs) => filesOf(dataDir, dayMs)),
    startMs,
    endMs: startMs + days * MS_PER_DAY,
    deviceId,
    offset,
    limit: LIMIT + 1, // The extra row tells whether there are more.
  };
}

function filesOf(dataDir: string, dayStartMs: number): string[] {
  const folder = archivePath(dataDir, dayFolder(utcDayOf(dayStartMs)));
  return readdirSync(folder).map((name) => `${folder}/${name}`);
}

function requestOf({ server }: Served, { startMs, endMs, deviceId, offset }: Question): Uint8Array {
  const path =
    deviceId === null ? "/api/v1/locations/history" : `/api/v1/devices/${deviceId}/locations/history`;
  const dates = `start_date=${utcDayName(utcDayOf(startMs))}&end_date=${utcDayName(utcDayOf(endMs - 1))}`;
  const url = `${server.url}${path}?${dates}${offset > 0 ? `&offset=${offset}` : ""}`;
  return getRequest(url, { authorization: `Bearer ${server.key}` });
}

function anyDevice(random: Random, { deviceIds }: YearFleet): string {
  return pick(random, deviceIds);
}

function shuffled<Item>(random: Random, items: readonly Item[]): Item[] {
  return items
    .map((item) => ({ item, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

function times<Item>(count: number, make: () => Item): Item[] {
  return Array.from({ length: count }, make);
}
