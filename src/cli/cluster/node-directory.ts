import { sharedBucketName } from "../../cluster/buckets.ts";
import { type ClusterConfig, readStreamAddress } from "../../cluster/cluster-config.ts";
import { type ClusterFile, readClusterFile } from "../../cluster/cluster-file.ts";
import { ClusterError } from "../../cluster/open-cluster.ts";
import { patiently } from "../../cluster/repeat.ts";
import { SharedBucket } from "../../cluster/shared-bucket.ts";
import { type Bucket, type Stream, StreamError } from "../../cluster/stream/stream.ts";
import type { SharedFileError } from "../../directory/shared-file.ts";
import type { Files } from "../../runtime/files.ts";
import type { Platform } from "../../runtime/platform.ts";
import type { CommandContext, Run } from "../arguments/command.ts";
import { parseAccess } from "./flags.ts";

/* Access of commands to the shared state of a cluster, through the data directory of a node. */

const WAIT_MS = 8000; // Long enough to fail over from a server that hangs.

type NodePlatform = Pick<Platform, "files" | "openStream" | "environment" | "timers">;

/** A platform whose keys, settings, secret and passphrases may be those of a cluster. */
export type Sharing<P> = P & { readonly shared?: SharedBucket | null };

/**
 * Runs work on the keys, settings, secret or passphrases of a directory, which for a node are the cluster's. Throws a
 * `ClusterError` if the cluster can't be reached.
 */
export async function withSharedState<P extends NodePlatform>(
  dataDir: string,
  platform: P,
  work: (platform: Sharing<P>) => Promise<number>,
): Promise<number> {
  const file = await readClusterFile(platform.files, dataDir);
  if (file === null) return work(platform);
  return withBucket(dataDir, file, sharedBucketName(file.address.stream), platform, (bucket) =>
    work({ ...platform, shared: new SharedBucket(bucket, undefined, platform.timers) }),
  );
}

/** A command that runs on shared state. */
export function onSharedFiles<Options extends { readonly dataDir: string }>(
  run: (options: Options, context: SharedContext) => Promise<number>,
): Run<Options> {
  return (options, context) =>
    withSharedState(options.dataDir, context.platform, (platform) => run(options, { ...context, platform }));
}

export interface SharedContext extends CommandContext {
  readonly platform: Sharing<Platform>;
}

/** Runs work on one of the cluster's buckets. Throws a `ClusterError` if the cluster can't be reached. */
export async function withBucket(
  dataDir: string,
  file: ClusterFile,
  name: string,
  platform: NodePlatform,
  work: (bucket: Bucket, stream: Stream) => Promise<number>,
): Promise<number> {
  const access = parseAccess(platform.environment);
  if (!access.ok) throw new ClusterError(`${access.error}.`);
  const { timers } = platform;
  const timeout = new AbortController();
  const cancel = timers.after(WAIT_MS, () => timeout.abort());
  try {
    const open = () => openBucket(dataDir, file, name, access.value, platform);
    const { stream, bucket } = await patiently(open, () => {}, timeout.signal, timers).finally(cancel);
    try {
      return await work(bucket, stream);
    } finally {
      await stream.close();
    }
  } catch (error) {
    if (!(error instanceof StreamError)) throw error;
    throw new ClusterError(`The cluster of "${dataDir}" can't be reached: ${error.message}`, {
      cause: error,
    });
  }
}

async function openBucket(
  dataDir: string,
  { address, created }: ClusterFile,
  name: string,
  access: ClusterConfig["access"],
  { files, openStream }: NodePlatform,
): Promise<{ readonly stream: Stream; readonly bucket: Bucket }> {
  const whole = await readStreamAddress(address, access, files);
  const stream = await openStream({ address: whole, create: null, onNote: () => {} }); // A failure throws.
  try {
    if (created !== null && created !== stream.created) throw recreatedError(dataDir, stream.name);
    return { stream, bucket: await stream.bucket(name, { mustExist: created !== null }) };
  } catch (error) {
    await stream.close();
    throw error;
  }
}

function recreatedError(dataDir: string, stream: string): ClusterError {
  return new ClusterError(
    `The stream "${stream}" was created again, and "${dataDir}" belongs to the previous one.`,
  );
}

/** Throws a `ClusterError` for the directory of a node, whose records a command must not write directly. */
export async function expectNoNode(
  files: Pick<Files, "read">,
  dataDir: string,
  advice: string,
): Promise<void> {
  const file = await readClusterFile(files, dataDir);
  if (file !== null)
    throw new ClusterError(`"${dataDir}" is the directory of a node of a cluster. ${advice}`);
}

/** Why a file that is shared with the server was not changed. `whose` names its content, such as "The keys". */
export function describeSharedFileError(error: SharedFileError, whose: string): string {
  switch (error.kind) {
    case "file_damaged":
      return `${error.file} can't be used: ${error.reason}. It was not changed.`;
    case "cluster_unreachable":
      return `The cluster can't be reached: ${withoutStop(error.reason)}. ${whose} ${error.mayBeWritten ? MAYBE : "are not changed; try again."}`;
    case "file_full":
      return `${whose} have the largest size that the NATS servers allow. Nothing was added: raise max_payload, or revoke some.`;
    case "file_busy": {
      const { owner } = error;
      const holder = owner === null ? "another process" : `process ${owner.pid} (${owner.command})`;
      return `${whose} are being changed by ${holder}; try again.`;
    }
  }
}

const MAYBE = "may have changed: check before you try again.";

function withoutStop(text: string): string {
  return text.endsWith(".") ? text.slice(0, -1) : text;
}
