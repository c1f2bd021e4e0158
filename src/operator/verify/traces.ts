import { join } from "node:path";
import { parsePartName, parseStandingName } from "../../archive/archive-files.ts";
import type { Connection, Database } from "../../archive/duckdb/database.ts";
import { type Part, readManifest } from "../../archive/manifest.ts";
import { faultOf } from "../../archive/part-checks.ts";
import { isAcknowledgedList } from "../../directory/damaged-files.ts";
import { directoryPaths } from "../../directory/paths.ts";
import { FileError, type Files } from "../../runtime/files.ts";
import type { OpenSqlite } from "../../runtime/sqlite.ts";
import { isInQuarantine } from "../../service/quarantine/message-file.ts";
import { parseSegmentName } from "../../wal/segment.ts";
import { MANIFEST, readManifestBytes, wantedParts } from "../backup/source.ts";
import { isEventsFile, searchEvents } from "./event-traces.ts";
import {
  type FileTraces,
  type Looking,
  lookFor,
  searchBytes,
  searchKeys,
  searchLedger,
  searchManifest,
  searchMessage,
  searchPart,
  searchPassPhrases,
  searchSegment,
  searchStanding,
  type TraceSubject,
} from "./trace-readers.ts";

/** Something in a file. */
export interface FileNote {
  /** Its path in the directory. */
  readonly file: string;
  readonly what: string;
}

/** What a data directory still has of a device or a user. */
export interface TracesReport {
  readonly traces: readonly FileNote[];
  /** Files of which some or all could not be searched. */
  readonly unsearched: readonly FileNote[];
  /** How many files were searched. */
  readonly files: number;
}

export interface TracesOptions {
  readonly files: Files;
  readonly openSqlite: OpenSqlite;
  readonly dataDir: string;
  readonly subject: TraceSubject;
  /** Opens a database that may read all files of the directory. */
  openDatabase(): Promise<Database>;
  onProgress(filesDone: number, filesTotal: number): void;
}

/** A running server replaces files now and then; then the new ones are searched, at most this often. */
const ROUNDS_MAX = 5;

/**
 * Searches every file of a data directory, or of a backup: what can be decoded is, and the bytes of all others are
 * compared. It changes nothing.
 */
export async function findTraces(options: TracesOptions): Promise<TracesReport> {
  const { files, dataDir, subject, onProgress } = options;
  const looking = lookFor(subject);
  const database = createLazyConnection(options);
  const results = new Map<string, FileTraces>();
  try {
    let current = await listFiles(files, dataDir);
    for (let round = 1; round <= ROUNDS_MAX; round++) {
      const fresh = current.filter((file) => !results.has(file));
      if (fresh.length === 0) break;
      const named = await partsOf(options);
      for (const file of fresh) {
        const traces = await searchFile(options, looking, database.connect, file, named.get(file) ?? null);
        if (traces !== null) results.set(file, traces);
        onProgress(results.size, current.length);
      }
      current = await listFiles(files, dataDir);
    }
    const isThere = new Set(current);
    const all = [...results].filter(([file]) => isThere.has(file));
    return {
      traces: all.flatMap(([file, { traces }]) => traces.map((what) => ({ file, what }))),
      unsearched: all.flatMap(([file, { unsearched }]) =>
        unsearched === null ? [] : [{ file, what: unsearched }],
      ),
      files: all.length,
    };
  } finally {
    await database.close();
  }
}

/** Streets that `map fetch` copied, which name no device. */
const NOT_SEARCHED = "map";

/** Paths of all files below the directory. */
async function listFiles(files: Files, dataDir: string): Promise<string[]> {
  const all: string[] = [];
  async function add(folder: string): Promise<void> {
    for (const name of await files.list(join(dataDir, folder))) {
      const path = folder === "" ? name : `${folder}/${name}`;
      if (path === NOT_SEARCHED) continue;
      if (await files.isFile(join(dataDir, path))) all.push(path);
      else await add(path);
    }
  }
  await add("");
  return all;
}

/** The parts that the manifest names, by path; none if it can't be read, which its own search says. */
async function partsOf({ files, dataDir }: TracesOptions): Promise<ReadonlyMap<string, ExpectedPart>> {
  const bytes = await readManifestBytes(files, directoryPaths(dataDir).archive);
  const manifest = bytes === null ? null : readManifest(bytes, MANIFEST);
  const parts = manifest === null ? [] : wantedParts(manifest);
  return new Map(parts.map(({ file, expected }) => [file, expected!]));
}

type ExpectedPart = Pick<Part, "bytes" | "crc">;

/** Null if the file has gone meanwhile. */
async function searchFile(
  options: TracesOptions,
  looking: Looking,
  connect: () => Promise<Connection>,
  file: string,
  expected: ExpectedPart | null,
): Promise<FileTraces | null> {
  const { files, dataDir } = options;
  const path = join(dataDir, file);
  try {
    const place = placeOf(file);
    if (parsePartName(place.name) !== null && place.folder !== "damaged")
      return await searchWholePart(files, looking, path, await connect(), expected);
    if (place.folder === "events") return await searchEventFile(options, looking, path, place);
    if (!(await mayHave(files, path, looking, place))) return NOTHING;
    return await searchRead(looking, place, path, await files.read(path));
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    if (error.code === "ENOENT") return null;
    return { traces: [], unsearched: `it can't be read: ${error.reason}` };
  }
}

async function searchEventFile(
  { files, openSqlite }: TracesOptions,
  looking: Looking,
  path: string,
  place: Place,
): Promise<FileTraces> {
  const hasBytes = await mayHave(files, path, looking, place);
  if (!isEventsFile(place.name))
    return hasBytes ? searchBytes(looking, await files.read(path), null) : NOTHING;
  return searchEvents(looking, openSqlite, path, hasBytes);
}

/** DuckDB does not notice most flipped bits, so a part that answers may lack records all the same. */
async function searchWholePart(
  files: Files,
  looking: Looking,
  path: string,
  connection: Connection,
  expected: ExpectedPart | null,
): Promise<FileTraces | null> {
  const { traces, unsearched } = await searchPart(looking, path, connection);
  if (!(await files.exists(path))) return null;
  const fault = expected === null ? null : await faultOf(files, path, expected, true);
  return { traces, unsearched: unsearched ?? fault };
}

const NOTHING: FileTraces = { traces: [], unsearched: null };

interface Place {
  /** The first folder. */
  readonly folder: string;
  readonly name: string;
}

/** Where a file belongs. Those that wait in a backup's `next/` have their path in their name. */
function placeOf(file: string): Place {
  const parts = (file.startsWith("next/") ? file.slice("next/".length).replaceAll("+", "/") : file).split(
    "/",
  );
  return { folder: parts.length === 1 ? "" : parts[0]!, name: parts.at(-1)! };
}

/** Whether the file may have something: files that are not decoded may be too large for memory. */
async function mayHave(
  files: Files,
  path: string,
  looking: Looking,
  { folder, name }: Place,
): Promise<boolean> {
  if (folder === "damaged" || isDecoded(name)) return true;
  let before = new Uint8Array();
  for await (const piece of files.readPieces(path)) {
    const bytes = new Uint8Array(before.length + piece.length);
    bytes.set(before);
    bytes.set(piece, before.length);
    if (looking.search.isInBytes(bytes)) return true;
    before = bytes.slice(-looking.search.bytesMax);
  }
  return false;
}

const SINGLE_FILES: Readonly<Record<string, (looking: Looking, bytes: Uint8Array) => FileTraces>> = {
  "keys.json": searchKeys,
  "pass-phrases.json": searchPassPhrases,
  "erasures.json": searchLedger,
  "manifest.json": searchManifest,
};

function isDecoded(name: string): boolean {
  return (
    parseSegmentName(name) !== null ||
    parseStandingName(name) !== null ||
    isInQuarantine(name) ||
    Object.hasOwn(SINGLE_FILES, name)
  );
}

async function searchRead(
  looking: Looking,
  { folder, name }: Place,
  path: string,
  bytes: Uint8Array,
): Promise<FileTraces> {
  if (folder === "damaged") {
    const isWhole = isAcknowledgedList(name);
    return searchBytes(looking, bytes, isWhole ? null : "it was set aside as damaged");
  }
  const number = parseSegmentName(name);
  if (number !== null) return searchSegment(looking, { path, number, bytes });
  if (parseStandingName(name) !== null) return searchStanding(looking, path, bytes);
  if (name.endsWith(".message") && isInQuarantine(name)) return searchMessage(looking, bytes);
  const searchSingle = SINGLE_FILES[name];
  return searchSingle === undefined ? searchBytes(looking, bytes, null) : searchSingle(looking, bytes);
}

function createLazyConnection({ openDatabase }: TracesOptions) {
  let opened: Promise<readonly [Database, Connection]> | null = null;
  return {
    async connect(): Promise<Connection> {
      opened ??= openDatabase().then(async (database) => [database, await database.connect()] as const);
      return (await opened)[1];
    },
    async close(): Promise<void> {
      if (opened === null) return;
      const pair = await opened.catch(() => null);
      pair?.[1].close();
      pair?.[0].close();
    },
  };
}
