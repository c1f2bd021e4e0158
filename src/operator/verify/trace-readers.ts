import { NO_RECORDS_SQL } from "../../archive/columns.ts";
import type { Connection } from "../../archive/duckdb/database.ts";
import { readManifest } from "../../archive/manifest.ts";
import { decodeStanding } from "../../archive/standing-file.ts";
import { parseKeyFile } from "../../auth/key-file.ts";
import { parsePassPhraseFile } from "../../auth/pass-phrases.ts";
import { parseLedger } from "../../directory/erasure-ledger.ts";
import { messageOf } from "../../lib/message-of.ts";
import { inTurns } from "../../lib/schedule/steps.ts";
import type { AppId } from "../../model/ids.ts";
import type { StandingEntry } from "../../model/standing-entry.ts";
import { decodeMessageFile, REMOVED_FILE } from "../../service/quarantine/message-file.ts";
import type { LogEntry, ReportsEntry } from "../../wal/entry/entry.ts";
import { createTextColumnReader } from "../../wal/entry/text-column.ts";
import { SegmentReader } from "../../wal/segment-reader.ts";
import { userOf } from "../../wal/user-instants.ts";
import { IdSearch } from "./id-search.ts";

/* Decodes the files of a data directory, one function a kind, and counts what names a device or a user. */

/** The device or user that is looked for. */
export interface TraceSubject {
  readonly kind: "device" | "user";
  readonly id: string;
  /** Null for all apps. */
  readonly appId: AppId | null;
}

/** What a file has of the subject. */
export interface FileTraces {
  /** A line each; empty if there is none. */
  readonly traces: readonly string[];
  /** Why it could not be searched whole; null if it was. */
  readonly unsearched: string | null;
}

export interface Looking {
  readonly subject: TraceSubject;
  readonly search: IdSearch;
}

export function lookFor(subject: TraceSubject): Looking {
  return { subject, search: new IdSearch(subject.id) };
}

/** A file of which only the bytes are known. */
export function searchBytes({ search }: Looking, bytes: Uint8Array, unsearched: string | null): FileTraces {
  return { traces: search.isInFile(bytes) ? ["its id is in the bytes"] : [], unsearched };
}

const NO_TRACES: FileTraces = { traces: [], unsearched: null };

/** A segment of the log. A write in progress, or one cut short, may be at its end. */
export function searchSegment(
  looking: Looking,
  source: { readonly path: string; readonly number: number; readonly bytes: Uint8Array },
): FileTraces {
  const { number, bytes } = source;
  const start = { lastSequence: number - 1, nextSequence: number };
  const reader = new SegmentReader(
    { ...source, isReadable: true, isNewest: true },
    start,
    createTextColumnReader(),
  );
  const counts = new Counts();
  for (let entry = reader.next(); entry !== null; entry = reader.next()) countEntry(looking, entry, counts);
  const { damage, tornTail } = reader.contents();
  const hasBytes = damage.some((range) =>
    looking.search.isInBytes(bytes.subarray(range.offset, range.offset + range.bytes)),
  );
  const damagedBytes = damage
    .filter((range) => range !== tornTail)
    .reduce((sum, range) => sum + range.bytes, 0);
  return {
    traces: [...counts.lines(), ...(hasBytes ? ["its id is in damaged bytes"] : [])],
    unsearched: damagedBytes === 0 ? null : `${damagedBytes} bytes of it are damaged`,
  };
}

/** The archive's file of entries that stand. */
export async function searchStanding(looking: Looking, path: string, bytes: Uint8Array): Promise<FileTraces> {
  const counts = new Counts();
  const { isWhole } = await inTurns(
    decodeStanding(bytes, path, (entry) => countEntry(looking, entry, counts)),
  );
  if (isWhole) return { traces: counts.lines(), unsearched: null };
  const hasBytes = looking.search.isInBytes(bytes);
  return {
    traces: [...counts.lines(), ...(hasBytes ? ["its id is in damaged bytes"] : [])],
    unsearched: "it is damaged",
  };
}

/** A Parquet file. */
export async function searchPart(
  looking: Looking,
  path: string,
  connection: Connection,
): Promise<FileTraces> {
  const { kind, id, appId } = looking.subject;
  const column = kind === "device" ? "device_id" : "user_id";
  const file = `(FROM (${NO_RECORDS_SQL}) UNION ALL BY NAME FROM read_parquet($path, hive_partitioning = false))`;
  const ofApp = appId === null ? "" : " AND app_id = $app";
  try {
    const rows = await connection.run(`SELECT count(*)::DOUBLE FROM ${file} WHERE ${column} = $id${ofApp}`, {
      path,
      id,
      ...(appId === null ? {} : { app: appId }),
    });
    const count = rows.numbers(0)[0]!;
    return { traces: count === 0 ? [] : [plural(count, "record")], unsearched: null };
  } catch (error) {
    return { traces: [], unsearched: `it can't be read: ${messageOf(error)}` };
  }
}

/** A message of the quarantine. */
export function searchMessage(looking: Looking, bytes: Uint8Array): FileTraces {
  if (REMOVED_FILE.equals(bytes)) return NO_TRACES;
  const message = decodeMessageFile(bytes);
  if (message === null) return searchBytes(looking, bytes, "it is damaged");
  const { appId, keyId: _, client: __, reason: ___, ...rest } = message;
  const isNamed = isOfApp(looking, appId) && looking.search.isWithin(rest);
  return { traces: isNamed ? ["an unusable message"] : [], unsearched: null };
}

export function searchKeys(looking: Looking, bytes: Uint8Array): FileTraces {
  const keys = parseKeyFile(bytes);
  if (!keys.ok) return searchBytes(looking, bytes, keys.error);
  const named = keys.value.filter(
    ({ appId, deviceId, userId, view, label }) =>
      isOfApp(looking, appId) && looking.search.isWithin([deviceId, userId, view, label]),
  );
  return { traces: named.map(({ id }) => `the key ${id}`), unsearched: null };
}

export function searchPassPhrases(looking: Looking, bytes: Uint8Array): FileTraces {
  const passPhrases = parsePassPhraseFile(bytes);
  if (!passPhrases.ok) return searchBytes(looking, bytes, passPhrases.error);
  const named = passPhrases.value.filter(
    ({ appId, deviceId }) => isOfApp(looking, appId) && looking.search.isWithin(deviceId),
  );
  return { traces: named.map(({ keyId }) => `a pass phrase of the key ${keyId}`), unsearched: null };
}

/** The ledger has salted hashes of ids, which are no traces. */
export function searchLedger(looking: Looking, bytes: Uint8Array): FileTraces {
  const ledger = parseLedger(bytes);
  return ledger.ok ? NO_TRACES : searchBytes(looking, bytes, ledger.error.reason);
}

/** The manifest names files and apps. */
export function searchManifest(looking: Looking, bytes: Uint8Array): FileTraces {
  return readManifest(bytes, "archive/manifest.json") === null
    ? searchBytes(looking, bytes, "it is damaged")
    : NO_TRACES;
}

function isOfApp({ subject }: Looking, appId: AppId): boolean {
  return subject.appId === null || subject.appId === appId;
}

/** How often each kind of thing was there. */
class Counts {
  readonly #byNoun = new Map<string, number>();

  add(noun: string, count = 1): void {
    if (count > 0) this.#byNoun.set(noun, (this.#byNoun.get(noun) ?? 0) + count);
  }

  lines(): string[] {
    return [...this.#byNoun].map(([noun, count]) => plural(count, noun));
  }
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

const NOUNS = {
  device_profile: "profile",
  correction: "correction",
  erasure: "unfinished erasure",
  watch: "geofence or alert",
  watch_clock: "clock of timed events",
  webhook: "webhook",
  events: "entry of events",
  deliveries: "entry of deliveries",
  refused_piece: "piece with an unusable message",
  refused_deletion: "deletion of unusable messages",
  refused_arrivals: "entry about repeated messages",
} as const satisfies Record<StandingEntry["kind"], string>;

function countEntry(looking: Looking, entry: LogEntry | StandingEntry, counts: Counts): void {
  if (!isOfApp(looking, entry.appId)) return;
  if (entry.kind === "reports") {
    counts.add("report", countReports(looking, entry));
    return;
  }
  if (entry.kind === "refused_piece" && entry.bytes.length === entry.totalBytes)
    counts.add(NOUNS.refused_piece, searchMessage(looking, entry.bytes).traces.length);
  else if (looking.search.isWithin(membersOf(entry))) counts.add(NOUNS[entry.kind]);
}

/** Members that may name a device or a user. */
function membersOf(entry: StandingEntry): object {
  const { kind: _, appId: __, ...members } = entry;
  return entry.kind === "erasure" ? { ...members, erasure: { ...entry.erasure, appId: null } } : members;
}

function countReports({ subject: { kind, id } }: Looking, { batch }: ReportsEntry): number {
  if (!batch.texts.includes(id)) return 0;
  let count = 0;
  for (let row = 0; row < batch.count; row++) {
    const named = kind === "device" ? batch.texts[batch.device[row]!] : userOf(batch, row);
    if (named === id) count++;
  }
  return count;
}
