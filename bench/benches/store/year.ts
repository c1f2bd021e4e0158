import { rmSync } from "node:fs";
import { LATE_WINDOW } from "../../../src/app/config.ts";
import type { OpenDirectory } from "../../../src/app/directory.ts";
import type { Manifest } from "../../../src/archive/manifest.ts";
import { Scheduler } from "../../../src/lib/schedule/scheduler.ts";
import type { ReportBatch } from "../../../src/model/report-batch.ts";
import { createManualClock, type ManualClock } from "../../../src/model/time/clock.ts";
import { DEFAULT_RETENTION, DEFAULT_RETENTION_DAYS } from "../../../src/model/time/retention.ts";
import { MS_PER_DAY } from "../../../src/model/time/units.ts";
import { createHistoryQueries } from "../../../src/service/queries/history/history.ts";
import type { HistoryQuery } from "../../../src/service/queries/history/history-query.ts";
import { drawPlot, type Panel } from "../../support/figures/plot.ts";
import { median, readable } from "../../support/figures/report.ts";
import { createRandom, pick, type Random } from "../../support/fleets/random.ts";
import { createYearFleet, type YearFleet } from "../../support/fleets/year-fleet.ts";
import type { Bench, BenchRun } from "../../support/run/bench.ts";
import {
  dayBatches,
  MINUTES_PER_DAY,
  openBenchDirectory,
  report,
  SERVED_APP,
  temporaryDataDir,
} from "../../support/store/archived-directory.ts";

const START_MS = Date.UTC(2026, 0, 1);

/** The growth that still counts as flat: reports are late at random. */
const FLAT = 1.1;

/** One in `SILENT_OF` devices loses its network on a day; its reports arrive at most this many days later. */
const SILENT_OF = 20;
const LATE_DAYS_MAX = 20;
const SILENT_MINUTES_MAX = 360;

export const bench: Bench = {
  question:
    "a service lives a year, and five weeks more: do its memory and its log stay as large as they were?",
  sizes: {
    devices: { help: "devices that report every minute", smoke: 5, full: 20 },
    days: { help: "days that the service lives", smoke: 12, full: DEFAULT_RETENTION_DAYS + 35 },
    dayMinutes: { help: "minutes of each day that are reported", smoke: 60, full: MINUTES_PER_DAY },
    settledDay: {
      help: "from here on nothing should grow: the window is full, the first seals are over",
      smoke: 9,
      full: 30,
    },
    checks: { help: "days of a device that are read back", smoke: 20, full: 300 },
    positions: { help: "positions of the track, at most", smoke: 5000, full: 500_000 },
    seed: { help: "of the fleet", smoke: 31, full: 31 },
  },
  async run(run) {
    const days = run.size("days");
    const minutes = run.size("dayMinutes");
    const fleet = createYearFleet({
      devices: run.size("devices"),
      seed: run.size("seed"),
      positionsMax: run.size("positions"),
    });
    const dataDir = temporaryDataDir("year");
    const clock = createManualClock(START_MS);
    const life = createLife(fleet, minutes);
    const samples: DaySample[] = [];
    let reopenMs = 0;
    let directory = await openBenchDirectory(dataDir, clock);
    try {
      for (let day = 0; day < days; day++) {
        samples.push(await liveDay(directory, clock, life, day));
      }
      await directory.close();
      const startMs = performance.now();
      directory = await openBenchDirectory(dataDir, clock);
      reopenMs = performance.now() - startMs;
      await checkDays(directory, clock, fleet, life, days, run.size("checks"), minutes);
    } finally {
      await directory.close();
      rmSync(dataDir, { recursive: true });
    }
    tellYear(run, samples, reopenMs);
    run.attach("-days.json", `${JSON.stringify(samples, null, 2)}\n`);
    run.attach(".svg", await plotYear(samples, run.size("devices")));
  },
};

/** An operator's view at the end of a day, after its seal and a garbage collection. */
interface DaySample {
  readonly reported: number;
  readonly hotRecords: number;
  readonly heapBytes: number;
  readonly residentBytes: number;
  readonly logBytes: number;
  readonly archiveBytes: number;
  readonly archivedDays: number;
  readonly sealMs: number;
}

async function liveDay(
  directory: OpenDirectory,
  clock: ManualClock,
  life: Life,
  day: number,
): Promise<DaySample> {
  clock.set(START_MS + (day + 1) * MS_PER_DAY); // A day's reports have arrived when it is over.
  const reported = await report(directory, life.reportsOf(day));
  const { durationMs } = await directory.schedule.sealNow();
  Bun.gc(true);
  const { hot, log, archive } = directory;
  const { rss, heapUsed } = process.memoryUsage(); // Bun counts buffers as part of the heap.
  return {
    reported,
    hotRecords: hot.recordCount,
    heapBytes: heapUsed,
    residentBytes: rss,
    logBytes: log.bytes,
    archiveBytes: bytesOf(archive.manifest),
    archivedDays: archive.manifest.days.size,
    sealMs: Math.round(durationMs),
  };
}

function bytesOf({ days, expired, latest }: Manifest): number {
  const parts = [...days.values(), ...expired.values()].flatMap((day) => day.parts);
  return [...parts, ...(latest ?? [])].reduce((sum, { bytes }) => sum + bytes, 0);
}

/** The reports of the devices by day: most immediately, some after days without a network. */
interface Life {
  reportsOf(day: number): Iterable<ReportBatch>;
  /** Reports that arrive after this day. */
  missingAfter(day: number): readonly Silence[];
}

interface Silence {
  readonly device: number;
  readonly day: number;
  readonly fromMinute: number;
  readonly minutes: number;
  readonly arrivesOn: number;
}

function createLife(fleet: YearFleet, minutesPerDay: number): Life {
  const random = createRandom(32);
  const devices = fleet.deviceIds.map((_, index) => index);
  const silences: Silence[] = [];
  const minuteMs = ({ day, fromMinute }: Silence) => START_MS + day * MS_PER_DAY + fromMinute * 60_000;

  return {
    *reportsOf(day) {
      const silent = new Map<number, Silence>();
      for (const device of devices) {
        if (random() * SILENT_OF < 1) silent.set(device, silenceOf(random, device, day, minutesPerDay));
      }
      silences.push(...silent.values());
      const others = devices.filter((device) => !silent.has(device));
      yield* dayBatches(fleet, START_MS + day * MS_PER_DAY, minutesPerDay, others);
      for (const [device, { fromMinute, minutes }] of silent) {
        const afterMinute = fromMinute + minutes;
        const startMs = START_MS + day * MS_PER_DAY;
        if (fromMinute > 0) yield fleet.batch(startMs, fromMinute, [device]);
        if (afterMinute < minutesPerDay) {
          yield fleet.batch(startMs + afterMinute * 60_000, minutesPerDay - afterMinute, [device]);
        }
      }
      for (const silence of silences.filter(({ arrivesOn }) => arrivesOn === day)) {
        yield fleet.batch(minuteMs(silence), silence.minutes, [silence.device]);
      }
    },
    missingAfter: (day) => silences.filter(({ arrivesOn }) => arrivesOn > day),
  };
}

function silenceOf(random: Random, device: number, day: number, minutesPerDay: number): Silence {
  const fromMinute = Math.floor(random() * minutesPerDay);
  const minutes = 1 + Math.floor(random() * Math.min(SILENT_MINUTES_MAX, minutesPerDay - fromMinute));
  return { device, day, fromMinute, minutes, arrivesOn: day + 1 + Math.floor(random() * LATE_DAYS_MAX) };
}

/** Checks random days against the reports. */
async function checkDays(
  directory: OpenDirectory,
  clock: ManualClock,
  fleet: YearFleet,
  life: Life,
  days: number,
  checks: number,
  minutesPerDay: number,
): Promise<void> {
  const random = createRandom(33);
  const devices = fleet.deviceIds.map((_, index) => index);
  const firstDay = Math.max(0, days - DEFAULT_RETENTION_DAYS);
  const missing = life.missingAfter(days - 1);
  for (let index = 0; index < checks; index++) {
    const device = pick(random, devices);
    const day = firstDay + Math.floor(random() * (days - firstDay));
    const gone = missing.filter((silence) => silence.device === device && silence.day === day);
    const isThere = (minute: number) =>
      !gone.some(({ fromMinute, minutes }) => minute >= fromMinute && minute < fromMinute + minutes);
    const expected = fleet.batch(START_MS + day * MS_PER_DAY, minutesPerDay, [device]);
    const times = [...expected.timestampMs].filter((_, minute) => isThere(minute));
    const found = await timesOf(directory, clock, fleet.deviceIds[device]!, START_MS + day * MS_PER_DAY);
    if (!Bun.deepEquals(found, times)) {
      throw new Error(`day ${day} of device ${device} has ${found.length} records, not ${times.length}`);
    }
  }
}

/** The times of a device's records on a day, from its history. */
async function timesOf(
  { hot, archive }: OpenDirectory,
  clock: ManualClock,
  deviceId: string,
  dayStartMs: number,
): Promise<number[]> {
  const { ofDevice } = createHistoryQueries({
    hot,
    clock,
    retention: DEFAULT_RETENTION,
    scheduler: new Scheduler(),
    archive: () => archive,
    acknowledgedParts: async () => new Set(),
    lateWindow: LATE_WINDOW,
  });
  const query: HistoryQuery = {
    range: { startMs: dayStartMs, endMs: dayStartMs + MS_PER_DAY },
    order: "asc",
    offset: 0,
    limit: MINUTES_PER_DAY,
    accuracyMetersMax: null,
    withDistance: false,
  };
  const found = await ofDevice(SERVED_APP, deviceId, query, { signal: new AbortController().signal });
  if (!found.ok) throw new Error(`no history of ${deviceId}: ${found.error.kind}`);
  return found.value.pages.flatMap(({ count, timestampMs }) => [...timestampMs.subarray(0, count)]);
}

function tellYear(run: BenchRun, samples: readonly DaySample[], reopenMs: number): void {
  const total = samples.reduce((sum, { reported }) => sum + reported, 0);
  const last = samples.at(-1)!;
  run.note(
    `${total.toLocaleString("en")} records in ${samples.length} days; at the end ${last.archivedDays} days and ${readable(last.archiveBytes / 1e6)} MB archived, ${last.hotRecords.toLocaleString("en")} records in memory`,
  );
  const settled = samples.slice(run.size("settledDay"));
  run.figures([
    { name: "records in memory", unit: "", runs: settled.map(({ hotRecords }) => hotRecords) },
    { name: "heap", unit: "MB", runs: settled.map(({ heapBytes }) => heapBytes / 1e6) },
    { name: "resident", unit: "MB", runs: settled.map(({ residentBytes }) => residentBytes / 1e6) },
    { name: "log", unit: "MB", runs: settled.map(({ logBytes }) => logBytes / 1e6) },
    { name: "a day's seal", unit: "ms", runs: settled.map(({ sealMs }) => sealMs) },
  ]);
  run.note(`closed and opened again at the end: ${readable(reopenMs)} ms`);
  const growth = (value: (sample: DaySample) => number) => {
    const span = Math.ceil(settled.length / 10);
    return median(settled.slice(-span).map(value)) / median(settled.slice(0, span).map(value));
  };
  const name = "the last tenth of its days, times the first";
  const records = growth(({ hotRecords }) => hotRecords);
  const heap = growth(({ heapBytes }) => heapBytes);
  const log = growth(({ logBytes }) => logBytes);
  run.verdict(`records in memory, ${name}`, records, "", { atMost: FLAT });
  run.verdict(`heap, ${name}`, heap, "", { atMost: FLAT });
  run.verdict(`log, ${name}`, log, "", { atMost: FLAT });
}

function plotYear(samples: readonly DaySample[], devices: number): Promise<string> {
  const lineOf = (name: string, bytesOf: (sample: DaySample) => number) => ({
    name,
    points: samples.map((sample, day) => ({ x: day, y: bytesOf(sample) / 1e6 })),
  });
  const panelOf = (title: string, lines: Panel["lines"]): Panel => ({
    title,
    x: { title: "days", scale: "linear" },
    y: { title: "MB", scale: "linear" },
    lines,
  });
  return drawPlot({
    title: `A service of ${devices} devices that report every minute, day after day`,
    columns: 1,
    panelWidth: 560,
    panelHeight: 140,
    panels: [
      panelOf("Memory after a collection", [
        lineOf("resident", ({ residentBytes }) => residentBytes),
        lineOf("heap", ({ heapBytes }) => heapBytes),
      ]),
      panelOf("Log", [lineOf("log", ({ logBytes }) => logBytes)]),
      panelOf("Archive", [lineOf("archive", ({ archiveBytes }) => archiveBytes)]),
    ],
  });
}
