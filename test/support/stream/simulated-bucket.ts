import { type Bucket, type BucketEntry, StreamError } from "../../../src/cluster/stream/stream.ts";
import { turns } from "../turns.ts";

type Watcher = (key: string, entry: BucketEntry | null) => void;

/** Values shared by simulated nodes, with JetStream's semantics: all keys share one counter of revisions. */
export class SimulatedValues {
  readonly entries = new Map<string, BucketEntry>();
  readonly watchers = new Set<Watcher>();
  /** The servers' clock. */
  nowMs = 0;
  #revision = 0;

  write(key: string, value: Uint8Array): number {
    this.#revision += 1;
    const entry = { key, value: value.slice(), revision: this.#revision, writtenMs: this.nowMs };
    this.entries.set(key, entry);
    for (const watcher of [...this.watchers]) watcher(key, entry);
    return entry.revision;
  }

  remove(key: string): void {
    this.#revision += 1;
    this.entries.delete(key);
    for (const watcher of [...this.watchers]) watcher(key, null);
  }
}

/** A node's connection to the bucket, with possible faults. */
export class SimulatedBucket implements Bucket {
  readonly values: SimulatedValues;
  valueBytesMax = 1024 * 1024;
  /** The error of every call, or null. */
  refusal: StreamError | null = null;
  /** The number of next updates whose answers are lost. */
  lostAnswers = 0;
  /** The number of next updates that conflict with another node's write. */
  conflicts = 0;
  /** Answers of a server that lags, by key. */
  readonly stale = new Map<string, BucketEntry | null>();
  /** Whether watches receive nothing, without ending. */
  isMute = false;
  gets = 0;
  updates = 0;
  #unanswered = 0;
  #breakWatch: ((error: StreamError) => void) | null = null;

  readonly #travel: () => Promise<void>;

  /** `travel` waits for the duration of a request. */
  constructor(values: SimulatedValues = new SimulatedValues(), travel = () => turns(1)) {
    this.values = values;
    this.#travel = travel;
  }

  get watches(): boolean {
    return this.#breakWatch !== null;
  }

  /** Cuts the connection: requests are not answered, and watches end. */
  cut(): void {
    this.refusal = new StreamError("unreachable", "no server answers");
    this.#breakWatch?.(this.refusal);
  }

  /** Resolves once all requests are answered. */
  async idle(): Promise<void> {
    do await turns(1);
    while (this.#unanswered > 0);
    await turns(1);
  }

  mend(): void {
    this.refusal = null;
  }

  async get(key: string): Promise<BucketEntry | null> {
    this.gets += 1;
    this.#unanswered += 1;
    try {
      await this.#arrive();
    } finally {
      this.#unanswered -= 1;
    }
    const stale = this.stale.get(key);
    return stale !== undefined ? stale : (this.values.entries.get(key) ?? null);
  }

  async entries(): Promise<readonly BucketEntry[]> {
    await this.#arrive();
    return [...this.values.entries.values()];
  }

  async put(key: string, value: Uint8Array): Promise<number> {
    await this.#arrive();
    return this.values.write(key, value);
  }

  async update(key: string, value: Uint8Array, revision: number): Promise<number> {
    this.updates += 1;
    await this.#arrive();
    const before = this.values.entries.get(key);
    if (this.conflicts > 0) {
      this.conflicts -= 1;
      this.values.write(key, before?.value ?? new Uint8Array());
    }
    if ((this.values.entries.get(key)?.revision ?? 0) !== revision)
      throw new StreamError("conflict", "somebody else has written meanwhile");
    const written = this.values.write(key, value);
    if (this.lostAnswers > 0) {
      this.lostAnswers -= 1;
      throw new StreamError("unreachable", "the answer did not come");
    }
    return written;
  }

  async delete(key: string): Promise<void> {
    await this.#arrive();
    this.values.remove(key);
  }

  async watch(onChange: Watcher, signal: AbortSignal): Promise<void> {
    await this.#arrive();
    const watcher: Watcher = (key, entry) => {
      if (!this.isMute) onChange(key, entry);
    };
    for (const [key, entry] of this.values.entries) watcher(key, entry);
    const { watchers } = this.values;
    watchers.add(watcher);
    try {
      await new Promise<void>((resolve, reject) => {
        this.#breakWatch = reject;
        if (signal.aborted) resolve();
        signal.addEventListener("abort", () => resolve());
      });
    } finally {
      this.#breakWatch = null;
      watchers.delete(watcher);
    }
  }

  async #arrive(): Promise<void> {
    await this.#travel();
    if (this.refusal !== null) throw this.refusal;
  }
}
