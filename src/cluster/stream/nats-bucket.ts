import {
  DiscardPolicy,
  type JetStreamClient,
  type JetStreamManager,
  StorageType,
  type StreamInfo,
} from "@nats-io/jetstream";
import { type KV, Kvm } from "@nats-io/kv";
import { nanos } from "@nats-io/transport-node";
import { forEachAtOnce } from "../../lib/schedule/semaphore.ts";
import { askStreamInfo, type NatsLink } from "./nats-link.ts";
import { type BucketChange, watchBucket } from "./nats-watch.ts";
import { type Bucket, type BucketEntry, type BucketOptions, StreamError } from "./stream.ts";

/** How long watchers can see that a value expired; after a longer absence they read all values again. */
const MARK_MS = 60_000;

/** Space for the headers that name the replaced revision. */
const HEADER_BYTES_MAX = 1024;

/** Concurrent reads. */
const READ_AT_ONCE_MAX = 16;

export interface BucketTools {
  readonly link: NatsLink;
  readonly manager: JetStreamManager;
  readonly reader: JetStreamManager;
  readonly client: JetStreamClient;
}

export interface BucketSettings extends BucketOptions {
  readonly name: string;
  readonly replicas: number;
}

/** NATS implements a bucket as a stream with a subject for each key. */
export function bucketStreamOf(bucket: string): string {
  return `KV_${bucket}`;
}

export async function openBucket(tools: BucketTools, settings: BucketSettings): Promise<Bucket> {
  const { name, mustExist = false } = settings;
  try {
    return new NatsBucket(tools, name, await openValues(tools, settings));
  } catch (error) {
    // Another node that starts at the same time created it, and the server had not heard of it yet.
    if (mustExist || !(error instanceof StreamError) || error.kind !== "gone") throw error;
    throw new StreamError("unreachable", error.message, error);
  }
}

function openValues(tools: BucketTools, { name, ttlMs, mustExist, replicas }: BucketSettings): Promise<KV> {
  return tools.link.ask(`open the bucket "${name}"`, async () => {
    const kvm = new Kvm(tools.client);
    const opened = mustExist
      ? await kvm.open(name, { allow_direct: false })
      : await kvm.create(name, {
          history: 1,
          replicas,
          storage: StorageType.File,
          allow_direct: false, // Only the leader has the newest value.
          ...(ttlMs === undefined ? {} : { ttl: ttlMs, markerTTL: MARK_MS }),
        });
    const status = await opened.status();
    if (status.replicas < replicas || status.storage !== StorageType.File)
      throw new StreamError(
        "refused",
        `The bucket "${name}" has ${status.replicas} replicas in ${status.storage}: ` +
          `set num_replicas of its stream ${bucketStreamOf(name)} to ${replicas}, with file storage.`,
      );
    const { max_age, max_msgs, discard } = status.streamInfo.config;
    if (max_age !== nanos(ttlMs ?? 0) || max_msgs > 0 || discard !== DiscardPolicy.New)
      throw new StreamError(
        "refused",
        `The bucket "${name}" would not retain its values: set max_age of its stream ${bucketStreamOf(name)} ` +
          `to ${ttlMs ?? 0} ms, max_msgs to -1 and discard to new.`,
      );
    return opened;
  });
}

class NatsBucket implements Bucket {
  readonly #tools: BucketTools;
  readonly #name: string;
  readonly #kv: KV;

  constructor(tools: BucketTools, name: string, kv: KV) {
    this.#tools = tools;
    this.#name = name;
    this.#kv = kv;
  }

  get valueBytesMax(): number {
    return this.#tools.link.payloadBytesMax - HEADER_BYTES_MAX;
  }

  get(key: string): Promise<BucketEntry | null> {
    return this.#ask("read", key, async () => {
      const entry = await this.#kv.get(key);
      if (entry === null || entry.operation !== "PUT") return null;
      const { value, revision, created } = entry;
      return { key, value: Uint8Array.from(value), revision, writtenMs: created.getTime() };
    });
  }

  async entries(): Promise<readonly BucketEntry[]> {
    return this.#entriesOf(await this.#info());
  }

  async put(key: string, value: Uint8Array): Promise<number> {
    try {
      return await this.#ask("write", key, () => this.#kv.put(key, value));
    } catch (error) {
      // A removed bucket does not answer either: find out, since no retry helps then.
      if (error instanceof StreamError && error.kind === "unreachable") await this.#info();
      throw error;
    }
  }

  update(key: string, value: Uint8Array, revision: number): Promise<number> {
    return this.#ask("write", key, () =>
      revision === 0 ? this.#kv.create(key, value) : this.#kv.update(key, value, revision),
    );
  }

  delete(key: string): Promise<void> {
    return this.#ask("delete", key, () => this.#kv.delete(key));
  }

  watch(onChange: BucketChange, signal: AbortSignal): Promise<void> {
    const bucket = {
      stream: bucketStreamOf(this.#name),
      prefix: this.#prefix,
      link: this.#tools.link,
      manager: this.#tools.reader,
      info: () => this.#info(),
      entriesOf: (info: StreamInfo) => this.#entriesOf(info),
    };
    return watchBucket(bucket, onChange, signal);
  }

  get #prefix(): string {
    return `$KV.${this.#name}.`;
  }

  #ask<Answer>(verb: string, key: string, question: () => Promise<Answer>): Promise<Answer> {
    return this.#tools.link.ask(`${verb} "${key}" in the bucket "${this.#name}"`, question);
  }

  /** Includes the subjects. */
  #info(): Promise<StreamInfo> {
    const { link, manager } = this.#tools;
    return askStreamInfo(link, manager, bucketStreamOf(this.#name), { subjects_filter: ">" });
  }

  async #entriesOf({ state }: StreamInfo): Promise<readonly BucketEntry[]> {
    const keys = Object.keys(state.subjects ?? {}).map((subject) => subject.slice(this.#prefix.length));
    const entries: BucketEntry[] = [];
    await forEachAtOnce(keys.sort(), READ_AT_ONCE_MAX, async (key) => {
      const entry = await this.get(key);
      if (entry !== null) entries.push(entry);
    });
    return entries.sort((a, b) => (a.key < b.key ? -1 : 1));
  }
}
