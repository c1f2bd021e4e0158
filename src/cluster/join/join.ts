import { dirname } from "node:path";
import { type Manifest, readManifest } from "../../archive/manifest.ts";
import { readLedger } from "../../directory/erasure-ledger.ts";
import { messageOf } from "../../lib/message-of.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import type { Wait } from "../../lib/schedule/timers.ts";
import { wantedParts } from "../../operator/backup/source.ts";
import { verifyEvents } from "../../operator/verify/events.ts";
import { verifyQuarantine } from "../../operator/verify/quarantine.ts";
import { FileError, type Files } from "../../runtime/files.ts";
import type { OpenSqlite } from "../../runtime/sqlite.ts";
import type { ClusterStatus } from "../cluster-config.ts";
import { type ClusterFile, createClusterFile } from "../cluster-file.ts";
import type { CopyPlan } from "./copies.ts";
import { type CopiedFile, type CopyFileOptions, copyFile } from "./copy-file.ts";
import {
  type CopyPath,
  EVENTS_PATH,
  isPartPath,
  isQuarantinePath,
  LEDGER_PATH,
  MANIFEST_PATH,
} from "./copy-path.ts";
import {
  type FileSum,
  findFormerNode,
  type JoiningDirectory,
  openJoiningDirectory,
} from "./joining-directory.ts";
import type { Peer, PeerFault } from "./peer.ts";

/** The state of the copy, and what it took. */
export interface JoinReport {
  readonly cluster: ClusterStatus;
  readonly nodeId: string;
  /** The last sequence that the copied archive covers. */
  readonly lastSequence: number;
  /** All files of the copy. */
  readonly files: number;
  readonly bytes: number;
  /** Files that were not there already, from an interrupted copy or the former archive. */
  readonly copiedFiles: number;
  readonly copiedBytes: number;
  /** Damage of the peer's files, a line each. */
  readonly problems: readonly string[];
  readonly durationMs: number;
}

export interface JoinOptions {
  readonly files: Files;
  readonly openSqlite: OpenSqlite;
  readonly dataDir: string;
  /** Whether the directory may already belong to a node, whose archive the copy replaces. */
  readonly again: boolean;
  readonly peer: Peer;
  readonly wait: Wait;
  readonly signal: AbortSignal;
  /** Creates the directory if it is missing, and locks it; the result releases the lock. */
  take(directory: string): Promise<() => void>;
  onProgress(doneBytes: number, totalBytes: number): void;
}

/** A seal takes longer than copying its changes, so after this many rounds something else is wrong. */
const ROUNDS_MAX = 32;

/** After this many rounds a rising floor is accepted: the next seal is far enough away. */
const CATCH_UPS_MAX = 8;

const SEVERAL_NODES =
  "The address leads to several nodes in turn, whose files don't make a consistent copy: give the address of one node.";

const CONTINUE_TEXT = "The copied files stay: run the same command again to continue.";

/** Makes the directory of a new node from a peer's files. On failure it belongs to no node, or is unchanged. */
export async function join(options: JoinOptions): Promise<Result<JoinReport, string>> {
  const { files, dataDir, again, peer, take } = options;
  const check = await findFormerNode(files, dataDir, again);
  if (!check.ok) return check; // Write nothing to a foreign directory.
  const plan = await peer.plan();
  if (!plan.ok) return fail(plan.error.message);
  const release = await take(dataDir);
  try {
    const former = await findFormerNode(files, dataDir, again);
    return former.ok ? await joinTo(options, former.value, plan.value.cluster) : former;
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    return fail(`${messageOf(error)}. ${CONTINUE_TEXT}`);
  } finally {
    release();
  }
}

async function joinTo(
  options: JoinOptions,
  former: ClusterFile | null,
  peer: ClusterStatus,
): Promise<Result<JoinReport, string>> {
  const { stream, created } = peer;
  const { files, dataDir } = options;
  const startedMs = performance.now();
  const isOther =
    former !== null && (former.address.stream !== stream || (former.created ?? created) !== created);
  if (isOther)
    return fail(
      `"${dataDir}" belongs to a node of another stream than the peer's "${stream}", created at ${created}.`,
    );
  const target = await openJoiningDirectory(files, dataDir);
  const copied = await copyAll(options, target, peer);
  if (!copied.ok) return copied;
  const { cluster, archived, all, lastSequence } = copied.value;
  const [message] = all.map(({ file }) => file).filter(isQuarantinePath);
  const { problems } =
    message === undefined
      ? { problems: [] }
      : await verifyQuarantine(files, dirname(target.pathOf(message)), copied.value.standingSequence);
  const { servers, isSecure, floor, lastTaken } = cluster;
  const fresh = createClusterFile({ servers, isSecure, stream: cluster.stream });
  const node = { ...fresh, nodeId: former?.nodeId ?? fresh.nodeId, created, floor, lastTaken };
  await target.commit(node, new Set(archived));
  const newFiles = all.filter(({ isCopied }) => isCopied);
  return ok({
    cluster,
    nodeId: node.nodeId,
    lastSequence,
    files: all.length,
    bytes: sumOfBytes(all),
    copiedFiles: newFiles.length,
    copiedBytes: sumOfBytes(newFiles),
    problems,
    durationMs: performance.now() - startedMs,
  });
}

/** All copied files, as one consistent state of the peer. */
interface Copied extends ArchiveCopy {
  readonly cluster: ClusterStatus;
}

/**
 * Starts another round whenever a seal has replaced files, and keeps what is copied already. A round is also repeated
 * if a seal has raised the floor: the log may be purged below it, and the copy must not need those messages.
 */
async function copyAll(
  options: JoinOptions,
  target: JoiningDirectory,
  { created, nodeId }: ClusterStatus,
): Promise<Result<Copied, string>> {
  let missing: CopyPath | null = null;
  const copiedParts = new Map<CopyPath, CopiedPart>();
  for (let round = 1; round <= ROUNDS_MAX; round++) {
    const plan = await options.peer.plan();
    if (!plan.ok) return fail(`${plan.error.message} ${CONTINUE_TEXT}`);
    if (plan.value.cluster.created !== created)
      return fail("The peer's stream was created anew in the meantime: start over.");
    if (plan.value.cluster.nodeId !== nodeId) return fail(`${SEVERAL_NODES} ${CONTINUE_TEXT}`);
    const copied = await copyOnce(options, target, plan.value, copiedParts);
    if (copied.ok) {
      const after = await options.peer.plan();
      if (!after.ok || after.value.cluster.floor === plan.value.cluster.floor) return copied;
      if (round >= CATCH_UPS_MAX) return copied;
      continue;
    }
    const { fault, file } = copied.error;
    if ((fault === UNUSABLE || fault === UNUSABLE_EVENTS || fault === UNUSABLE_LEDGER) && missing !== file) {
      missing = file; // The file was replaced during the transfer.
      continue;
    }
    if (fault.kind !== "gone") return fail(`${fault.message} ${CONTINUE_TEXT}`);
    if (missing === file)
      return fail(`The peer has lost "${file}", which its manifest names: copy another node.`);
    missing = file;
  }
  return fail(`The peer's archive changed ${ROUNDS_MAX} times while it was copied. ${CONTINUE_TEXT}`);
}

/** Copies all files of a plan. */
async function copyOnce(
  options: JoinOptions,
  target: JoiningDirectory,
  plan: CopyPlan,
  copiedParts: Map<CopyPath, CopiedPart>,
): Promise<Result<Copied, CopyFault>> {
  const archive = await copyArchive(options, target, plan, copiedParts);
  if (!archive.ok) return archive;
  // Listed after the manifest was copied, so that the copy has all messages that its archive covers.
  const listed = await options.peer.plan();
  if (!listed.ok)
    return fail({ file: MANIFEST_PATH, fault: { kind: "refused", message: listed.error.message } });
  const quarantine = await copyQuarantine(
    { ...options, target, nodeId: plan.cluster.nodeId },
    listed.value.files.filter(isQuarantinePath),
  );
  if (!quarantine.ok) return quarantine;
  const events = await copyEvents({ ...options, target, nodeId: plan.cluster.nodeId }, listed.value);
  if (!events.ok) return events;
  const ledger = await copyLedger({ ...options, target, nodeId: plan.cluster.nodeId }, listed.value);
  if (!ledger.ok) return ledger;
  const all = [...archive.value.all, ...events.value, ...quarantine.value, ...ledger.value];
  return ok({ ...archive.value, all, cluster: plan.cluster });
}

interface ArchiveCopy {
  readonly lastSequence: number;
  /** The last entry of the log whose standing entries are in the copy. */
  readonly standingSequence: number;
  readonly archived: readonly CopyPath[];
  readonly all: readonly CopiedFile[];
}

interface CopyFault {
  readonly file: CopyPath;
  readonly fault: PeerFault;
}

async function copyArchive(
  options: JoinOptions,
  target: JoiningDirectory,
  { files: planned, cluster: { nodeId } }: CopyPlan,
  copiedParts: Map<CopyPath, CopiedPart>,
): Promise<Result<ArchiveCopy, CopyFault>> {
  if (!planned.includes(MANIFEST_PATH)) {
    await target.clear("archive");
    return ok({ lastSequence: 0, standingSequence: 0, archived: [], all: [] });
  }
  const manifestFile = await copyFile({ ...options, target, nodeId }, MANIFEST_PATH, null);
  if (!manifestFile.ok) return fail({ file: MANIFEST_PATH, fault: manifestFile.error });
  const manifest = readManifest(await options.files.read(target.pathOf(MANIFEST_PATH)), MANIFEST_PATH);
  const parts = manifest === null ? null : namedParts(manifest);
  if (manifest === null || parts === null) return fail({ file: MANIFEST_PATH, fault: UNUSABLE });

  const all = [manifestFile.value];
  const totalBytes = parts.reduce((sum, { sum: { bytes } }) => sum + bytes, 0);
  let doneBytes = 0;
  for (const named of parts) {
    const { file, sum } = named;
    options.signal.throwIfAborted();
    const part = await copyPart({ ...options, target, nodeId }, named, copiedParts.get(file));
    if (!part.ok) return fail({ file, fault: part.error });
    copiedParts.set(file, { ...part.value, sum });
    all.push(part.value);
    doneBytes += sum.bytes;
    options.onProgress(doneBytes, totalBytes);
  }
  const { lastSequence, standing } = manifest;
  const archived = all.map(({ file }) => file);
  return ok({ lastSequence, standingSequence: standing?.sequence ?? 0, archived, all });
}

/** A copied part with the checksum that the manifest had. */
interface CopiedPart extends CopiedFile {
  readonly sum: FileSum;
}

/** A part `copied` in an earlier round is not read again. */
async function copyPart(
  options: CopyFileOptions,
  { file, sum }: NamedPart,
  copied: CopiedPart | undefined,
): Promise<Result<CopiedFile, PeerFault>> {
  if (copied?.sum.crc === sum.crc && copied.sum.bytes === sum.bytes) return ok(copied);
  if (await options.target.has(file, sum)) return ok({ file, bytes: sum.bytes, isCopied: false });
  return copyFile(options, file, sum);
}

const UNUSABLE: PeerFault = {
  kind: "refused",
  message: "The peer's manifest is damaged: copy another node.",
};

const UNUSABLE_EVENTS: PeerFault = {
  kind: "refused",
  message: "The peer's database of events is damaged: copy another node.",
};

const UNUSABLE_LEDGER: PeerFault = {
  kind: "refused",
  message: "The peer's erasures.json can't be used: copy another node.",
};

interface NamedPart {
  readonly file: CopyPath;
  readonly sum: FileSum;
}

/** Null if the manifest names a path that can't be a part. */
function namedParts(manifest: Manifest): readonly NamedPart[] | null {
  const parts: NamedPart[] = [];
  for (const { file, expected } of wantedParts(manifest)) {
    if (!isPartPath(file) || expected === null) return null;
    parts.push({ file, sum: { bytes: expected.bytes, crc: expected.crc } });
  }
  return parts;
}

/** Copies the quarantine from scratch. Messages that the copied archive does not cover come again with the log. */
async function copyQuarantine(
  options: CopyFileOptions,
  files: readonly CopyPath[],
): Promise<Result<readonly CopiedFile[], CopyFault>> {
  await options.target.clear("quarantine");
  const all: CopiedFile[] = [];
  for (const file of files) {
    options.signal.throwIfAborted();
    const copy = await copyFile(options, file, null);
    if (copy.ok) all.push(copy.value);
    else if (copy.error.kind !== "gone") return fail({ file, fault: copy.error });
    // Otherwise it was deleted in the meantime.
  }
  return ok(all);
}

/**
 * Copies the database of events from scratch, after the manifest, so that it is not behind what the copied archive
 * covers.
 */
async function copyEvents(
  { files, openSqlite, ...options }: CopyFileOptions & Pick<JoinOptions, "files" | "openSqlite">,
  plan: CopyPlan,
): Promise<Result<readonly CopiedFile[], CopyFault>> {
  await options.target.clear("events");
  if (!plan.files.includes(EVENTS_PATH)) return ok([]);
  const copy = await copyFile(options, EVENTS_PATH, null);
  if (!copy.ok) return fail({ file: EVENTS_PATH, fault: copy.error });
  const directory = dirname(options.target.pathOf(EVENTS_PATH));
  const { problems } = await verifyEvents({ files, openSqlite, directory, isQuick: true });
  return problems.length === 0 ? ok([copy.value]) : fail({ file: EVENTS_PATH, fault: UNUSABLE_EVENTS });
}

/** Copies the ledger of erasures after the archive, so that it has all that the copied archive has finished. */
async function copyLedger(
  { files, ...options }: CopyFileOptions & Pick<JoinOptions, "files">,
  plan: CopyPlan,
): Promise<Result<readonly CopiedFile[], CopyFault>> {
  if (!plan.files.includes(LEDGER_PATH)) return ok([]);
  const copy = await copyFile(options, LEDGER_PATH, null);
  if (!copy.ok) return fail({ file: LEDGER_PATH, fault: copy.error });
  const { state } = await readLedger(files, options.target.pathOf(LEDGER_PATH));
  return state === "ok" ? ok([copy.value]) : fail({ file: LEDGER_PATH, fault: UNUSABLE_LEDGER });
}

function sumOfBytes(all: readonly CopiedFile[]): number {
  return all.reduce((sum, { bytes }) => sum + bytes, 0);
}
