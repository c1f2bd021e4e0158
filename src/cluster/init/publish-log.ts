import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import type { PlannedMessage } from "../log/plan-messages.ts";
import type { Stream } from "../stream/stream.ts";
import { foreign } from "./init-error.ts";

/** What has come to the stream. */
export interface PublishedLog {
  readonly messages: number;
  readonly entries: number;
  readonly records: number;
  /** Of the messages, those that were there already. */
  readonly found: number;
}

export interface PublishLogOptions {
  readonly stream: Stream;
  readonly firstMessage: number;
  /** The same ones, in the same order, each time. */
  readonly messages: AsyncIterator<PlannedMessage, void>;
  /** Breaks it off between two messages. */
  readonly signal: AbortSignal;
  onPublished(records: number): void;
  /** Asks again for a while where no server answers, or no majority. */
  readonly patiently: Patiently;
}

export type Patiently = <Answer>(question: () => Promise<Answer>) => Promise<Answer>;

/**
 * Publishes the messages one after the other, so that they are in the stream in their order and nothing else is. What
 * an earlier attempt has published is read back and compared, so that nothing is there twice, and nothing is left out.
 * Throws an `InitError` where the stream holds anything else, and a `StreamError`.
 */
export async function publishLog(options: PublishLogOptions): Promise<PublishedLog> {
  const { stream, firstMessage, messages, signal, onPublished, patiently } = options;
  const published = { messages: 0, entries: 0, records: 0, found: 0 };
  const before = await patiently(() => stream.state());
  if (before.firstMessage !== firstMessage || before.lastMessage < firstMessage - 1) throw foreign(stream);
  const count = (planned: PlannedMessage) => {
    published.messages++;
    published.entries += planned.entries;
    published.records += planned.records;
    onPublished(published.records);
  };

  published.found = before.lastMessage - firstMessage + 1;
  if (published.found > 0) await compareFound(options, before.lastMessage, count);
  for (let next = await messages.next(); next.done !== true; next = await messages.next()) {
    signal.throwIfAborted();
    const number = firstMessage + published.messages;
    const { bytes } = next.value;
    const id = messageId(number, bytes);
    const taken = await patiently(() => stream.publish(bytes, id));
    if (taken !== number) throw foreign(stream); // Somebody else has published to it meanwhile.
    count(next.value);
  }
  const after = await patiently(() => stream.state());
  if (after.lastMessage !== firstMessage + published.messages - 1) throw foreign(stream);
  return published;
}

/** What an earlier attempt sent last may come to the stream only now: by its id it is then known as this one. */
function messageId(number: number, bytes: Uint8Array): string {
  return `init.${number}.${createHash("sha256").update(bytes).digest("hex").slice(0, 16)}`;
}

async function compareFound(
  { stream, firstMessage, messages, signal }: PublishLogOptions,
  lastMessage: number,
  count: (planned: PlannedMessage) => void,
): Promise<void> {
  const compared = new AbortController();
  await stream.follow(
    firstMessage,
    async ({ number, bytes }) => {
      if (compared.signal.aborted) return;
      signal.throwIfAborted();
      const planned = await messages.next();
      if (planned.done === true || Buffer.compare(planned.value.bytes, bytes) !== 0) throw foreign(stream);
      count(planned.value);
      if (number === lastMessage) compared.abort();
    },
    AbortSignal.any([signal, compared.signal]),
  );
  signal.throwIfAborted();
}
