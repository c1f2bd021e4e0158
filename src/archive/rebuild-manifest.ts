import { join } from "node:path";
import { crc32 } from "node:zlib";
import type { AppId } from "../model/ids.ts";
import type { UtcDay } from "../model/time/utc-day.ts";
import { type Files, ignoreFileError, isOutOfDescriptors, moveDurably } from "../runtime/files.ts";
import { listPartFiles, lostName, type PartFile } from "./archive-files.ts";
import { columnsMark } from "./columns.ts";
import type { Connection } from "./duckdb/database.ts";
import type { Manifest, Part, SealedDay } from "./manifest.ts";

/*
 * Makes a manifest from the files alone, if the manifest is lost: each says which entries of the log it covers and
 * which files it replaced. A file that was written for a seal that never came to its swap counts too: it says the same
 * as the log. Files that can't be read are set aside among damaged bytes: to the new manifest they would be leftovers,
 * which are deleted one day. Where the disk refuses that, the manifest names them among what is lost.
 */

export interface RebuildOptions {
  readonly files: Files;
  readonly directory: string;
  /** Where files go that can't be read. */
  readonly damagedDirectory: string;
  /** Where DuckDB finds a file. */
  pathOf(file: string): string;
}

export interface RebuiltManifest {
  readonly manifest: Manifest;
  /** Files of days that can't be read, and whose records are missing from it. */
  readonly leftOut: readonly string[];
}

export async function rebuildManifest(
  options: RebuildOptions,
  connection: Connection,
): Promise<RebuiltManifest> {
  const { files, directory } = options;
  const found: FoundPart[] = [];
  const unreadable: PartFile[] = [];
  for (const partFile of await listPartFiles(files, directory)) {
    const part = await describePart(options, partFile.file, connection);
    if (part === null) unreadable.push(partFile);
    else found.push({ ...part, ...partFile });
  }
  const inTheWay: PartFile[] = [];
  for (const partFile of unreadable) if (!(await setAside(options, partFile.file))) inTheWay.push(partFile);
  return { manifest: manifestOf(found, inTheWay), leftOut: unreadable.map(({ file }) => file) };
}

function manifestOf(found: readonly FoundPart[], inTheWay: readonly PartFile[]): Manifest {
  const replaced = new Set(found.flatMap(({ replaces }) => replaces));
  const days = new Map<UtcDay, SealedDay>();
  for (const { file, day } of inTheWay) {
    const known = days.get(day) ?? NOTHING_KNOWN;
    days.set(day, {
      ...known,
      lost: [...known.lost, { file, rows: 0, bytes: 0, crc: 0, apps: new Map(), columns: "" }],
    });
  }
  for (const { part, day, sequence } of found.filter(({ part }) => !replaced.has(part.file))) {
    const known = days.get(day) ?? NOTHING_KNOWN;
    days.set(day, { ...known, sequence: Math.max(known.sequence, sequence), parts: [...known.parts, part] });
  }
  return {
    seal: Math.max(0, ...found.map(({ seal }) => seal)),
    lastSequence: Math.max(0, ...found.map(({ sequence }) => sequence)),
    days,
    latest: null, // The checkpoint is found anew from the parts.
    expired: new Map(),
    retention: null,
  };
}

const NOTHING_KNOWN: SealedDay = { sequence: 0, parts: [], lost: [] };

interface DescribedPart {
  readonly part: Part;
  readonly sequence: number;
  readonly replaces: readonly string[];
}

interface FoundPart extends DescribedPart, PartFile {}

/** Whether the file is out of the way for good. */
async function setAside(
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
      replaces,
    };
  } catch (error) {
    if (isOutOfDescriptors(error)) throw error;
    return null; // Neither the disk nor DuckDB can read it, so its content is unknown.
  }
}
