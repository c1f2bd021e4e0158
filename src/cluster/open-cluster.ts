import manifest from "../../package.json" with { type: "json" };
import { directoryPaths } from "../directory/paths.ts";
import type { Clock } from "../model/time/clock.ts";
import type { Files } from "../runtime/files.ts";
import { codesBucketName, nodesBucketName, sharedBucketName } from "./buckets.ts";
import { type ClusterConfig, logUrl, readStreamAddress } from "./cluster-config.ts";
import { type ClusterFile, createClusterFile, readClusterFile, writeClusterFile } from "./cluster-file.ts";
import { ClusterNode } from "./cluster-node.ts";
import { patiently } from "./repeat.ts";
import { CODES_MS } from "./shared-codes.ts";
import { type BucketOptions, type OpenStream, type Stream, StreamError } from "./stream/stream.ts";

/** The directory and the cluster don't match; the message says what to do. */
export class ClusterError extends Error {
  override readonly name = "ClusterError";
}

export interface OpenClusterParts {
  readonly files: Pick<Files, "read" | "list" | "replace">;
  readonly openStream: OpenStream;
  readonly clock: Clock;
  /** Called while the start waits for the servers or their majority. */
  onWaiting(error: unknown): void;
  /** A sentence about the cluster for the operator. */
  onLogNote(note: string): void;
}

/**
 * Connects a locked directory to its cluster; null for the directory of a single process. Throws a `ClusterError` if
 * directory and cluster don't match, and a `StreamError` if the servers can't be used.
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
      `"${dataDir}" belongs to a cluster node: serve it with --log ${logUrl(address)} --stream ${address.stream}.`,
    );
  }
  if (known !== null) await refuseOwnLog(dataDir, cluster, parts.files);
  const file = known ?? (await beginFile(dataDir, cluster, parts.files));
  const { address } = cluster;
  if (file.address.stream !== address.stream)
    throw new ClusterError(
      `"${dataDir}" belongs to the stream "${file.address.stream}", and --stream says "${address.stream}".`,
    );
  const stream = await openPatiently(cluster, file.created === null, parts);
  try {
    if (file.created !== null && file.created !== stream.created)
      throw recreatedError(dataDir, file.created, stream);
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
      nodes,
      shared,
      codes,
      clock: parts.clock,
      nodeTimeoutMs: cluster.nodeTimeoutMs,
      program: manifest.version,
      onNote: parts.onLogNote,
    });
  } catch (error) {
    await stream.close();
    throw error;
  }
}

/** `cluster init` renames the own log after all of it was published. */
async function refuseOwnLog(
  dataDir: string,
  { address }: ClusterConfig,
  files: OpenClusterParts["files"],
): Promise<void> {
  if ((await files.list(directoryPaths(dataDir).log)).length === 0) return;
  throw new ClusterError(
    `"${dataDir}" belongs to a node, but also has a log of its own: its move into the cluster was interrupted at the end. ` +
      `To finish it: cluster init --data-dir ${dataDir} --log ${logUrl(address)} --stream ${address.stream}.`,
  );
}

/** Throws if the directory has data of a single process. */
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

async function openPatiently(
  { address, access, logBytesMax: bytesMax }: ClusterConfig,
  isNew: boolean,
  { files, openStream, onWaiting, onLogNote }: OpenClusterParts,
): Promise<Stream> {
  const whole = await readStreamAddress(address, access, files);
  const create = isNew ? { firstMessage: 1, bytesMax } : null;
  try {
    return await patiently(() => openStream({ address: whole, create, onNote: onLogNote }), onWaiting);
  } catch (error) {
    if (!(error instanceof StreamError && error.kind === "full")) throw error;
    throw new ClusterError(
      `${error.message}. Give the servers more disk space (max_file_store), or the stream less: --log-size 2GB.`,
    );
  }
}

/** The bucket has the only copy of the shared values: a new empty one would make a cluster without its keys. */
function explainLoss(error: unknown): never {
  if (!(error instanceof StreamError && error.kind === "gone")) throw error;
  throw new ClusterError(
    `${error.message}. It had the only copy of the cluster's keys and settings. Restore it, or create an empty one ` +
      "to start with a new first key: nats kv add NAME --replicas 3.",
  );
}

function recreatedError(dataDir: string, created: string, stream: Stream): ClusterError {
  return new ClusterError(
    `The stream "${stream.name}" was created at ${stream.created}, but "${dataDir}" knows one that was created at ` +
      `${created}: reports that this node had not read from that one are missing. Restore the stream, or start ` +
      "with an empty directory.",
  );
}
