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
 * Moves the directory of a single process into a cluster, whose first node it becomes. What its archive does not hold
 * comes into the stream; `cluster.json` is written when all of that is there, and the log is set aside last. So until
 * the end the directory is a single process's, and broken off anywhere the same command goes on.
 */

export interface InitReport {
  readonly stream: string;
  readonly created: string;
  readonly firstMessage: number;
  readonly messages: number;
  /** Of the messages, those that an earlier attempt had brought. */
  readonly found: number;
  readonly records: number;
  /** What nodes share, by the names that the files had. */
  readonly shared: readonly string[];
}

export interface InitOptions {
  readonly files: Files;
  /** Locked. */
  readonly dataDir: string;
  readonly address: ClusterAddress;
  /** Breaks it off where that does no harm. */
  readonly signal: AbortSignal;
  /** Makes the stream where there is none. */
  openStream(firstMessage: number): Promise<Stream>;
  onReading(doneBytes: number, totalBytes: number): void;
  onPublishing(doneRecords: number, totalRecords: number): void;
  readonly patiently: Patiently;
}

/** Longer ones would bring hardly more a second; most servers take twice as much. */
const MESSAGE_BYTES_MAX = 512 * 1024;

/** A node with an empty directory begins at message 1: it must not pass for one that knows the archive. */
const FIRST_MESSAGE_MIN = 2;

/**
 * Null where an earlier attempt had come to the last step, which is done now. Throws an `InitError` where directory and
 * cluster don't go together, and a `StreamError` where the servers can't be used.
 */
export async function initCluster(options: InitOptions): Promise<InitReport | null> {
  const { files, dataDir, address, openStream, onReading, signal } = options;
  if (await isBegun(options)) {
    await setLogAside(files, dataDir);
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
    await setLogAside(files, dataDir);
    return report;
  } finally {
    await stream.close();
  }
}

/** Whether all is there but for the last step. */
async function isBegun({ files, dataDir, address: { stream } }: InitOptions): Promise<boolean> {
  const { log, formerLog } = directoryPaths(dataDir);
  const known = await readClusterFile(files, dataDir);
  if (known === null) {
    if (!(await files.exists(formerLog))) return false;
    throw new InitError(
      `"${formerLog}" is there: this directory was moved into a cluster once. If that cluster is no more, give it ` +
        'the name "wal" again; else begin with an empty directory: join URL.',
    );
  }
  if (known.address.stream === stream && (await files.list(log)).length > 0) return true;
  throw new InitError(
    `"${dataDir}" is the directory of a node already, of stream "${known.address.stream}".`,
  );
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
  return { stream: stream.name, created: stream.created, firstMessage, messages, found, records, shared };
}

/** Of a stream that nodes have already this directory is no part. */
async function refuseOthers({ name }: Stream, nodes: Bucket, patiently: Patiently): Promise<void> {
  const others = (await patiently(() => nodes.entries())).filter(({ key }) => isNodeKey(key));
  if (others.length === 0) return;
  throw new InitError(
    `The stream "${name}" has nodes already. To add one, give an empty directory to: join URL. To begin anew, delete ` +
      `${remainsOf(name)} from the servers.`,
  );
}

/** One directory moves in, and says so before anything of it does: another might have nothing left to publish. */
async function claim(
  stream: Stream,
  nodes: Bucket,
  directoryId: string,
  patiently: Patiently,
): Promise<void> {
  const found = await patiently(async () => {
    const claimed = await nodes.get(MOVED_KEY);
    if (claimed !== null) return parseDirectoryId(claimed.value);
    await nodes.update(MOVED_KEY, new TextEncoder().encode(directoryId), 0);
    return directoryId;
  });
  if (found !== directoryId) throw foreign(stream);
}

/** Nobody shares these yet: what an earlier attempt has left there is replaced. */
async function share(files: Files, dataDir: string, bucket: Bucket): Promise<string[]> {
  const { keys, settings, sessionSecret, passPhrases, directoryId } = directoryPaths(dataDir);
  const shared: string[] = [];
  for (const path of [keys, settings, sessionSecret, passPhrases, directoryId]) {
    const name = basename(path);
    if (await files.exists(path)) {
      await bucket.put(name, await files.read(path));
      shared.push(name);
    } else if ((await bucket.get(name)) !== null) await bucket.delete(name);
  }
  return shared;
}

async function setLogAside(files: Files, dataDir: string): Promise<void> {
  const { log, formerLog } = directoryPaths(dataDir);
  if (await files.exists(log)) await moveDurably(files, log, formerLog);
}
