import { sharedBucketName } from "../../cluster/buckets.ts";
import { type ClusterConfig, readStreamAddress } from "../../cluster/cluster-config.ts";
import { type ClusterFile, readClusterFile } from "../../cluster/cluster-file.ts";
import { ClusterError } from "../../cluster/open-cluster.ts";
import { patiently } from "../../cluster/repeat.ts";
import { SharedBucket } from "../../cluster/shared-bucket.ts";
import { type Bucket, type Stream, StreamError } from "../../cluster/stream/stream.ts";
import type { Files } from "../../runtime/files.ts";
import type { Platform } from "../../runtime/platform.ts";
import type { CommandContext, Run } from "../arguments/command.ts";
import { parseAccess } from "./flags.ts";

/* The data directory of a node, for commands that are given it beside a server or without one. */

/** A server that stands still is left for another within it. */
const WAIT_MS = 8000;

type NodePlatform = Pick<Platform, "files" | "openStream" | "environment" | "timers">;

/** A platform whose keys, settings, secret and pass phrases may be those of a cluster. */
export type Sharing<P> = P & { readonly shared?: SharedBucket | null };

/**
 * Does what a command does with keys, settings, secret or pass phrases: in the directory of a node those are the
 * cluster's. Throws a `ClusterError` where that can't be asked.
 */
export async function sharing<P extends NodePlatform>(
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

/** A command about keys, settings, secret or pass phrases, which in the directory of a node are the cluster's. */
export function onSharedFiles<Options extends { readonly dataDir: string }>(
  run: (options: Options, context: SharedContext) => Promise<number>,
): Run<Options> {
  return (options, context) =>
    sharing(options.dataDir, context.platform, (platform) => run(options, { ...context, platform }));
}

export interface SharedContext extends CommandContext {
  readonly platform: Sharing<Platform>;
}

/** Asks one of the cluster's buckets, with its stream. Throws a `ClusterError` where that can't be asked. */
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
  const waited = new AbortController();
  const cancel = timers.after(WAIT_MS, () => waited.abort());
  try {
    const open = () => openBucket(dataDir, file, name, access.value, platform);
    const { stream, bucket } = await patiently(open, () => {}, waited.signal, timers).finally(cancel);
    try {
      return await work(bucket, stream);
    } finally {
      await stream.close();
    }
  } catch (error) {
    if (!(error instanceof StreamError)) throw error;
    throw new ClusterError(`The cluster of "${dataDir}" can't be asked: ${error.message}`, { cause: error });
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
  const stream = await openStream({ address: whole, create: null, onNote: () => {} }); // What fails is told.
  try {
    if (created !== null && created !== stream.created) throw madeAnew(dataDir, stream.name);
    return { stream, bucket: await stream.bucket(name, { mustExist: created !== null }) };
  } catch (error) {
    await stream.close();
    throw error;
  }
}

function madeAnew(dataDir: string, stream: string): ClusterError {
  return new ClusterError(
    `The stream "${stream}" was created anew, and "${dataDir}" belongs to the former one.`,
  );
}

/** Throws a `ClusterError` in the directory of a node, where a command would write what belongs to all nodes. */
export async function expectNoNode(
  files: Pick<Files, "read">,
  dataDir: string,
  advice: string,
): Promise<void> {
  const file = await readClusterFile(files, dataDir);
  if (file !== null)
    throw new ClusterError(`"${dataDir}" is the directory of a node of a cluster. ${advice}`);
}
