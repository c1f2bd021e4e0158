import { basename, join } from "node:path";
import { crc32 } from "node:zlib";
import { inTurns } from "../lib/schedule/steps.ts";
import type { AppId } from "../model/ids.ts";
import type { UtcDay } from "../model/time/utc-day.ts";
import { type Files, ignoreFileError, isOutOfDescriptors, moveDurably } from "../runtime/files.ts";
import {
  listPartFiles,
  listStandingFiles,
  lostName,
  type PartFile,
  parseStandingName,
} from "./archive-files.ts";
import { columnsMark } from "./columns.ts";
import type { Connection } from "./duckdb/database.ts";
import type { Manifest, Part, SealedDay, StandingPart } from "./manifest.ts";
import { decodeStanding, describeStanding } from "./standing-file.ts";

// Rebuilds a lost manifest from the files: each states which log entries it covers and which files it replaced. A file
// of a seal that did not finish counts too, since its records are those of the log. Files that can't be read are moved
// to the damaged files, because the new manifest would treat them as leftovers, which are deleted some day. If the disk
// refuses to move one, the manifest lists it as lost.

export interface RebuildOptions {
  readonly files: Files;
  readonly directory: string;
  /** Where unreadable files are moved. */
  readonly damagedDirectory: string;
  /** The path by which DuckDB finds a file. */
  pathOf(file: string): string;
}

export interface RebuiltManifest {
  readonly manifest: Manifest;
  /** Files that can't be read, so that the manifest lacks what they have. */
  readonly unreadable: readonly string[];
}

export async function rebuildManifest(
  options: RebuildOptions,
  connection: Connection,
): Promise<RebuiltManifest> {
  const { files, directory } = options;
  const readable: ReadablePart[] = [];
  const unreadable: PartFile[] = [];
  for (const partFile of await listPartFiles(files, directory)) {
    const part = await describePart(options, partFile.file, connection);
    if (part === null) unreadable.push(partFile);
    else readable.push({ ...part, ...partFile });
  }
  const immovable: PartFile[] = [];
  for (const partFile of unreadable)
    if (!(await moveToDamaged(options, partFile.file))) immovable.push(partFile);
  const { standing, seal: standingSeal, unreadable: lostStanding } = await findStanding(options);
  const days = manifestOf(readable, immovable);
  const lastSequence = Math.max(days.lastSequence, standing?.sequence ?? 0);
  // The next seal's files must have other names: it removes those that its manifest no longer names.
  const seal = Math.max(days.seal, standingSeal);
  return {
    manifest: { ...days, seal, lastSequence, standing },
    unreadable: [...unreadable.map(({ file }) => file), ...lostStanding],
  };
}

/**
 * The newest file of standing entries that is whole. A seal that did not finish wrote it from the log all the same, and
 * the log drops nothing that the files before do not cover.
 */
async function findStanding(
  options: RebuildOptions,
): Promise<{ standing: StandingPart | null; seal: number; unreadable: string[] }> {
  const { files, directory } = options;
  const unreadable: string[] = [];
  let seal = 0;
  let standing: StandingPart | null = null;
  for (const file of await listStandingFiles(files, directory)) {
    const path = join(directory, file);
    seal = Math.max(seal, parseStandingName(basename(file))!);
    const bytes = await files.read(path).catch((error: unknown) => {
      if (isOutOfDescriptors(error)) throw error;
      ignoreFileError(error);
      return null;
    });
    const decoded = bytes === null ? null : await inTurns(decodeStanding(bytes, path, () => {}));
    if (decoded?.isWhole !== true) {
      await moveToDamaged(options, file);
      unreadable.push(file);
    } else standing ??= describeStanding(file, bytes!, decoded);
  }
  return { standing, seal, unreadable };
}

function manifestOf(readable: readonly ReadablePart[], lost: readonly PartFile[]): Manifest {
  const replaced = new Set(readable.flatMap(({ replaces }) => replaces));
  const days = new Map<UtcDay, SealedDay>();
  for (const { file, day } of lost) {
    const known = days.get(day) ?? NOTHING_KNOWN;
    days.set(day, {
      ...known,
      lost: [...known.lost, { file, rows: 0, bytes: 0, crc: 0, apps: new Map(), columns: "" }],
    });
  }
  for (const { part, day, sequence, cleared } of readable.filter(({ part }) => !replaced.has(part.file))) {
    const known = days.get(day) ?? NOTHING_KNOWN;
    days.set(day, {
      ...known,
      sequence: Math.max(known.sequence, sequence),
      cleared: Math.max(known.cleared, cleared),
      parts: [...known.parts, part],
    });
  }
  return {
    seal: Math.max(0, ...readable.map(({ seal }) => seal)),
    lastSequence: Math.max(0, ...readable.map(({ sequence }) => sequence)),
    days,
    latest: null, // The newest records are read from the parts.
    expired: new Map(),
    retention: null,
    standing: null,
    erased: 0, // An erasure that the log still has is applied again.
  };
}

const NOTHING_KNOWN: SealedDay = { sequence: 0, cleared: 0, parts: [], lost: [] };

interface DescribedPart {
  readonly part: Part;
  readonly sequence: number;
  readonly cleared: number;
  readonly replaces: readonly string[];
}

interface ReadablePart extends DescribedPart, PartFile {}

/** Returns whether the file could be moved. */
async function moveToDamaged(
  { files, directory, damagedDirectory }: RebuildOptions,
  file: string,
): Promise<boolean> {
  try {
    await moveDurably(files, join(directory, file), join(damagedDirectory, lostName(file)));
    return true;
  } catch (error) {
    ignoreFileError(error);
    return false;
  }
}

async function describePart(
  { files, directory, pathOf }: RebuildOptions,
  file: string,
  connection: Connection,
): Promise<DescribedPart | null> {
  const path = pathOf(file);
  try {
    const bytes = await files.read(join(directory, file));
    const metadata = await connection.run(
      "SELECT decode(key), decode(value) FROM parquet_kv_metadata($path)",
      { path },
    );
    const [keys, values] = [metadata.texts(0), metadata.texts(1)];
    const metadataOf = (key: string) => values[keys.indexOf(key)] ?? null;
    const sequence = Number(metadataOf("wherehouse_sequence"));
    if (metadataOf("wherehouse_format") !== "1" || !Number.isSafeInteger(sequence)) return null;
    const cleared = Number(metadataOf("wherehouse_cleared") ?? 0);
    if (!Number.isSafeInteger(cleared)) return null;
    const counts = await connection.run(
      "SELECT app_id, count(*)::DOUBLE FROM read_parquet($path) GROUP BY app_id ORDER BY app_id",
      { path },
    );
    const rowsOf = counts.numbers(1);
    const apps = new Map(counts.texts(0).map((appId, row) => [appId as AppId, rowsOf[row]!]));
    const rows = rowsOf.reduce((sum, count) => sum + count, 0);
    const replaces = JSON.parse(metadataOf("wherehouse_replaces") ?? "[]") as string[];
    const schema = await connection.run("SELECT name FROM parquet_schema($path) WHERE type IS NOT NULL", {
      path,
    });
    const columns = columnsMark(schema.texts(0) as string[]);
    return {
      part: { file, rows, bytes: bytes.length, crc: crc32(bytes), apps, columns },
      sequence,
      cleared,
      replaces,
    };
  } catch (error) {
    if (isOutOfDescriptors(error)) throw error;
    return null; // Neither the disk nor DuckDB can read it, so its content is unknown.
  }
}
