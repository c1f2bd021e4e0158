import { basename, dirname, join } from "node:path";
import { lostName } from "../../archive/archive-files.ts";
import type { Database } from "../../archive/duckdb/database.ts";
import { findManifest } from "../../archive/manifest.ts";
import type { ArchiveReport, DamagedPart } from "../../archive/verify-archive.ts";
import { openKeyStore } from "../../auth/key-store.ts";
import { PassPhrases } from "../../auth/pass-phrases.ts";
import { WebhookSecrets } from "../../auth/webhook-secrets.ts";
import {
  type Acknowledged,
  readAcknowledged,
  readAcknowledgedParts,
  TORN_SUFFIX,
  writeAcknowledged,
} from "../../directory/damaged-files.ts";
import { readLedger } from "../../directory/erasure-ledger.ts";
import type { Settings } from "../../directory/settings.ts";
import type { SharedFileState } from "../../directory/shared-file.ts";
import { findDirectoryOwner } from "../../directory/take-directory.ts";
import type { Clock } from "../../model/time/clock.ts";
import type { Files } from "../../runtime/files.ts";
import type { AcquireLock, LockOwner } from "../../runtime/lock.ts";
import type { OpenSqlite } from "../../runtime/sqlite.ts";
import type { InspectedSegment } from "../../wal/read-log.ts";
import type { AppCorrections } from "./corrections.ts";
import { type PastDay, verifyData } from "./data.ts";
import { type EventsReport, verifyEvents } from "./events.ts";
import { type QuarantineReport, verifyQuarantine } from "./quarantine.ts";
import type { AppDay, AppProfiles } from "./records.ts";
import { findTemporaryFiles } from "./temporary-files.ts";

/** The contents of a data directory, and what of it is damaged. */
export interface DirectoryReport {
  /** The process that has locked the directory; null if there is none. */
  readonly owner: LockOwner | null;
  readonly segments: readonly InspectedSegment[];
  /** Sums over all segments. */
  readonly totals: LogTotals;
  readonly archive: ArchiveReport;
  readonly quarantine: QuarantineReport;
  readonly events: EventsReport;
  /** Days past the retention of which the disk still has something, until the next seals delete it. */
  readonly pastDays: readonly PastDay[];
  /** All records by day; null after a quick check, or if the manifest can't be used. */
  readonly appDays: readonly AppDay[] | null;
  readonly sha256: string | null;
  /** Profiles of devices by app; null like `appDays`. */
  readonly profiles: readonly AppProfiles[] | null;
  /** Corrections by app; null like `appDays`. */
  readonly corrections: readonly AppCorrections[] | null;
  readonly keys: { readonly state: SharedFileState; readonly count: number };
  /** Damaged bytes that an earlier start removed from the log. */
  readonly setAside: readonly SetAsideFile[];
  /** Files that a crash left half-written; the next start removes them. */
  readonly temporary: readonly string[];
  /** What is wrong, a line each; empty if all is well. */
  readonly problems: readonly string[];
}

export interface LogTotals {
  readonly entries: number;
  readonly records: number;
  readonly bytes: number;
  readonly firstSequence: number | null;
  readonly lastSequence: number | null;
}

export interface SetAsideFile {
  readonly file: string;
  readonly bytes: number;
  readonly acknowledged: boolean;
}

export interface VerifyDependencies {
  readonly files: Files;
  readonly openSqlite: OpenSqlite;
  readonly acquireLock: AcquireLock;
  readonly clock: Clock;
  readonly settings: Pick<Settings, "state" | "retention">;
  readonly pid: number;
  readonly paths: {
    readonly log: string;
    readonly archive: string;
    readonly quarantine: string;
    readonly events: string;
    readonly damaged: string;
    readonly keys: string;
    readonly passPhrases: string;
    readonly webhookSecrets: string;
    readonly settings: string;
    readonly erasures: string;
    readonly erasureReports: string;
    readonly cluster: string;
    readonly lock: string;
  };
  /** Opens a database through which DuckDB reads the archive's files. */
  openDatabase(): Promise<Database>;
  onProgress(bytesRead: number, totalBytes: number): void;
}

export interface VerifyRequest {
  /** Acknowledges all present damage. */
  readonly acknowledge: boolean;
  /** Skips the comparison of log and archive, record by record. */
  readonly quick: boolean;
}

/** Reads a whole data directory, which may be in use. It writes nothing except an acknowledgement. */
export function createVerify(dependencies: VerifyDependencies) {
  const { files, paths, settings } = dependencies;

  return async function verify({ acknowledge, quick }: VerifyRequest): Promise<DirectoryReport> {
    const dataDir = dirname(paths.lock);
    const lock = await findDirectoryOwner(dataDir, "verify", dependencies, dependencies.clock);
    const temporaryBefore = await findTemporaryFiles(files, paths);
    const owner = lock?.owner ?? null;
    const data = await verifyData({ ...dependencies, retention: settings.retention }, quick);
    const { segments, archive, pastDays } = data;
    const { manifest } = await findManifest(files, paths.archive);
    const quarantine = await verifyQuarantine(files, paths.quarantine, manifest.standing?.sequence ?? 0);
    const { openSqlite } = dependencies;
    const events = await verifyEvents({ files, openSqlite, directory: paths.events, isQuick: quick });
    const keys = await readKeys(dependencies);
    const passPhrases = await readPassPhrases(dependencies);
    const webhookSecrets = await readWebhookSecrets(dependencies);
    if (acknowledge) await acknowledgeAll(files, paths.damaged, archive.damaged);
    const acknowledged = await readAcknowledged(files, paths.damaged);
    const setAside = await listSetAside(files, paths.damaged, acknowledged);
    const problems = [
      ...segments.flatMap(segmentProblems),
      ...archiveProblems(archive, acknowledged),
      ...quarantine.problems,
      ...events.problems,
      ...fileProblems(paths.keys, keys.state),
      ...fileProblems(paths.passPhrases, passPhrases.state),
      ...fileProblems(paths.webhookSecrets, webhookSecrets.state),
      ...fileProblems(paths.settings, settings.state),
      ...(await ledgerProblems(files, paths.erasures)),
      ...setAsideProblems(setAside),
      ...data.problems,
    ];
    // A file that a running server is writing disappears within moments.
    const temporary = (await findTemporaryFiles(files, paths)).filter((file) =>
      temporaryBefore.includes(file),
    );
    const { appDays = null, sha256 = null, profiles = null, corrections = null } = data.records ?? {};
    const totals = totalsOf(segments);
    return {
      owner,
      segments,
      totals,
      archive,
      quarantine,
      events,
      pastDays,
      appDays,
      sha256,
      profiles,
      corrections,
      keys,
      setAside,
      temporary,
      problems,
    };
  };
}

/** Acknowledges all present damage, including lost parts of the archive. */
async function acknowledgeAll(
  files: Files,
  damagedDirectory: string,
  damaged: readonly DamagedPart[],
): Promise<void> {
  const setAside = await listSetAside(files, damagedDirectory, []);
  const known: Acknowledged[] = setAside.map(({ file, bytes }) => ({ name: basename(file), bytes }));
  for (const name of await readAcknowledgedParts(files, damagedDirectory)) known.push({ name, bytes: 0 });
  for (const { file, bytes } of damaged) {
    // The next seal moves the file to the damaged bytes, under the second name.
    known.push({ name: file, bytes }, { name: lostName(file), bytes });
  }
  await writeAcknowledged(files, damagedDirectory, known);
}

function archiveProblems(
  { manifest, damaged }: ArchiveReport,
  acknowledged: readonly Acknowledged[],
): string[] {
  const problems = damaged
    .filter(({ file }) => !acknowledged.some(({ name }) => name === file))
    .map(({ file, fault }) => `archive/${file}: ${fault}`);
  if (manifest === "missing")
    problems.push("archive/manifest.json is missing; the next start makes it anew from the files");
  if (manifest === "damaged")
    problems.push("archive/manifest.json is damaged; the next start makes it anew from the files");
  return problems;
}

async function readKeys({ files, acquireLock, clock, pid, paths }: VerifyDependencies) {
  const process = { pid, command: "verify" };
  const keys = await openKeyStore({ files, path: paths.keys, clock, acquireLock, process });
  return { state: keys.state, count: keys.list().length };
}

function readPassPhrases({
  files,
  acquireLock,
  clock,
  pid,
  paths,
}: VerifyDependencies): Promise<PassPhrases> {
  const process = { pid, command: "verify" };
  return PassPhrases.open({ files, path: paths.passPhrases, clock, acquireLock, process });
}

function readWebhookSecrets({
  files,
  acquireLock,
  clock,
  pid,
  paths,
}: VerifyDependencies): Promise<WebhookSecrets> {
  const process = { pid, command: "verify" };
  return WebhookSecrets.open({ files, path: paths.webhookSecrets, clock, acquireLock, process });
}

/** Counts files under `damaged/` that no operator has acknowledged. */
export async function countUnacknowledged(files: Files, directory: string): Promise<number> {
  const setAside = await listSetAside(files, directory, await readAcknowledged(files, directory));
  return setAside.filter(({ acknowledged }) => !acknowledged).length;
}

async function listSetAside(
  files: Files,
  directory: string,
  acknowledged: readonly Acknowledged[],
): Promise<SetAsideFile[]> {
  const setAside: SetAsideFile[] = [];
  for (const name of await files.list(directory)) {
    if (name.startsWith("acknowledged.json") || name.endsWith(".tmp")) continue;
    if (name.endsWith(TORN_SUFFIX)) continue; // The end of an interrupted write, which was never acknowledged.
    const file = join(directory, name);
    const bytes = await files.size(file);
    const isKnown = acknowledged.some((known) => known.name === name && known.bytes === bytes);
    setAside.push({ file, bytes, acknowledged: isKnown });
  }
  return setAside;
}

function totalsOf(segments: readonly InspectedSegment[]): LogTotals {
  const sum = (count: (segment: InspectedSegment) => number) =>
    segments.reduce((total, segment) => total + count(segment), 0);
  return {
    entries: sum(({ entries }) => entries),
    records: sum(({ records }) => records),
    bytes: sum(({ bytes }) => bytes),
    firstSequence: segments.find(({ firstSequence }) => firstSequence !== null)?.firstSequence ?? null,
    lastSequence: segments.findLast(({ lastSequence }) => lastSequence !== null)?.lastSequence ?? null,
  };
}

function segmentProblems({ file, bytes, damage, isReadable, goodHead }: InspectedSegment): string[] {
  if (!isReadable) return [`${file} can't be read`];
  if (!goodHead && bytes === 0) return [`${file} is empty`];
  return damage.map(({ offset, bytes }) => `${file}: ${bytes} damaged bytes at ${offset}`);
}

/** A missing key file is not damage: the directory may have been filled by `import` alone. */
function fileProblems(path: string, state: SharedFileState): string[] {
  return typeof state === "object" ? [`${basename(path)} can't be used: ${state.damaged}`] : [];
}

async function ledgerProblems(files: Files, path: string): Promise<string[]> {
  const { state } = await readLedger(files, path);
  return typeof state === "object" ? [`${basename(path)} can't be used: ${state.reason}`] : [];
}

function setAsideProblems(setAside: readonly SetAsideFile[]): string[] {
  return setAside
    .filter(({ acknowledged }) => !acknowledged)
    .map(({ file, bytes }) => `${file}: ${bytes} damaged bytes were set aside and are not acknowledged`);
}
