import type { JetStreamManager, StreamInfo } from "@nats-io/jetstream";
import { wait } from "../../lib/schedule/timers.ts";
import { type NatsLink, retryMs } from "./nats-link.ts";
import { NatsReading, type ReadMessage } from "./nats-reading.ts";
import { type BucketEntry, StreamError } from "./stream.ts";

/** For a connection, before it is looked for again. */
const CONNECTION_MS_MAX = 30_000;

export type BucketChange = (key: string, entry: BucketEntry | null) => void;

export interface WatchedBucket {
  readonly stream: string;
  /** Of the subjects that its keys have. */
  readonly prefix: string;
  readonly link: NatsLink;
  readonly manager: JetStreamManager;
  /** How it stands, asked of its leader. */
  info(): Promise<StreamInfo>;
  /** Its values now, or later than this. */
  entriesOf(info: StreamInfo): Promise<readonly BucketEntry[]>;
}

/** What was told, by key. */
interface Told {
  created: string;
  readonly revisions: Map<string, number>;
}

/**
 * As `Bucket.watch` says it. Whenever changes may have been missed all values are read anew, and what differs from what
 * was told is told: so it does not matter what the servers have forgotten meanwhile.
 */
export async function watchBucket(
  bucket: WatchedBucket,
  onChange: BucketChange,
  signal: AbortSignal,
): Promise<void> {
  const told: Told = { created: "", revisions: new Map() };
  while (!signal.aborted) {
    if (bucket.link.isClosed) throw new StreamError("unreachable", `${bucket.stream} was closed.`);
    try {
      await watchOnce(bucket, told, onChange, signal);
    } catch (error) {
      if (!(error instanceof StreamError) || error.kind !== "unreachable") throw error;
    }
    await bucket.link.connected(CONNECTION_MS_MAX, signal);
    if (!signal.aborted) await wait(retryMs() / 4, signal);
  }
}

async function watchOnce(
  bucket: WatchedBucket,
  told: Told,
  onChange: BucketChange,
  signal: AbortSignal,
): Promise<void> {
  const info = await bucket.info();
  let seen = info.state.last_seq;
  const reading = await NatsReading.open(bucket.link, bucket.manager, bucket.stream, seen + 1);
  const close = () => reading.close();
  signal.addEventListener("abort", close);
  try {
    if (told.created !== info.created) {
      told.created = info.created; // Another one, whose revisions count from 1 again.
      for (const key of told.revisions.keys()) told.revisions.set(key, 0);
    }
    const entries = await bucket.entriesOf(info);
    if (signal.aborted) return;
    tellDifference(entries, told, onChange);

    let lastKnown = 0;
    while (!signal.aborted) {
      const message = reading.take();
      if (message !== null) {
        seen = message.number;
        tellChange(message, bucket.prefix, told, onChange);
        continue;
      }
      const waited = await reading.wait();
      if (waited === "ended") return;
      if (waited !== "idle") continue;
      // What was there 5 s ago is here by now, or the reader has been forgotten by its bucket.
      if (lastKnown > seen) return;
      const now = await bucket.info();
      if (now.created !== told.created) return;
      lastKnown = now.state.last_seq;
    }
  } finally {
    signal.removeEventListener("abort", close);
    reading.close();
  }
}

function tellDifference(entries: readonly BucketEntry[], { revisions }: Told, onChange: BucketChange): void {
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

function tellChange(message: ReadMessage, prefix: string, { revisions }: Told, onChange: BucketChange): void {
  const key = message.subject.slice(prefix.length);
  const { number: revision, bytes: value, writtenMs } = message;
  const toldRevision = revisions.get(key);
  if (toldRevision !== undefined && toldRevision >= revision) return; // It was read with all others.
  if (!isRemoval(message)) {
    revisions.set(key, revision);
    onChange(key, { key, value, revision, writtenMs });
  } else if (revisions.delete(key)) {
    onChange(key, null);
  }
}

/** By somebody, or because of its age. */
function isRemoval({ header }: ReadMessage): boolean {
  return header("KV-Operation") !== "" || header("Nats-Marker-Reason") !== "";
}
