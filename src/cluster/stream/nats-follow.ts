import type { JetStreamManager, StreamInfo } from "@nats-io/jetstream";
import { wait } from "../../lib/schedule/timers.ts";
import { NatsConsumer, type ReadMessage } from "./nats-consumer.ts";
import { API_ERRORS, isApiError } from "./nats-errors.ts";
import { askStreamInfo, type NatsLink, retryMs } from "./nats-link.ts";
import { StreamError, type StreamMessage, type TakenMessage } from "./stream.ts";

/** How long the servers may lack messages that were seen already, before those count as lost. */
const BEHIND_MS_MAX = 30_000;

export interface FollowedStream {
  readonly link: NatsLink;
  /** Its requests have a timeout short enough for retries. */
  readonly manager: JetStreamManager;
  readonly name: string;
  /** The stream's creation time, which tells it from another one of the same name. */
  readonly created: string;
}

type OnMessage = (message: StreamMessage) => Promise<void> | void;

/** Implements `Stream.follow`. */
export async function followStream(
  stream: FollowedStream,
  from: number,
  onMessage: OnMessage,
  signal: AbortSignal,
): Promise<void> {
  let next = from;
  let last: TakenMessage | null = null;
  let behindSinceMs = 0;
  let isHandling = false; // An error of `onMessage` is thrown on.
  while (!signal.aborted && !stream.link.isClosed) {
    try {
      for await (const message of readInOrder(stream, next, last, signal)) {
        next = message.number + 1;
        last = { number: message.number, id: message.id };
        isHandling = true;
        const handled = onMessage(message);
        if (handled !== undefined) await handled;
        isHandling = false;
        behindSinceMs = 0;
        if (signal.aborted) return;
      }
      behindSinceMs = 0;
    } catch (error) {
      if (isHandling || !(error instanceof StreamError) || error.kind !== "unreachable") throw error;
      if (!(error instanceof BehindError)) behindSinceMs = 0;
      else if (behindSinceMs === 0) behindSinceMs = performance.now();
      else if (performance.now() - behindSinceMs > BEHIND_MS_MAX)
        throw new StreamError("gone", error.message, error);
    }
    await stream.link.connected(BEHIND_MS_MAX, signal);
    if (!signal.aborted) await wait(retryMs() / 4, signal);
  }
}

/** The servers lack messages that we have seen: they have lost them, or have not caught up yet. */
class BehindError extends StreamError {}

/** The messages of one consumer. Ends if the next message is not delivered by it. */
async function* readInOrder(
  stream: FollowedStream,
  from: number,
  last: TakenMessage | null,
  signal: AbortSignal,
): AsyncGenerator<StreamMessage> {
  const { link, manager, name } = stream;
  const consumer = await NatsConsumer.open(link, manager, name, from);
  const close = () => consumer.close();
  signal.addEventListener("abort", close);
  try {
    await checkNext(stream, from); // Checked once the consumer exists, which can't be of a later stream then.
    if (last !== null) await checkLast(stream, last);
    let next = from;
    let seenMessage = 0;
    while (!signal.aborted) {
      const message = consumer.take();
      if (message === null) {
        const event = await consumer.wait();
        if (event === "ended") return;
        if (event !== "idle") continue;
        // An idle consumer may have been removed. A message that existed 5 s ago would be here by now.
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
    consumer.close();
  }
}

function messageOf({ number, bytes, header }: ReadMessage): StreamMessage {
  return { number, id: header("Nats-Msg-Id"), bytes };
}

/** Rejects if the stream can never deliver this message. */
async function checkNext(stream: FollowedStream, next: number): Promise<StreamInfo> {
  const { link, manager, name, created } = stream;
  const info = await askStreamInfo(link, manager, name);
  if (info.created !== created)
    throw new StreamError(
      "gone",
      `The stream "${name}" was created anew: at ${info.created}, but the one that was followed at ${created}.`,
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
      `The stream "${name}" ends with message ${last}, although message ${next - 1} was read already.`,
    );
  return info;
}

/** Rejects if the servers were restored to an older state, and have another message under the last number. */
async function checkLast(stream: FollowedStream, { number, id }: TakenMessage): Promise<void> {
  const presentId = await findMessageId(stream, number);
  if (presentId === null || presentId === id) return;
  throw new StreamError(
    "gone",
    `Message ${number} of the stream "${stream.name}" is not the one that was read: the servers have lost messages ` +
      "that they had acknowledged.",
  );
}

/** A later message arrived: this one was lost in transit, or was deleted from the stream, which can't be repaired. */
async function checkPresent(stream: FollowedStream, number: number): Promise<void> {
  await checkNext(stream, number);
  if ((await findMessageId(stream, number)) === null)
    throw new StreamError(
      "gone",
      `Message ${number} of the stream "${stream.name}" was deleted, although later ones exist.`,
    );
}

/** Implements `Stream.messageId`. */
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
