import manifest from "../../package.json" with { type: "json" };
import { directoryPaths } from "../directory/paths.ts";
import type { Clock } from "../model/time/clock.ts";
import type { Files } from "../runtime/files.ts";
import { codesBucketName, nodesBucketName, sharedBucketName } from "./buckets.ts";
import { type ClusterConfig, logUrl, QUARANTINE_LOG_BYTES, readStreamAddress } from "./cluster-config.ts";
import { type ClusterFile, createClusterFile, readClusterFile, writeClusterFile } from "./cluster-file.ts";
import { ClusterNode } from "./cluster-node.ts";
import { readStreamPosition } from "./quarantine/stream-position.ts";
import { patiently } from "./repeat.ts";
import { CODES_MS } from "./shared-codes.ts";
import { type BucketOptions, type OpenStream, type Stream, StreamError } from "./stream/stream.ts";

/** A directory and a cluster that don't go together, in words that say what to do. */
export class ClusterError extends Error {
  override readonly name = "ClusterError";
}

export interface OpenClusterParts {
  readonly files: Pick<Files, "read" | "list" | "replace">;
  readonly openStream: OpenStream;
  readonly clock: Clock;
  /** No server answers, or no majority, and the start goes on trying. */
  onWaiting(error: unknown): void;
  /** What an operator should know of the cluster, in a sentence. */
  onLogNote(note: string): void;
}

/**
 * Takes the directory, which is locked already, into its cluster; null where it is that of a single process. Throws a
 * `ClusterError` where directory and cluster don't go together, and a `StreamError` where the servers can't be used.
 */
export async function openCluster(
  { dataDir, cluster }: { readonly dataDir: string; readonly cluster: ClusterConfig | null },
  parts: OpenClusterParts,
): Promise<ClusterNode | null> {
  const known = await readClusterFile(parts.files, dataDir);
  if (cluster === null) {
    if (known === null) return null;
    const { address } = known;
    throw new ClusterError(
      `"${dataDir}" is the directory of a node: serve it with --log ${logUrl(address)} --stream ${address.stream}.`,
    );
  }
  if (known !== null) await refuseOwnLog(dataDir, cluster, parts.files);
  const file = known ?? (await beginFile(dataDir, cluster, parts.files));
  const { address } = cluster;
  if (file.address.stream !== address.stream)
    throw new ClusterError(
      `"${dataDir}" belongs to the stream "${file.address.stream}", and --stream says "${address.stream}".`,
    );
  const { quarantine } = directoryPaths(dataDir);
  const position = await readStreamPosition(parts.files, quarantine);
  const bytesMax = cluster.logBytesMax;
  const opened: Stream[] = [];
  const told = { ...parts, onLogNote: withoutRepeats(parts.onLogNote) };
  const open = async (name: string, created: string | null, bytesMax: number) => {
    const stream = await openPatiently(name, cluster, { isNew: created === null, bytesMax }, told);
    opened.push(stream);
    if (created !== null && created !== stream.created) throw madeAnew(dataDir, created, stream);
    return stream;
  };
  try {
    const stream = await open(address.stream, file.created, bytesMax);
    const quarter = Math.floor(bytesMax / 4);
    const quarantineBytes = Math.min(Math.max(quarter, QUARANTINE_LOG_BYTES.min), QUARANTINE_LOG_BYTES.max);
    const quarantineStream = await open(
      `${address.stream}-quarantine`,
      position?.created ?? null,
      quarantineBytes,
    );
    const bucket = (name: string, options: BucketOptions = {}) =>
      patiently(() => stream.bucket(name, options), parts.onWaiting);
    const nodes = await bucket(nodesBucketName(address.stream));
    const isFirst =
      file.created === null && (await patiently(() => nodes.entries(), parts.onWaiting)).length === 0;
    const shared = await bucket(sharedBucketName(address.stream), { mustExist: !isFirst }).catch(explainLoss);
    const codes = await bucket(codesBucketName(address.stream), { ttlMs: CODES_MS });
    const current = { ...file, address, created: stream.created };
    await writeClusterFile(parts.files, dataDir, current);
    return new ClusterNode({
      dataDir,
      files: parts.files,
      file: current,
      stream,
      quarantineStream,
      quarantineFloor: (position?.message ?? 0) + 1,
      quarantineLastTaken: position?.lastTaken ?? null,
      nodes,
      shared,
      codes,
      clock: parts.clock,
      nodeTimeoutMs: cluster.nodeTimeoutMs,
      program: manifest.version,
      onNote: parts.onLogNote,
    });
  } catch (error) {
    await Promise.all(opened.map((stream) => stream.close()));
    throw error;
  }
}

/** Its own log is set aside when all of it is in the stream. */
async function refuseOwnLog(
  dataDir: string,
  { address }: ClusterConfig,
  files: OpenClusterParts["files"],
): Promise<void> {
  if ((await files.list(directoryPaths(dataDir).log)).length === 0) return;
  throw new ClusterError(
    `"${dataDir}" is a node's, and has a log of its own too: its move into the cluster was broken off at the end. ` +
      `To end it: cluster init --data-dir ${dataDir} --log ${logUrl(address)} --stream ${address.stream}.`,
  );
}

/** Throws where the directory holds what a log of its own has. */
async function beginFile(
  dataDir: string,
  { address }: ClusterConfig,
  files: OpenClusterParts["files"],
): Promise<ClusterFile> {
  const { log, archive } = directoryPaths(dataDir);
  if ([...(await files.list(log)), ...(await files.list(archive))].length > 0)
    throw new ClusterError(
      `"${dataDir}" holds the data of a single process. To move it into a cluster: cluster init --data-dir ${dataDir} ` +
        `--log ${logUrl(address)} --stream ${address.stream}. To add a node: join URL, with an empty directory.`,
    );
  return createClusterFile(address);
}

/** Two streams have connections to the same servers, and tell the same of them. */
function withoutRepeats(tell: (note: string) => void): (note: string) => void {
  let last = "";
  return (note) => {
    if (note === last) return;
    last = note;
    tell(note);
  };
}

async function openPatiently(
  stream: string,
  { address, access }: ClusterConfig,
  { isNew, bytesMax }: { readonly isNew: boolean; readonly bytesMax: number },
  { files, openStream, onWaiting, onLogNote }: OpenClusterParts,
): Promise<Stream> {
  const whole = { ...(await readStreamAddress(address, access, files)), stream };
  const create = isNew ? { firstMessage: 1, bytesMax } : null;
  try {
    return await patiently(() => openStream({ address: whole, create, onNote: onLogNote }), onWaiting);
  } catch (error) {
    if (!(error instanceof StreamError && error.kind === "full")) throw error;
    throw new ClusterError(
      `${error.message}. Give the servers more room (max_file_store), or the stream less: --log-size 2GB.`,
    );
  }
}

/** What the nodes share is in the bucket alone: an empty one would be a cluster that knows none of its keys. */
function explainLoss(error: unknown): never {
  if (!(error instanceof StreamError && error.kind === "gone")) throw error;
  throw new ClusterError(
    `${error.message}. The keys and settings of the cluster were in it, and nowhere else. Restore it, or make an ` +
      "empty one to begin with a new first key: nats kv add NAME --replicas 3.",
  );
}

function madeAnew(dataDir: string, created: string, stream: Stream): ClusterError {
  return new ClusterError(
    `The stream "${stream.name}" was created at ${stream.created}, and "${dataDir}" knows one that was created at ` +
      `${created}: what that held and this node had not taken over is not in this one. Restore the stream, or begin ` +
      "anew with an empty directory.",
  );
}
