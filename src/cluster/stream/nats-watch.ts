import type { JetStreamManager, StreamInfo } from "@nats-io/jetstream";
import { wait } from "../../lib/schedule/timers.ts";
import { NatsConsumer, type ReadMessage } from "./nats-consumer.ts";
import { type NatsLink, retryMs } from "./nats-link.ts";
import { type BucketEntry, StreamError } from "./stream.ts";

/** How long to wait for a connection before the next attempt. */
const CONNECTION_MS_MAX = 30_000;

export type BucketChange = (key: string, entry: BucketEntry | null) => void;

export interface WatchedBucket {
  readonly stream: string;
  /** The prefix of the keys' subjects. */
  readonly prefix: string;
  readonly link: NatsLink;
  readonly manager: JetStreamManager;
  /** Asks the bucket's leader. */
  info(): Promise<StreamInfo>;
  /** The current values, not older than `info`. */
  entriesOf(info: StreamInfo): Promise<readonly BucketEntry[]>;
}

/** The revisions that were reported, by key. */
interface ReportedValues {
  created: string;
  readonly revisions: Map<string, number>;
}

/** Implements `Bucket.watch`. If changes may have been missed, reads all values and reports differences. */
export async function watchBucket(
  bucket: WatchedBucket,
  onChange: BucketChange,
  signal: AbortSignal,
): Promise<void> {
  const reported: ReportedValues = { created: "", revisions: new Map() };
  while (!signal.aborted) {
    if (bucket.link.isClosed) throw new StreamError("unreachable", `${bucket.stream} was closed.`);
    try {
      await watchOnce(bucket, reported, onChange, signal);
    } catch (error) {
      if (!(error instanceof StreamError) || error.kind !== "unreachable") throw error;
    }
    await bucket.link.connected(CONNECTION_MS_MAX, signal);
    if (!signal.aborted) await wait(retryMs() / 4, signal);
  }
}

async function watchOnce(
  bucket: WatchedBucket,
  reported: ReportedValues,
  onChange: BucketChange,
  signal: AbortSignal,
): Promise<void> {
  const info = await bucket.info();
  let seen = info.state.last_seq;
  const consumer = await NatsConsumer.open(bucket.link, bucket.manager, bucket.stream, seen + 1);
  const close = () => consumer.close();
  signal.addEventListener("abort", close);
  try {
    if (reported.created !== info.created) {
      reported.created = info.created; // A new bucket, whose revisions start at 1 again.
      for (const key of reported.revisions.keys()) reported.revisions.set(key, 0);
    }
    const entries = await bucket.entriesOf(info);
    if (signal.aborted) return;
    reportDifference(entries, reported, onChange);

    let lastKnown = 0;
    while (!signal.aborted) {
      const message = consumer.take();
      if (message !== null) {
        seen = message.number;
        reportChange(message, bucket.prefix, reported, onChange);
        continue;
      }
      const event = await consumer.wait();
      if (event === "ended") return;
      if (event !== "idle") continue;
      // A message from 5 s ago would be here by now; otherwise the consumer was removed.
      if (lastKnown > seen) return;
      const now = await bucket.info();
      if (now.created !== reported.created) return;
      lastKnown = now.state.last_seq;
    }
  } finally {
    signal.removeEventListener("abort", close);
    consumer.close();
  }
}

function reportDifference(
  entries: readonly BucketEntry[],
  { revisions }: ReportedValues,
  onChange: BucketChange,
): void {
  const present = new Set(entries.map(({ key }) => key));
  for (const key of [...revisions.keys()]) {
    if (present.has(key)) continue;
    revisions.delete(key);
    onChange(key, null);
  }
  for (const entry of entries) {
    if (revisions.get(entry.key) === entry.revision) continue;
    revisions.set(entry.key, entry.revision);
    onChange(entry.key, entry);
  }
}

function reportChange(
  message: ReadMessage,
  prefix: string,
  { revisions }: ReportedValues,
  onChange: BucketChange,
): void {
  const key = message.subject.slice(prefix.length);
  const { number: revision, bytes: value, writtenMs } = message;
  const reportedRevision = revisions.get(key);
  if (reportedRevision !== undefined && reportedRevision >= revision) return; // It was read with the other values.
  if (!isRemoval(message)) {
    revisions.set(key, revision);
    onChange(key, { key, value, revision, writtenMs });
  } else if (revisions.delete(key)) {
    onChange(key, null);
  }
}

/** A deletion or an expiry. */
function isRemoval({ header }: ReadMessage): boolean {
  return header("KV-Operation") !== "" || header("Nats-Marker-Reason") !== "";
}
