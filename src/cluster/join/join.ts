import { type Manifest, readManifest } from "../../archive/manifest.ts";
import { messageOf } from "../../lib/message-of.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import type { Wait } from "../../lib/schedule/timers.ts";
import { wantedParts } from "../../operator/backup/source.ts";
import { FileError, type Files } from "../../runtime/files.ts";
import type { ClusterStatus } from "../cluster-config.ts";
import { type ClusterFile, createClusterFile } from "../cluster-file.ts";
import { type BringFault, type BringOptions, type Brought, bring, cutTornTails } from "./bring.ts";
import type { CopyPlan } from "./copies.ts";
import { type CopyPath, isPartPath, isQuarantinePath, MANIFEST_PATH, positionFirst } from "./copy-path.ts";
import {
  type FileSum,
  findFormerNode,
  type JoiningDirectory,
  openJoiningDirectory,
} from "./joining-directory.ts";
import type { Peer } from "./peer.ts";

/** What was copied. */
export interface JoinReport {
  readonly cluster: ClusterStatus;
  readonly nodeId: string;
  /** That the copied archive covers. */
  readonly lastSequence: number;
  /** Of all files of the copy. */
  readonly files: number;
  readonly bytes: number;
  /** Of those that were not there already, from a copy that was broken off or the archive before. */
  readonly copiedFiles: number;
  readonly copiedBytes: number;
  /** What is wrong with what the peer has, a line each. */
  readonly problems: readonly string[];
  readonly durationMs: number;
}

export interface JoinOptions {
  readonly files: Files;
  readonly dataDir: string;
  /** Whether the directory may be a node's already, whose archive the copy replaces. */
  readonly again: boolean;
  readonly peer: Peer;
  readonly wait: Wait;
  /** Breaks it off. */
  readonly signal: AbortSignal;
  /** Takes the lock of a directory, which it makes where it is missing; the result gives it free. */
  take(directory: string): Promise<() => void>;
  onProgress(doneBytes: number, totalBytes: number): void;
}

/** A seal takes longer than copying what it changed: this often, something else is wrong. */
const ROUNDS_MAX = 32;

/** After so many rounds a floor that rises is left as it is: the next seal is long enough away. */
const CATCH_UPS_MAX = 8;

const SEVERAL_NODES =
  "The address leads to several nodes by turns, whose files don't make a copy: give the one of a single node.";

const GOES_ON = "What was copied stays: the same command goes on with it.";

/**
 * Makes the directory of one more node, from a copy of a peer's. Fails with a sentence; then the directory is none of
 * a node yet, or the one that it was.
 */
export async function join(options: JoinOptions): Promise<Result<JoinReport, string>> {
  const { files, dataDir, again, peer, take } = options;
  const found = await findFormerNode(files, dataDir, again);
  if (!found.ok) return found; // Nothing is written to a directory that is none of ours.
  const plan = await peer.plan();
  if (!plan.ok) return fail(plan.error.message);
  const release = await take(dataDir);
  try {
    const former = await findFormerNode(files, dataDir, again);
    return former.ok ? await joinTo(options, former.value, plan.value.cluster) : former;
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    return fail(`${messageOf(error)}. ${GOES_ON}`);
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
    return fail(`"${dataDir}" is of a node of another stream than the peer's "${stream}" of ${created}.`);
  const target = await openJoiningDirectory(files, dataDir);
  const copied = await copyAll(options, target, peer);
  if (!copied.ok) return copied;
  const { cluster, archived, segments, all, lastSequence } = copied.value;
  const problems = await cutTornTails(files, target, segments);
  const { servers, isSecure, floor, lastTaken } = cluster;
  const fresh = createClusterFile({ servers, isSecure, stream: cluster.stream });
  const node = { ...fresh, nodeId: former?.nodeId ?? fresh.nodeId, created, floor, lastTaken };
  await target.commit(node, new Set(archived));
  const brought = all.filter(({ isCopied }) => isCopied);
  return ok({
    cluster,
    nodeId: node.nodeId,
    lastSequence,
    files: all.length,
    bytes: sumOfBytes(all),
    copiedFiles: brought.length,
    copiedBytes: sumOfBytes(brought),
    problems,
    durationMs: performance.now() - startedMs,
  });
}

/** All that was brought, as one state of the peer. */
interface Copied extends ArchiveCopy {
  readonly cluster: ClusterStatus;
  readonly segments: readonly CopyPath[];
}

/**
 * Takes the plan again whenever a seal has replaced what it led to, and goes on with what is there already. Where a
 * seal has raised the floor meanwhile, too: the log may be purged below it, and the copy is to need nothing of that.
 */
async function copyAll(
  options: JoinOptions,
  target: JoiningDirectory,
  { created, nodeId }: ClusterStatus,
): Promise<Result<Copied, string>> {
  let missing: CopyPath | null = null;
  const brought = new Map<CopyPath, BroughtPart>();
  for (let round = 1; round <= ROUNDS_MAX; round++) {
    const plan = await options.peer.plan();
    if (!plan.ok) return fail(`${plan.error.message} ${GOES_ON}`);
    if (plan.value.cluster.created !== created)
      return fail("The peer's stream was made anew meanwhile: start over.");
    if (plan.value.cluster.nodeId !== nodeId) return fail(`${SEVERAL_NODES} ${GOES_ON}`);
    const copied = await copyOnce(options, target, plan.value, brought);
    if (copied.ok) {
      const after = await options.peer.plan();
      if (!after.ok || after.value.cluster.floor === plan.value.cluster.floor) return copied;
      if (round >= CATCH_UPS_MAX) return copied;
      continue;
    }
    const { fault, file } = copied.error;
    if (fault === UNUSABLE && missing !== file) {
      missing = file; // A seal has put another in its place while it was sent.
      continue;
    }
    if (fault.kind !== "gone") return fail(`${fault.message} ${GOES_ON}`);
    if (missing === file)
      return fail(`The peer has lost "${file}", which its manifest names: copy another node.`);
    missing = file;
  }
  return fail(`The peer's archive changed ${ROUNDS_MAX} times while it was copied. ${GOES_ON}`);
}

/** Brings all that a plan leads to. */
async function copyOnce(
  options: JoinOptions,
  target: JoiningDirectory,
  plan: CopyPlan,
  brought: Map<CopyPath, BroughtPart>,
): Promise<Result<Copied, CopyFault>> {
  const archive = await copyArchive(options, target, plan, brought);
  if (!archive.ok) return archive;
  const kept = await copyQuarantine(
    { ...options, target, nodeId: plan.cluster.nodeId },
    positionFirst(plan.files.filter(isQuarantinePath)),
  );
  if (!kept.ok) return kept;
  const all = [...archive.value.all, ...kept.value];
  return ok({ ...archive.value, all, cluster: plan.cluster, segments: kept.value.map(({ file }) => file) });
}

interface ArchiveCopy {
  readonly lastSequence: number;
  /** The archive's files. */
  readonly archived: readonly CopyPath[];
  readonly all: readonly Brought[];
}

/** What kept a file from coming. */
interface CopyFault {
  readonly file: CopyPath;
  readonly fault: BringFault;
}

async function copyArchive(
  options: JoinOptions,
  target: JoiningDirectory,
  { files: planned, cluster: { nodeId } }: CopyPlan,
  brought: Map<CopyPath, BroughtPart>,
): Promise<Result<ArchiveCopy, CopyFault>> {
  if (!planned.includes(MANIFEST_PATH)) {
    await target.clear("archive");
    return ok({ lastSequence: 0, archived: [], all: [] });
  }
  const taken = await bring({ ...options, target, nodeId }, MANIFEST_PATH, null);
  if (!taken.ok) return fail({ file: MANIFEST_PATH, fault: taken.error });
  const manifest = readManifest(await options.files.read(target.pathOf(MANIFEST_PATH)), MANIFEST_PATH);
  const parts = manifest === null ? null : namedParts(manifest);
  if (manifest === null || parts === null) return fail({ file: MANIFEST_PATH, fault: UNUSABLE });

  const all = [taken.value];
  const totalBytes = parts.reduce((sum, { sum: { bytes } }) => sum + bytes, 0);
  let doneBytes = 0;
  for (const named of parts) {
    const { file, sum } = named;
    options.signal.throwIfAborted();
    const part = await bringPart({ ...options, target, nodeId }, named, brought.get(file));
    if (!part.ok) return fail({ file, fault: part.error });
    brought.set(file, { ...part.value, sum });
    all.push(part.value);
    doneBytes += sum.bytes;
    options.onProgress(doneBytes, totalBytes);
  }
  return ok({ lastSequence: manifest.lastSequence, archived: all.map(({ file }) => file), all });
}

/** A part as it was named when it was brought. */
interface BroughtPart extends Brought {
  readonly sum: FileSum;
}

/** `brought` in an earlier round, it is not read again. */
async function bringPart(
  options: BringOptions,
  { file, sum }: NamedPart,
  brought: BroughtPart | undefined,
): Promise<Result<Brought, BringFault>> {
  if (brought?.sum.crc === sum.crc && brought.sum.bytes === sum.bytes) return ok(brought);
  if (await options.target.has(file, sum)) return ok({ file, bytes: sum.bytes, isCopied: false });
  return bring(options, file, sum);
}

const UNUSABLE: BringFault = {
  kind: "refused",
  message: "The peer's manifest is damaged: copy another node.",
};

interface NamedPart {
  readonly file: CopyPath;
  readonly sum: FileSum;
}

/** Null where the manifest names what can be no part. */
function namedParts(manifest: Manifest): readonly NamedPart[] | null {
  const parts: NamedPart[] = [];
  for (const { file, expected } of wantedParts(manifest)) {
    if (!isPartPath(file) || expected === null) return null;
    parts.push({ file, sum: { bytes: expected.bytes, crc: expected.crc } });
  }
  return parts;
}

/**
 * Anew as a whole: its files change, and what they lack by now comes over its stream. How far it is there comes first,
 * so it says no more than the rest holds.
 */
async function copyQuarantine(
  options: BringOptions,
  files: readonly CopyPath[],
): Promise<Result<readonly Brought[], CopyFault>> {
  await options.target.clear("quarantine");
  const all: Brought[] = [];
  for (const file of files) {
    options.signal.throwIfAborted();
    const taken = await bring(options, file, null);
    if (taken.ok) all.push(taken.value);
    else if (taken.error.kind !== "gone") return fail({ file, fault: taken.error });
    // Else all of its entries went meanwhile.
  }
  return ok(all);
}

function sumOfBytes(all: readonly Brought[]): number {
  return all.reduce((sum, { bytes }) => sum + bytes, 0);
}
