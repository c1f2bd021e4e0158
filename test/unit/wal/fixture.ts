import { viewsOf } from "../../../src/lib/frames/views.ts";
import type { AppId } from "../../../src/model/ids.ts";
import { createReportBatchBuilder, type ReportBatch } from "../../../src/model/report-batch.ts";
import { type UtcDay, utcDayStartMs } from "../../../src/model/time/utc-day.ts";
import type { Files } from "../../../src/runtime/files.ts";
import type { Coverage } from "../../../src/wal/coverage.ts";
import type { LogEntry } from "../../../src/wal/entry/entry.ts";
import { openSegment, SEGMENT_HEAD_BYTES } from "../../../src/wal/segment.ts";
import { openWal, type WalOptions } from "../../../src/wal/wal.ts";

export const APP = "app" as AppId;
export const LOG = "/data/wal";
export const DAMAGED = "/data/damaged";

/** A batch that can be told from others by the name of its devices. */
export function namedBatch(name: string, reports = 1): ReportBatch {
  return batchAt(
    name,
    Array.from({ length: reports }, (_, i) => 1_769_442_912_000 + i),
  );
}

/** A batch with a report on each of the days, numbered small for reading. */
export function dayBatch(name: string, days: readonly number[]): ReportBatch {
  return batchAt(
    name,
    days.map((day, i) => utcDayStartMs(day as UtcDay) + i),
  );
}

function batchAt(name: string, timestampsMs: readonly number[]): ReportBatch {
  const builder = createReportBatchBuilder(timestampsMs.length);
  for (const [i, timestampMs] of timestampsMs.entries()) {
    builder.begin();
    builder.numbers.fill(1.5 + i, 0, 2);
    builder.profile[0] = builder.text(`user of ${name}`);
    builder.add(builder.text(name), timestampMs);
  }
  return builder.build();
}

/** The name of an entry all of whose reports have left. */
export const NOTHING_LEFT = "-";

/** The name of a batch, or the device of a profile. */
function nameOf(entry: LogEntry): string {
  if (entry.kind === "device_profile") return `profile of ${entry.deviceId}`;
  if (entry.kind !== "reports") return entry.kind;
  return entry.batch.texts[entry.batch.device[0]!] ?? NOTHING_LEFT;
}

/** What a replay found: `sequence name` of each entry. */
export async function openTestWal(files: Files, options: Partial<WalOptions> = {}) {
  const found: string[] = [];
  const { wal, recovery } = await openWal({
    files,
    directory: LOG,
    damagedDirectory: DAMAGED,
    segmentBytesMax: SEGMENT_HEAD_BYTES + 768, // Three entries of one report.
    queueBytesMax: 1_000_000,
    sequenceMin: 1,
    onEntry: (entry) => found.push(`${entry.sequence} ${nameOf(entry)}`),
    ...options,
  });
  return { wal, recovery, found };
}

/** Appends entries one after the other, all of which must be taken; returns them as `openTestWal` finds them. */
export async function appendNamed(
  wal: Pick<Awaited<ReturnType<typeof openTestWal>>["wal"], "append">,
  names: readonly string[],
): Promise<string[]> {
  const written: string[] = [];
  for (const name of names) {
    const appended = await wal.append(APP, namedBatch(name));
    if (!appended.ok) throw new Error(`refused ${name}: ${appended.error.kind}`);
    written.push(`${appended.value} ${name}`);
  }
  return written;
}

/** Covered up to any sequence, and not expired. */
export function covers(...days: readonly number[]): Coverage {
  return {
    isCovered: (day) => days.includes(day),
    isExpired: () => false,
    standingSequence: 0,
    erasures: [],
  };
}

export const COVERS_ALL: Coverage = {
  isCovered: () => true,
  isExpired: () => false,
  standingSequence: 0,
  erasures: [],
};

/** The salt of a segment's frames. */
export function saltOf(segment: Uint8Array): Uint8Array {
  const { salt } = openSegment("segment", 1, viewsOf(segment), 0);
  if (salt === null) throw new Error("the segment has lost its salt");
  return salt;
}

/** The paths of the log's segments, oldest first. */
export async function segmentPaths(files: Files): Promise<string[]> {
  return (await files.list(LOG)).map((name) => `${LOG}/${name}`);
}
