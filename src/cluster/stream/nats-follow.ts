import type { JetStreamManager, StreamInfo } from "@nats-io/jetstream";
import { wait } from "../../lib/schedule/timers.ts";
import { API_ERRORS, isApiError } from "./nats-errors.ts";
import { askStreamInfo, type NatsLink, retryMs } from "./nats-link.ts";
import { NatsReading, type ReadMessage } from "./nats-reading.ts";
import { StreamError, type StreamMessage, type TakenMessage } from "./stream.ts";

/** For the servers to tell of messages that were seen already, after which those are taken for lost. */
const BEHIND_MS_MAX = 30_000;

/** Which stream is read, and with what. */
export interface FollowedStream {
  readonly link: NatsLink;
  /** Its questions are given up after a time that is short enough to ask again. */
  readonly manager: JetStreamManager;
  readonly name: string;
  /** When the stream was made; another one of the same name is none of ours. */
  readonly created: string;
}

type OnMessage = (message: StreamMessage) => Promise<void> | void;

/** As `Stream.follow` says it. */
export async function followStream(
  stream: FollowedStream,
  from: number,
  onMessage: OnMessage,
  signal: AbortSignal,
): Promise<void> {
  let next = from;
  let last: TakenMessage | null = null;
  let behindSinceMs = 0;
  let isAtWork = false; // What the work throws is no failure of ours, whatever it is.
  while (!signal.aborted && !stream.link.isClosed) {
    try {
      for await (const message of readInOrder(stream, next, last, signal)) {
        next = message.number + 1;
        last = { number: message.number, id: message.id };
        isAtWork = true;
        const taken = onMessage(message);
        if (taken !== undefined) await taken;
        isAtWork = false;
        behindSinceMs = 0;
        if (signal.aborted) return;
      }
      behindSinceMs = 0;
    } catch (error) {
      if (isAtWork || !(error instanceof StreamError) || error.kind !== "unreachable") throw error;
      if (!(error instanceof BehindError)) behindSinceMs = 0;
      else if (behindSinceMs === 0) behindSinceMs = performance.now();
      else if (performance.now() - behindSinceMs > BEHIND_MS_MAX)
        throw new StreamError("gone", error.message, error);
    }
    await stream.link.connected(BEHIND_MS_MAX, signal);
    if (!signal.aborted) await wait(retryMs() / 4, signal);
  }
}

/** What the servers have ends before what we have seen: they have lost it, or have not caught up yet. */
class BehindError extends StreamError {}

/** The messages of one reading: it ends where the next message does not come by it. */
async function* readInOrder(
  stream: FollowedStream,
  from: number,
  last: TakenMessage | null,
  signal: AbortSignal,
): AsyncGenerator<StreamMessage> {
  const { link, manager, name } = stream;
  const reading = await NatsReading.open(link, manager, name, from);
  const close = () => reading.close();
  signal.addEventListener("abort", close);
  try {
    await checkNext(stream, from); // After it was opened: so it can't be of a stream that was made since.
    if (last !== null) await checkLast(stream, last);
    let next = from;
    let seenMessage = 0;
    while (!signal.aborted) {
      const message = reading.take();
      if (message === null) {
        const waited = await reading.wait();
        if (waited === "ended") return;
        if (waited !== "idle") continue;
        // A reader without messages may have been forgotten by its stream: what was there 5 s ago is here by now.
        if (seenMessage >= next) return;
        seenMessage = (await checkNext(stream, next)).state.last_seq;
      } else if (message.number > next) {
        await checkPresent(stream, next);
        return;
      } else if (message.number === next) {
        yield messageOf(message);
        next++;
      }
    }
  } finally {
    signal.removeEventListener("abort", close);
    reading.close();
  }
}

function messageOf({ number, bytes, header }: ReadMessage): StreamMessage {
  return { number, id: header("Nats-Msg-Id"), bytes };
}

/** Rejects where the stream can't have this message any more, neither now nor later. */
async function checkNext(stream: FollowedStream, next: number): Promise<StreamInfo> {
  const { link, manager, name, created } = stream;
  const info = await askStreamInfo(link, manager, name);
  if (info.created !== created)
    throw new StreamError(
      "gone",
      `The stream "${name}" is not the one that was followed: it was created at ${info.created}, that one at ${created}.`,
    );
  const { first_seq: first, last_seq: last } = info.state;
  if (first > next)
    throw new StreamError(
      "gone",
      `Message ${next} of the stream "${name}" was purged: the first is ${first}.`,
    );
  if (last + 1 < next)
    throw new BehindError(
      "unreachable",
      `The stream "${name}" ends with message ${last}, though message ${next - 1} was there already.`,
    );
  return info;
}

/**
 * Rejects where the servers have another message in place of the last one that was taken: they were put back to what
 * they had before, have given its number again, and nobody knows what else of them is another one.
 */
async function checkLast(stream: FollowedStream, { number, id }: TakenMessage): Promise<void> {
  const found = await findMessageId(stream, number);
  if (found === null || found === id) return; // Or it was purged.
  throw new StreamError(
    "gone",
    `Message ${number} of the stream "${stream.name}" is not the one that was there: the servers have lost messages ` +
      "that they had acknowledged.",
  );
}

/** A later message came: either it was lost on its way, or the stream itself has a hole, which nobody can fill. */
async function checkPresent(stream: FollowedStream, number: number): Promise<void> {
  await checkNext(stream, number);
  if ((await findMessageId(stream, number)) === null)
    throw new StreamError(
      "gone",
      `Message ${number} of the stream "${stream.name}" was deleted, though later ones are there.`,
    );
}

/** As `Stream.messageId` says it. */
export async function findMessageId(
  { link, manager, name }: FollowedStream,
  number: number,
): Promise<string | null> {
  return link.ask(`read message ${number} of the stream "${name}"`, async () => {
    try {
      const message = await manager.streams.getMessage(name, { seq: number });
      return message === null ? null : (message.header?.get("Nats-Msg-Id") ?? "");
    } catch (error) {
      if (isApiError(error, API_ERRORS.noMessageFound)) return null;
      throw error;
    }
  });
}
