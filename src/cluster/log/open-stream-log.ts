import { nextTurn, systemTimers } from "../../lib/schedule/timers.ts";
import { applyEntry, type LogEntry, reportsIn } from "../../wal/entry/entry.ts";
import type { ReplayProgress } from "../../wal/replay.ts";
import type { LogRecovery } from "../../wal/wal.ts";
import { StreamError, type StreamProbe, type StreamState, type TakenMessage } from "../stream/stream.ts";
import { messageNumberOf } from "./group-message.ts";
import { StreamLog, type StreamLogOptions } from "./stream-log.ts";

/** Options of a node's start, which replays what its archive lacks while requests wait. */
export interface OpenStreamLogOptions extends StreamLogOptions {
  /** The last sequence that the archive covers, or 0. The stream must have reached it. */
  readonly coveredSequence: number;
  /** Called for every replayed entry, in order, while requests wait. */
  onEntry(entry: LogEntry): void;
  /** Whether an entry can't be applied during the start, which ends before it then: it is followed like later ones. */
  needsFollower?(entry: LogEntry): boolean;
  onProgress?(progress: ReplayProgress): void;
  /** Stops the start, which otherwise lasts as long as no server answers. */
  readonly signal?: AbortSignal;
  /** Defaults to `stream`; then an unreachable server fails the start. */
  readonly probe?: StreamProbe;
}

const SLICE_MS = 10;

/**
 * Replays the stream up to the message that was the last one at the start, or to an entry that needs a follower, and
 * follows it from there. Throws a `StreamError`: `gone` if needed messages were purged, `refused` if the servers have
 * lost messages that this node knows. Throws a `MessageError` if a message can't be read.
 */
export async function openStreamLog(
  options: OpenStreamLogOptions,
): Promise<{ wal: StreamLog; recovery: LogRecovery }> {
  const { stream, fromMessage, coveredSequence, onEntry, onProgress, signal } = options;
  const { probe = stream, lastTaken, timers = systemTimers } = options;
  const { firstMessage, lastMessage, bytes } = await reachedState(probe, fromMessage, lastTaken);
  const coveredMessage = messageNumberOf(coveredSequence);
  if (coveredMessage > lastMessage) throw lostMessages(stream.name, lastMessage, coveredMessage);
  const share = (lastMessage + 1 - fromMessage) / Math.max(1, lastMessage + 1 - firstMessage);
  const totalBytes = Math.ceil(bytes * share);
  const recovery = { segments: 0, entries: 0, records: 0, bytes: 0, damage: [], tornTail: null };
  const read = Promise.withResolvers<void>();
  let sliceEndMs = timers.nowMs() + SLICE_MS;
  let isRead = false;

  async function replay(
    entries: readonly LogEntry[],
    message: number,
    messageBytes: number,
  ): Promise<readonly LogEntry[]> {
    recovery.bytes += messageBytes;
    for (const [index, entry] of entries.entries()) {
      if (options.needsFollower?.(entry) === true) {
        finish();
        return entries.slice(index);
      }
      applyEntry(entry, onEntry);
      recovery.entries++;
      recovery.records += reportsIn(entry);
      const isLast = message >= lastMessage && index === entries.length - 1;
      if (!isLast && timers.nowMs() >= sliceEndMs) await nextSlice(); // A message may have 1024 entries.
    }
    if (message >= lastMessage) finish();
    return [];
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

/** New messages would reuse the lost numbers, and would count as archived. */
function lostMessages(stream: string, lastMessage: number, knownMessage: number): StreamError {
  return new StreamError(
    "refused", // Not `gone`: the stream may be restored, and must be retained for this node until then.
    `The stream "${stream}" ends with message ${lastMessage}, but this node knows message ` +
      `${knownMessage}: the servers have lost messages that they had acknowledged. Restore the stream, ` +
      "or start a new one with the data that this node has archived: export --data-dir DIR.",
  );
}

/** A purged message can't be compared. */
async function refuseOther(stream: StreamProbe, { number, id }: TakenMessage): Promise<void> {
  const presentId = await stream.messageId(number);
  if (presentId === null || presentId === id) return;
  throw new StreamError(
    "refused",
    `Message ${number} of the stream "${stream.name}" is not the one that this node has applied: the servers were ` +
      "restored to an older state, and lost messages that they had acknowledged. This node may be the only one that " +
      "has them: export --data-dir DIR writes what it has archived. Then make it a copy of another node: join URL " +
      "--again --data-dir DIR.",
  );
}

/**
 * Returns the stream's state. Throws a `StreamError`: `gone` if messages from `fromMessage` on were purged, `refused`
 * if the stream ends before it, or has another message in place of `lastTaken`.
 */
export async function reachedState(
  stream: StreamProbe,
  fromMessage: number,
  lastTaken: TakenMessage | null,
): Promise<StreamState> {
  const state = await stream.state();
  const { firstMessage, lastMessage } = state;
  const knownMessage = Math.max(fromMessage - 1, lastTaken?.number ?? 0);
  if (knownMessage > lastMessage) throw lostMessages(stream.name, lastMessage, knownMessage);
  if (lastTaken !== null) await refuseOther(stream, lastTaken);
  if (fromMessage >= firstMessage) return state;
  const has = lastMessage < firstMessage ? "none" : `${firstMessage} to ${lastMessage}`;
  throw new StreamError(
    "gone",
    `This node needs the stream "${stream.name}" from message ${fromMessage} on, but the stream has ${has}. ` +
      "Copy the data of another node: join URL --data-dir DIR.",
  );
}
