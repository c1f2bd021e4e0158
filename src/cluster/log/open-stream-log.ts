import { nextTurn, systemTimers } from "../../lib/schedule/timers.ts";
import { applyEntry, type LogEntry } from "../../wal/entry/entry.ts";
import type { ReplayProgress } from "../../wal/replay.ts";
import type { LogRecovery } from "../../wal/wal.ts";
import { type AskedStream, StreamError, type StreamState, type TakenMessage } from "../stream/stream.ts";
import { messageNumberOf } from "./group-message.ts";
import { StreamLog, type StreamLogOptions } from "./stream-log.ts";

/*
 * A start of a node reads what it needs of the stream, while requests are told to wait.
 */

export interface OpenStreamLogOptions extends StreamLogOptions {
  /** The last entry that the archive covers; 0 where there is none. The stream has had it. */
  readonly coveredSequence: number;
  /** Called for every entry of the start, in order, while requests wait. */
  onEntry(entry: LogEntry): void;
  onProgress?(progress: ReplayProgress): void;
  /** Breaks the start off, which else lasts as long as no server answers. */
  readonly signal?: AbortSignal;
  /** The stream as the start asks it. Left out, a server that is away then fails the start. */
  readonly asked?: AskedStream;
}

const SLICE_MS = 10;

/**
 * Reads up to what was the last message when the start began, and goes on from there. Throws a `StreamError`, `gone`
 * where others have purged what it needs and `refused` where the servers have lost what this node knows, and a
 * `MessageError` where a message can't be read.
 */
export async function openStreamLog(
  options: OpenStreamLogOptions,
): Promise<{ wal: StreamLog; recovery: LogRecovery }> {
  const { stream, fromMessage, coveredSequence, onEntry, onProgress, signal } = options;
  const { asked = stream, lastTaken, timers = systemTimers } = options;
  const { firstMessage, lastMessage, bytes } = await reachedState(asked, fromMessage, lastTaken);
  const coveredMessage = messageNumberOf(coveredSequence);
  if (coveredMessage > lastMessage) throw lostEnd(stream.name, lastMessage, coveredMessage);
  const share = (lastMessage + 1 - fromMessage) / Math.max(1, lastMessage + 1 - firstMessage);
  const totalBytes = Math.ceil(bytes * share);
  const recovery = { segments: 0, entries: 0, records: 0, bytes: 0, damage: [], tornTail: null };
  const read = Promise.withResolvers<void>();
  let sliceEndMs = timers.nowMs() + SLICE_MS;
  let isRead = false;

  async function replay(entries: readonly LogEntry[], message: number, messageBytes: number): Promise<void> {
    recovery.bytes += messageBytes;
    for (const [index, entry] of entries.entries()) {
      applyEntry(entry, onEntry);
      recovery.entries++;
      recovery.records += entry.batch.count;
      const isLast = message >= lastMessage && index === entries.length - 1;
      if (!isLast && timers.nowMs() >= sliceEndMs) await nextSlice(); // A message may have a thousand entries.
    }
    if (message >= lastMessage) finish();
  }

  async function nextSlice(): Promise<void> {
    onProgress?.({
      replayedBytes: Math.min(recovery.bytes, totalBytes),
      totalBytes,
      records: recovery.records,
    });
    await nextTurn();
    sliceEndMs = timers.nowMs() + SLICE_MS;
  }

  function finish(): void {
    isRead = true;
    wal.endReplay();
    read.resolve();
  }

  const wal = new StreamLog(
    {
      ...options,
      onFailed(error) {
        if (isRead) options.onFailed(error);
        else read.reject(error);
      },
    },
    replay,
  );
  if (fromMessage > lastMessage) finish();
  const breakOff = () => read.reject(new StreamError("unreachable", "The start was broken off."));
  if (signal?.aborted === true) breakOff();
  signal?.addEventListener("abort", breakOff);
  wal.begin();
  try {
    await read.promise;
  } catch (error) {
    await wal.close();
    throw error;
  } finally {
    signal?.removeEventListener("abort", breakOff);
  }
  onProgress?.({ replayedBytes: totalBytes, totalBytes, records: recovery.records });
  return { wal, recovery: { ...recovery, readUpTo: Number.POSITIVE_INFINITY } };
}

/** Its numbers would be given again, and what has them would pass for archived. */
function lostEnd(stream: string, lastMessage: number, knownMessage: number): StreamError {
  return new StreamError(
    "refused", // Not gone: it may be restored, and until then the log is kept for this node.
    `The stream "${stream}" ends with message ${lastMessage}, and this node knows message ` +
      `${knownMessage}: the servers have lost messages that they had acknowledged. Restore the stream, ` +
      "or begin another one with what this node has archived: export --data-dir DIR.",
  );
}

/** What was purged since can't be compared. */
async function refuseOther(stream: AskedStream, { number, id }: TakenMessage): Promise<void> {
  const found = await stream.messageId(number);
  if (found === null || found === id) return;
  throw new StreamError(
    "refused",
    `Message ${number} of the stream "${stream.name}" is not the one that this node has taken: the servers were put ` +
      "back to an older state, and lost messages that they had acknowledged. This node may be the only one that has " +
      "them: export --data-dir DIR brings out what it has archived. Then make it a copy of another node: join URL " +
      "--again --data-dir DIR.",
  );
}

/**
 * Asks the stream. Throws a `StreamError`, `gone` where others have purged what comes from this message on, `refused`
 * where the stream does not come up to it, or has another message in place of the last one that was taken.
 */
export async function reachedState(
  stream: AskedStream,
  fromMessage: number,
  lastTaken: TakenMessage | null,
): Promise<StreamState> {
  const state = await stream.state();
  const { firstMessage, lastMessage } = state;
  const knownMessage = Math.max(fromMessage - 1, lastTaken?.number ?? 0);
  if (knownMessage > lastMessage) throw lostEnd(stream.name, lastMessage, knownMessage);
  if (lastTaken !== null) await refuseOther(stream, lastTaken);
  if (fromMessage >= firstMessage) return state;
  const has = lastMessage < firstMessage ? "none" : `${firstMessage} to ${lastMessage}`;
  throw new StreamError(
    "gone",
    `This node needs the stream "${stream.name}" from message ${fromMessage} on, and it has ${has}. ` +
      "Copy the data of another node: join URL --data-dir DIR.",
  );
}
