import { closeSync, fdatasyncSync, openSync, readdirSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { DEFAULT_ARCHIVE_CONFIG } from "../../../src/app/config.ts";
import { dayFolder } from "../../../src/archive/archive-files.ts";
import { directoryPaths } from "../../../src/directory/paths.ts";
import { utcDayOf } from "../../../src/model/time/utc-day.ts";
import { median } from "../figures/report.ts";
import { batchesOf } from "../fleets/batches.ts";
import type { BenchRun } from "../run/bench.ts";
import { startArchiveServer } from "../servers/archive-server.ts";
import { archivePath, report } from "../store/archived-directory.ts";
import { type HandWritten, openHandWritten } from "../store/hand-written.ts";
import {
  type CorrectedDays,
  type CorrectedServer,
  makeCorrectedDays,
  openCorrected,
} from "./corrected-days.ts";
import { Correcting, dayPath, type HideRange } from "./correcting.ts";

const MS_PER_MINUTE = 60_000;

/** Hides records of yesterday and of an archived day, in a warm server, and as the first request of a new one. */
export async function measureAcknowledged(run: BenchRun): Promise<void> {
  const days = await makeCorrectedDays(run, true);
  const hand = await openHandWritten(DEFAULT_ARCHIVE_CONFIG);
  try {
    const server = await openCorrected(days.dataDir);
    try {
      await hideOfMemory(run, days, server);
      await hideOfArchive(run, days, server, hand);
    } finally {
      await server.directory.close();
    }
    await hideAtFirst(run, days);
  } finally {
    hand.close();
  }
}

async function hideOfMemory(run: BenchRun, days: CorrectedDays, { correcting, directory }: CorrectedServer) {
  const count = run.size("hidden");
  const ours: number[] = [];
  const control: number[] = [];
  for (let round = -WARM; round < run.size("rounds"); round++) {
    const range = rangeOf(days, round + WARM, days.yesterdayMs, count);
    const [batch] = [...batchesOf(reportsOf(`control ${round}`, range, count), count)];
    const hidMs = await hideOnce(correcting, range, days.yesterdayMs, count);
    const reportedMs = await elapsedMs(() => report(directory, [batch!]));
    if (round < 0) continue;
    ours.push(hidMs);
    control.push(reportedMs);
  }
  const name = `hide ${count} records of yesterday`;
  run.figures([
    { name, unit: "ms", runs: ours },
    { name: `report ${count} records of yesterday`, unit: "ms", runs: control },
  ]);
  run.verdict(`${name}, until acknowledged`, median(ours), "ms", { atMost: 20 });
}

async function hideOfArchive(
  run: BenchRun,
  days: CorrectedDays,
  { correcting }: CorrectedServer,
  hand: HandWritten,
) {
  const count = run.size("hidden");
  const ours: number[] = [];
  const control: number[] = [];
  for (let round = -WARM; round < run.size("rounds"); round++) {
    const range = rangeOf(days, round + WARM, days.archivedMs, count);
    const hidMs = await hideOnce(correcting, range, days.archivedMs, count);
    const handMs = await elapsedMs(() => hideByHand(hand, days, range, count));
    if (round < 0) continue;
    ours.push(hidMs);
    control.push(handMs);
  }
  const name = `hide ${count} records of an archived day`;
  run.figures([
    { name, unit: "ms", runs: ours },
    { name: `${name}, by hand: read them, sync their times to a file`, unit: "ms", runs: control },
  ]);
  run.verdict(`${name}, until acknowledged`, median(ours), "ms", { atMost: 200 });
}

/** As the first request of a server that has just started; the control reads the same records then. */
async function hideAtFirst(run: BenchRun, days: CorrectedDays) {
  const count = run.size("hidden");
  const ours: number[] = [];
  const control: number[] = [];
  for (let launch = 0; launch < run.size("launches"); launch++) {
    const range = rangeOf(days, launch, days.archivedMs, count);
    ours.push(await firstMs(days, (correcting) => correcting.hide(range)));
    control.push(
      await firstMs(days, (correcting) => correcting.locations(dayPath(range.device_id, days.archivedMs))),
    );
  }
  const name = `hide ${count} records of an archived day, first request since the start`;
  run.figures([
    { name, unit: "ms", runs: ours },
    { name: "a page of 1,000 records of the day, first request since the start", unit: "ms", runs: control },
  ]);
  run.verdict(`${name}, until acknowledged`, median(ours), "ms", { atMost: 200 });
}

async function firstMs({ dataDir }: CorrectedDays, ask: (correcting: Correcting) => Promise<unknown>) {
  const server = await startArchiveServer(dataDir);
  try {
    const authorization = `Bearer ${readFileSync(directoryPaths(dataDir).firstKey, "utf8").trim()}`;
    const correcting = new Correcting((path, init) =>
      fetch(`${server.url}${path}`, { ...init, headers: { ...init?.headers, authorization } }),
    );
    return await elapsedMs(() => ask(correcting));
  } finally {
    await server.stop();
  }
}

/** Rounds that are not counted. */
const WARM = 3;

/** Hides, looks at what is left, and undoes it. */
async function hideOnce(
  correcting: Correcting,
  range: HideRange,
  dayMs: number,
  count: number,
): Promise<number> {
  const path = dayPath(range.device_id, dayMs);
  const before = await correcting.locations(path);
  const startMs = performance.now();
  const made = await correcting.hide(range);
  const tookMs = performance.now() - startMs;
  if (made.records !== count) throw new Error(`${made.records} records are hidden, not ${count}`);
  const hidden = await correcting.locations(path);
  if (hidden.some(({ timestamp }) => timestamp < range.end)) throw new Error("a hidden record is shown");
  await correcting.undo(made);
  if (!Bun.deepEquals(await correcting.locations(path), before)) throw new Error("undone, it is another day");
  return tookMs;
}

async function hideByHand(hand: HandWritten, { dataDir }: CorrectedDays, range: HideRange, count: number) {
  const folder = archivePath(dataDir, dayFolder(utcDayOf(range.start)));
  const files = readdirSync(folder).map((name) => join(folder, name));
  const { device_id: deviceId, start: startMs, end: endMs } = range;
  const page = { files, startMs, endMs, deviceId, offset: 0, limit: count };
  const rows = (await hand.devicePage.at(-1)!.ask(page)).rows();
  if (rows.length !== count) throw new Error(`by hand there are ${rows.length} records, not ${count}`);
  const file = openSync(join(dataDir, "by-hand"), "w");
  writeSync(
    file,
    Float64Array.from(rows, ({ timestamp }) => timestamp as number),
  );
  fdatasyncSync(file);
  closeSync(file);
}

/** The first records of a day of one device after the other. */
function rangeOf({ deviceIds }: CorrectedDays, round: number, dayMs: number, count: number): HideRange {
  const device_id = deviceIds[round % deviceIds.length]!;
  return { device_id, start: dayMs, end: dayMs + count * MS_PER_MINUTE };
}

function* reportsOf(deviceId: string, { start }: HideRange, count: number): Iterable<object> {
  for (let i = 0; i < count; i++)
    yield { device_id: deviceId, timestamp: start + i * MS_PER_MINUTE, latitude: 42, longitude: -71 };
}

async function elapsedMs(work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await work();
  return performance.now() - startMs;
}
