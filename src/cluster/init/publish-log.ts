import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import type { PlannedMessage } from "../log/plan-messages.ts";
import type { Stream } from "../stream/stream.ts";
import { foreign } from "./init-error.ts";

/** What this attempt and earlier ones have published. */
export interface PublishedLog {
  readonly messages: number;
  readonly entries: number;
  readonly records: number;
  /** Messages that an earlier attempt had published. */
  readonly found: number;
}

export interface PublishLogOptions {
  readonly stream: Stream;
  readonly firstMessage: number;
  /** Must be the same messages in the same order on each attempt. */
  readonly messages: AsyncIterator<PlannedMessage, void>;
  /** Stops between two messages. */
  readonly signal: AbortSignal;
  onPublished(records: number): void;
  /** Retries for a while if the servers have no majority or don't answer. */
  readonly patiently: Patiently;
}

export type Patiently = <Answer>(question: () => Promise<Answer>) => Promise<Answer>;

/**
 * Publishes the messages one by one, so that the stream holds exactly them, in order. Messages that an earlier attempt
 * published are read back and compared, so none is published twice or skipped. Throws an `InitError` if the stream
 * holds anything else, and a `StreamError`.
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
  if (published.found > 0) await compareFoundMessages(options, before.lastMessage, count);
  for (let next = await messages.next(); next.done !== true; next = await messages.next()) {
    signal.throwIfAborted();
    const number = firstMessage + published.messages;
    const { bytes } = next.value;
    const id = messageId(number, bytes);
    const assigned = await patiently(() => stream.publish(bytes, id));
    if (assigned !== number) throw foreign(stream); // Another process has published in the meantime.
    count(next.value);
  }
  const after = await patiently(() => stream.state());
  if (after.lastMessage !== firstMessage + published.messages - 1) throw foreign(stream);
  return published;
}

/** Made of the content, since the last message of an earlier attempt may arrive only now. */
function messageId(number: number, bytes: Uint8Array): string {
  return `init.${number}.${createHash("sha256").update(bytes).digest("hex").slice(0, 16)}`;
}

async function compareFoundMessages(
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
