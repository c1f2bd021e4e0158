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

/* The data directory of a node, for commands that are given it beside a server or without one. */

const WAIT_MS = 8000; // Long enough to leave a server that stands still for another one.

type NodePlatform = Pick<Platform, "files" | "openStream" | "environment" | "timers">;

/** A platform whose keys, settings, secret and pass phrases may be those of a cluster. */
export type Sharing<P> = P & { readonly shared?: SharedBucket | null };

/**
 * Does work with keys, settings, secret or pass phrases, which in the directory of a node are the cluster's. Throws a
 * `ClusterError` if the cluster can't be asked.
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

/** A command that does such work. */
export function onSharedFiles<Options extends { readonly dataDir: string }>(
  run: (options: Options, context: SharedContext) => Promise<number>,
): Run<Options> {
  return (options, context) =>
    sharing(options.dataDir, context.platform, (platform) => run(options, { ...context, platform }));
}

export interface SharedContext extends CommandContext {
  readonly platform: Sharing<Platform>;
}

/** Asks one of the cluster's buckets, with its stream. Throws a `ClusterError` if it can't be asked. */
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

/** Throws a `ClusterError` in the directory of a node, for a command that would write what belongs to all nodes. */
export async function expectNoNode(
  files: Pick<Files, "read">,
  dataDir: string,
  advice: string,
): Promise<void> {
  const file = await readClusterFile(files, dataDir);
  if (file !== null)
    throw new ClusterError(`"${dataDir}" is the directory of a node of a cluster. ${advice}`);
}

/** Why a file that is shared with the server was not changed. `whose` says what is in it: the keys. */
export function describeSharedFileError(error: SharedFileError, whose: string): string {
  switch (error.kind) {
    case "file_damaged":
      return `${error.file} can't be used: ${error.reason}. It is left as it is.`;
    case "cluster_unreachable":
      return `The cluster can't be reached: ${withoutStop(error.reason)}. ${whose} ${error.mayBeWritten ? MAYBE : "are not changed; try again."}`;
    case "file_full":
      return `${whose} take as much as the servers of the cluster let one value have. Nothing was added: give them a larger max_payload, or revoke some.`;
    case "file_busy": {
      const { owner } = error;
      const holder = owner === null ? "another process" : `process ${owner.pid} (${owner.command})`;
      return `${whose} are being changed by ${holder}; try again.`;
    }
  }
}

const MAYBE = "may be changed or not: look before you try again.";

function withoutStop(text: string): string {
  return text.endsWith(".") ? text.slice(0, -1) : text;
}
