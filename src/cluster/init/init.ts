import { basename } from "node:path";
import { directoryPaths, parseDirectoryId, readDirectoryId } from "../../directory/paths.ts";
import { type Files, moveDurably } from "../../runtime/files.ts";
import { isNodeKey, MOVED_KEY, nodesBucketName, sharedBucketName } from "../buckets.ts";
import type { ClusterAddress } from "../cluster-config.ts";
import { createClusterFile, readClusterFile, writeClusterFile } from "../cluster-file.ts";
import { messageNumberOf } from "../log/group-message.ts";
import { planMessages } from "../log/plan-messages.ts";
import type { Bucket, Stream } from "../stream/stream.ts";
import { foreign, InitError, remainsOf } from "./init-error.ts";
import { type OwnLog, openOwnLog } from "./own-log.ts";
import { type Patiently, publishLog } from "./publish-log.ts";

/*
 * Moves the directory of a single process into a new cluster, as its first node. Reports that the archive does not
 * cover are published to the stream; then `cluster.json` is written, and the log is renamed last. Until the end the
 * directory belongs to a single process, and an interrupted command can be repeated.
 */

export interface InitReport {
  readonly stream: string;
  readonly created: string;
  readonly firstMessage: number;
  readonly messages: number;
  /** Messages that an earlier attempt had published. */
  readonly found: number;
  readonly records: number;
  /** The names of the files that became shared values. */
  readonly shared: readonly string[];
}

export interface InitOptions {
  readonly files: Files;
  /** The caller holds its lock. */
  readonly dataDir: string;
  readonly address: ClusterAddress;
  /** Stops the move at a point where that is safe. */
  readonly signal: AbortSignal;
  /** Creates the stream if it is missing. */
  openStream(firstMessage: number): Promise<Stream>;
  onReading(doneBytes: number, totalBytes: number): void;
  onPublishing(doneRecords: number, totalRecords: number): void;
  readonly patiently: Patiently;
}

/** Longer messages are hardly faster; most servers allow twice as much. */
const MESSAGE_BYTES_MAX = 512 * 1024;

/** An empty node starts at message 1: it must not count as one that has the archive. */
const FIRST_MESSAGE_MIN = 2;

/**
 * Null if an earlier attempt had reached the last step, which is then done now. Throws an `InitError` if directory and
 * cluster don't match, and a `StreamError` if the servers can't be used.
 */
export async function initCluster(options: InitOptions): Promise<InitReport | null> {
  const { files, dataDir, address, openStream, onReading, signal } = options;
  if (await isAlmostDone(options)) {
    await renameLog(files, dataDir);
    return null;
  }
  const log = await openOwnLog(files, dataDir, directoryPaths(dataDir), onReading);
  const firstMessage = Math.max(FIRST_MESSAGE_MIN, messageNumberOf(log.lastSequence) + 1);
  signal.throwIfAborted();
  const stream = await openStream(firstMessage);
  try {
    const report = await moveTo(stream, log, firstMessage, options);
    const file = createClusterFile(address);
    await writeClusterFile(files, dataDir, { ...file, created: stream.created, floor: firstMessage });
    await renameLog(files, dataDir);
    return report;
  } finally {
    await stream.close();
  }
}

/** Whether only the last step is left. */
async function isAlmostDone({ files, dataDir, address: { stream } }: InitOptions): Promise<boolean> {
  const { log, formerLog } = directoryPaths(dataDir);
  const known = await readClusterFile(files, dataDir);
  if (known === null) {
    if (!(await files.exists(formerLog))) return false;
    throw new InitError(
      `"${formerLog}" exists: this directory was moved into a cluster before. If that cluster is gone, rename it ` +
        'to "wal"; otherwise start with an empty directory: join URL.',
    );
  }
  if (known.address.stream === stream && (await files.list(log)).length > 0) return true;
  throw new InitError(`"${dataDir}" already belongs to a node of the stream "${known.address.stream}".`);
}

async function moveTo(
  stream: Stream,
  log: OwnLog,
  firstMessage: number,
  { files, dataDir, signal, onPublishing, patiently }: InitOptions,
): Promise<InitReport> {
  const open = (name: string) => patiently(() => stream.bucket(name));
  const nodes = await open(nodesBucketName(stream.name));
  await refuseOthers(stream, nodes, patiently);
  await claim(stream, nodes, await readDirectoryId(files, directoryPaths(dataDir).directoryId), patiently);
  const messageBytesMax = Math.min(MESSAGE_BYTES_MAX, stream.messageBytesMax);
  const { messages, found, records } = await publishLog({
    stream,
    firstMessage,
    messages: planMessages(log.entries(), messageBytesMax),
    signal,
    onPublished: (done) => onPublishing(done, log.records),
    patiently,
  });
  const bucket = await open(sharedBucketName(stream.name));
  const shared = await patiently(() => share(files, dataDir, bucket));
  return {
    stream: stream.name,
    created: stream.created,
    firstMessage,
    messages,
    found,
    records,
    shared,
  };
}

/** Throws if the stream has nodes already. */
async function refuseOthers({ name }: Stream, nodes: Bucket, patiently: Patiently): Promise<void> {
  const others = (await patiently(() => nodes.entries())).filter(({ key }) => isNodeKey(key));
  if (others.length === 0) return;
  throw new InitError(
    `The stream "${name}" has nodes already. To add one: join URL, with an empty directory. To start over, delete ` +
      `${remainsOf(name)} from the servers.`,
  );
}

/** Records the directory's id first: a second directory with nothing to publish would not be noticed. */
async function claim(
  stream: Stream,
  nodes: Bucket,
  directoryId: string,
  patiently: Patiently,
): Promise<void> {
  const claimedId = await patiently(async () => {
    const claimed = await nodes.get(MOVED_KEY);
    if (claimed !== null) return parseDirectoryId(claimed.value);
    await nodes.update(MOVED_KEY, new TextEncoder().encode(directoryId), 0);
    return directoryId;
  });
  if (claimedId !== directoryId) throw foreign(stream);
}

/** No node uses these values yet, so values of an earlier attempt are replaced. */
async function share(files: Files, dataDir: string, bucket: Bucket): Promise<string[]> {
  const { keys, settings, sessionSecret, passPhrases, webhookSecrets, directoryId } = directoryPaths(dataDir);
  const shared: string[] = [];
  for (const path of [keys, settings, sessionSecret, passPhrases, webhookSecrets, directoryId]) {
    const name = basename(path);
    if (await files.exists(path)) {
      await bucket.put(name, await files.read(path));
      shared.push(name);
    } else if ((await bucket.get(name)) !== null) await bucket.delete(name);
  }
  return shared;
}

async function renameLog(files: Files, dataDir: string): Promise<void> {
  const { log, formerLog } = directoryPaths(dataDir);
  if (await files.exists(log)) await moveDurably(files, log, formerLog);
}
