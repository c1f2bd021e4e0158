import { join } from "node:path";
import { crc32 } from "node:zlib";
import { assert } from "../lib/assert.ts";
import { messageOf } from "../lib/message-of.ts";
import { inTurns } from "../lib/schedule/steps.ts";
import { nextUtcDay, type UtcDay, utcDayName, utcDayStartMs } from "../model/time/utc-day.ts";
import { FileError, type Files, isOutOfDescriptors } from "../runtime/files.ts";
import type { Connection, Database } from "./duckdb/database.ts";
import type { Manifest, ManifestFile, Part, StandingPart } from "./manifest.ts";
import { faultOf } from "./part-checks.ts";
import { decodeStanding } from "./standing-file.ts";
import { findStrayFiles } from "./stray-files.ts";

/** The contents of an archive, and its damage. */
export interface ArchiveReport {
  readonly manifest: ManifestFile["state"];
  readonly days: number;
  readonly firstDay: string | null;
  readonly lastDay: string | null;
  readonly parts: number;
  readonly records: number;
  readonly bytes: number;
  /** Devices with a newest archived record. */
  readonly devices: number;
  /** Days beyond the retention whose files are kept for another day. */
  readonly expiredDays: number;
  readonly damaged: readonly DamagedPart[];
  /** Parts whose loss was acknowledged; they are no longer part of the archive. */
  readonly lost: readonly string[];
  /** Parquet files that do not belong to the archive. */
  readonly foreign: readonly string[];
}

export interface DamagedPart {
  /** Its path within the archive directory. */
  readonly file: string;
  /** Its size on disk. */
  readonly bytes: number;
  readonly fault: string;
}

export interface VerifyArchiveOptions {
  readonly files: Files;
  readonly directory: string;
  readonly manifestFile: ManifestFile;
  /** Whether the file was verified before. Called before the file is read. */
  isKnownGood(part: Part): boolean;
  /** Called if there is any part to open. */
  openDatabase(): Promise<Database>;
  onRead(part: Part): void;
}

/** Reads every part completely, and opens it. */
export async function verifyArchive(options: VerifyArchiveOptions): Promise<ArchiveReport> {
  const { files, directory, manifestFile, isKnownGood, openDatabase, onRead } = options;
  const { manifest, state } = manifestFile;
  const parts = readableParts(manifest).filter(({ part }) => !isKnownGood(part));
  const connection = parts.length > 0 ? await (await openDatabase()).connect() : null;
  const damaged: DamagedPart[] = [];
  for (const { part, day } of parts) {
    assert(connection !== null, "a database is open if there are parts");
    const fault = await findFault(options, connection, part, day);
    if (fault !== null) damaged.push(fault);
    onRead(part);
  }
  connection?.close();
  const { standing } = manifest;
  if (standing !== null && !isKnownGood(standing)) {
    const path = join(directory, standing.file);
    const fault = (await faultOf(files, path, standing, true)) ?? (await wrongEntries(files, path, standing));
    if (fault !== null) damaged.push({ file: standing.file, bytes: await sizeOf(options, standing), fault });
  }
  const { foreign } = await findStrayFiles(files, directory, manifest);
  return { manifest: state, damaged, foreign, ...totalsOf(manifest) };
}

/** Compares the entries of a file whose checksum matches with the manifest. */
async function wrongEntries(files: Files, path: string, standing: StandingPart): Promise<string | null> {
  const { isWhole, sequence, rows, apps } = await inTurns(
    decodeStanding(await files.read(path), path, () => {}),
  );
  if (!isWhole) return "it has entries that can't be read";
  const isAsCounted =
    sequence === standing.sequence &&
    rows === standing.rows &&
    apps.size === standing.apps.size &&
    [...apps].every(([app, count]) => standing.apps.get(app) === count);
  return isAsCounted ? null : "its entries are not those the manifest counts";
}

async function sizeOf({ files, directory }: VerifyArchiveOptions, { file }: Part): Promise<number> {
  const path = join(directory, file);
  return (await files.exists(path)) ? files.size(path) : 0;
}

/** Bytes of all parts, to show progress. */
export function archiveBytes(manifest: Manifest): number {
  return readableParts(manifest).reduce((sum, { part }) => sum + part.bytes, 0);
}

/** Every part that answers read, with its day; null for the checkpoint. */
export function readableParts({ days, latest }: Manifest): { part: Part; day: UtcDay | null }[] {
  return [
    ...[...days].flatMap(([day, { parts }]) => parts.map((part) => ({ part, day }))),
    ...(latest ?? []).map((part) => ({ part, day: null })),
  ];
}

function totalsOf({ days, latest, expired }: Manifest) {
  const parts = [...days.values()].flatMap((sealed) => sealed.parts);
  const names = [...days.keys()].sort((a, b) => a - b).map(utcDayName);
  return {
    days: days.size,
    firstDay: names[0] ?? null,
    lastDay: names.at(-1) ?? null,
    parts: parts.length,
    records: parts.reduce((sum, { rows }) => sum + rows, 0),
    bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0),
    devices: (latest ?? []).reduce((sum, { rows }) => sum + rows, 0),
    expiredDays: [...expired.values()].filter((day) => day.parts.length > 0).length,
    lost: [...days.values()].flatMap((sealed) => sealed.lost.map(({ file }) => file)),
  };
}

async function findFault(
  { files, directory }: VerifyArchiveOptions,
  connection: Connection,
  part: Part,
  day: UtcDay | null,
): Promise<DamagedPart | null> {
  const path = join(directory, part.file);
  let bytes: Uint8Array;
  try {
    bytes = await files.read(path);
  } catch (error) {
    if (!(error instanceof FileError) || isOutOfDescriptors(error)) throw error;
    const fault = error.code === "ENOENT" ? "it is missing" : error.message;
    return { file: part.file, bytes: 0, fault };
  }
  const fault =
    bytes.length !== part.bytes
      ? `it has ${bytes.length} bytes instead of ${part.bytes}`
      : crc32(bytes) !== part.crc
        ? "its checksum does not match"
        : await findWrongContent(connection, path, part, day);
  return fault === null ? null : { file: part.file, bytes: bytes.length, fault };
}

/** Compares the contents of an intact file with the manifest. */
async function findWrongContent(
  connection: Connection,
  path: string,
  { apps }: Part,
  day: UtcDay | null,
): Promise<string | null> {
  try {
    const metadata = await connection.run(
      "SELECT decode(key), decode(value) FROM parquet_kv_metadata($path)",
      {
        path,
      },
    );
    const [keys, values] = [metadata.texts(0), metadata.texts(1)];
    const dayName = values[keys.indexOf("wherehouse_day")];
    if (dayName !== (day === null ? "latest" : utcDayName(day)))
      return `its metadata names the day ${dayName}`;
    const rows = await connection.run(
      `SELECT app_id, count(*)::DOUBLE, min(timestamp)::DOUBLE, max(timestamp)::DOUBLE
       FROM read_parquet($path, hive_partitioning = false) GROUP BY app_id`,
      { path },
    );
    const [names, counts, oldest, newest] = [
      rows.texts(0),
      rows.numbers(1),
      rows.numbers(2),
      rows.numbers(3),
    ];
    const isAsCounted =
      names.length === apps.size &&
      names.every((name, row) => [...apps].some(([app, count]) => app === name && count === counts[row]));
    if (!isAsCounted) return "its records are not those the manifest counts";
    if (day === null) return null;
    const [startMs, endMs] = [utcDayStartMs(day), utcDayStartMs(nextUtcDay(day))];
    const isWithin = oldest.every((each) => each >= startMs) && newest.every((each) => each < endMs);
    return isWithin ? null : "it has records of other days";
  } catch (error) {
    if (isOutOfDescriptors(error)) throw error;
    return messageOf(error);
  }
}
