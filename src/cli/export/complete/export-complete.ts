import type { KeyRecord } from "../../../auth/key-file.ts";
import { joinBytes } from "../../../lib/bytes/growing-bytes.ts";
import { ZipWriter } from "../../../lib/bytes/zip-writer.ts";
import type { Clock } from "../../../model/time/clock.ts";
import { today } from "../../../model/time/range.ts";
import { UTC } from "../../../model/time/zone.ts";
import type { Platform } from "../../../runtime/platform.ts";
import type { Terminal } from "../../../runtime/process.ts";
import { EXPORT_FORMATS } from "../../../service/export/export-formats.ts";
import type { CompleteExport } from "../command.ts";
import { FileOutput, watched } from "../file-output.ts";
import type { ExportScreen } from "../screen.ts";
import { ExportFailedError, type ExportFrom } from "../source.ts";
import { dayAfter, type ExportedRange, FIRST_DAY } from "../split-plan.ts";
import { type Gathered, gather, type RecordSet } from "./gather.ts";
import type { Members } from "./personal-data.ts";
import { readmeText, type WrittenRecords } from "./readme.ts";

interface CompleteWork {
  readonly command: CompleteExport;
  readonly platform: Platform;
  readonly clock: Clock;
  readonly terminal: Terminal;
  readonly screen: ExportScreen;
  readonly signal: AbortSignal;
  readonly source: ExportFrom;
}

/** What became of the parts of an archive, for its README and for the operator. */
interface Outcome {
  readonly records: WrittenRecords[];
  /** Messages that are gone or damaged. */
  unreadMessages: number;
  /** Whether records are missing because the operator gave them up with `verify --acknowledge`. */
  isIncomplete: boolean;
}

/** Writes all that an app stores about devices or a user as a ZIP. Throws an `ExportFailedError`. */
export async function exportComplete(work: CompleteWork): Promise<void> {
  const { command, platform, clock, terminal, screen, signal } = work;
  const last = dayAfter(today(command.options.zone ?? UTC, clock.nowMs())); // Clocks of devices may be ahead.
  const range = { from: FIRST_DAY, to: last };
  const gathered = await gather({ ...work, range });
  const outcome: Outcome = { records: [], unreadMessages: 0, isIncomplete: false };
  let bytes = 0;
  const pieces = watched(zipped(work, range, gathered, outcome), signal, (count) => {
    bytes += count;
    screen.onBytes(count);
  });
  if (command.out === "-") for await (const piece of pieces) await terminal.outBytes(piece);
  else await new FileOutput(platform.files, command.out, platform.pid).write(pieces, () => true);
  for (const note of notesOf(gathered, outcome)) screen.say(note);
  screen.written({ path: command.out, records: outcome.records[0]?.records ?? 0, bytes });
}

/** The parts of records are joined to about this size, because each piece is compressed by itself. */
const JOINED_BYTES = 1 << 20;

async function* zipped(
  work: CompleteWork,
  range: ExportedRange,
  gathered: Gathered,
  outcome: Outcome,
): AsyncGenerator<Uint8Array> {
  const { command, clock } = work;
  const { corrections, keys } = gathered;
  const zip = new ZipWriter({ isLarge: true });
  const encoder = new TextEncoder();

  async function* file(name: string, pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    yield zip.begin(name);
    for await (const piece of joined(pieces)) yield zip.add(piece);
  }

  async function* list(items: AsyncIterable<object> | Iterable<object>): AsyncGenerator<Uint8Array> {
    let separator = "[\n";
    for await (const item of items) {
      yield encoder.encode(separator + JSON.stringify(item));
      separator = ",\n";
    }
    yield encoder.encode(separator === "[\n" ? "[]\n" : "\n]\n");
  }

  for (const set of gathered.recordSets)
    for (const format of FORMATS) {
      const name = `records/${set.originals ? "as-reported" : "as-shown"}${format.extension}`;
      yield* file(name, recordsOf(work, range, set, { name, format }, outcome));
    }
  yield* file("profiles.json", list(gathered.profiles));
  if (corrections !== null) yield* file("corrections.json", list(corrections));
  yield* file("quarantine.json", list(messagesOf(work, gathered, outcome)));
  const devices: ReadonlySet<string> = new Set(gathered.deviceIds);
  if (keys !== null) yield* file("keys.json", list(keys.map((key) => presentKey(key, devices))));
  const { records } = outcome;
  const notes = notesOf(gathered, outcome);
  const readme = readmeText({ command, gathered, records, notes, nowMs: clock.nowMs() });
  yield zip.begin("README.txt");
  yield zip.add(encoder.encode(readme));
  yield zip.end();
}

const FORMATS = ["csv", "geojson", "gpx"].map(
  (name) => EXPORT_FORMATS.find((format) => format.name === name)!,
);

async function* recordsOf(
  { command, source }: CompleteWork,
  range: ExportedRange,
  { originals, deviceIds }: RecordSet,
  { name, format }: { readonly name: string; readonly format: (typeof FORMATS)[number] },
  outcome: Outcome,
): AsyncGenerator<Uint8Array> {
  const { options } = command;
  const opened = await source.open({ ...range, deviceIds, originals }, { format, options });
  if (!opened.ok) throw new ExportFailedError(opened.error);
  yield* opened.value.pieces();
  const { records, isIncomplete } = opened.value;
  outcome.records.push({ name, records: records ?? 0 });
  if (isIncomplete) outcome.isIncomplete = true;
}

/** One message at a time: a body may have megabytes. */
async function* messagesOf(
  { source }: CompleteWork,
  { refused }: Gathered,
  outcome: Outcome,
): AsyncGenerator<Members> {
  for (const summary of refused) {
    const content = await source.data.findRefused(summary.id);
    if (!content.ok) throw new ExportFailedError(content.error.sentence);
    if (content.value === null) outcome.unreadMessages++;
    yield content.value ?? { ...summary };
  }
}

/** A key without what could be used in its place, and without other devices that a share link shows. */
function presentKey(key: KeyRecord, devices: ReadonlySet<string>): Members {
  const { view } = key;
  const shows =
    view === null
      ? {}
      : {
          shows: {
            device_ids: view.deviceIds.filter((id) => devices.has(id)),
            not_before: view.notBeforeMs,
            precision_meters: view.precisionMeters,
          },
        };
  return {
    id: key.id,
    label: key.label,
    permissions: key.permissions,
    device_id: key.deviceId,
    user_id: key.userId,
    ...shows,
    tier: key.tier,
    created: key.createdMs,
    created_by: key.makerId,
    expires: key.expiresMs,
    revoked: key.revokedMs,
    last_four: key.lastFour,
  };
}

/** What the archive lacks, as sentences. */
function notesOf({ missing }: Gathered, { unreadMessages, isIncomplete }: Outcome): string[] {
  const notes = missing.map((part) => `Left out: ${part}.`);
  if (isIncomplete) notes.push("Records are missing: verify --acknowledge gave them up after damage.");
  if (unreadMessages > 0)
    notes.push(
      `Messages of the quarantine without content, because it is gone or damaged: ${unreadMessages}.`,
    );
  return notes;
}

async function* joined(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let waiting: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
    waiting.push(piece);
    bytes += piece.length;
    if (bytes < JOINED_BYTES) continue;
    yield joinBytes(waiting);
    waiting = [];
    bytes = 0;
  }
  if (bytes > 0) yield joinBytes(waiting);
}
