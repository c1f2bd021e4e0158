import { type Bucket, type BucketEntry, StreamError } from "../../../src/cluster/stream/stream.ts";
import { turns } from "../turns.ts";

type Watcher = (key: string, entry: BucketEntry | null) => void;

/** Values that several simulated nodes share, as JetStream's buckets count them: one row of revisions for all keys. */
export class SimulatedValues {
  readonly entries = new Map<string, BucketEntry>();
  readonly watchers = new Set<Watcher>();
  /** The clock of the servers. */
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

/** The bucket as one node reaches it, with what can go wrong on the way. */
export class SimulatedBucket implements Bucket {
  readonly values: SimulatedValues;
  valueBytesMax = 1024 * 1024;
  /** What every call is refused with; null where all is well. */
  refusal: StreamError | null = null;
  /** So many updates are done and not answered. */
  lostAnswers = 0;
  /** So many updates come when somebody else has just written the same key anew. */
  conflicts = 0;
  /** Asked for a value, servers answer with this instead: one of them lags. */
  readonly stale = new Map<string, BucketEntry | null>();
  /** Watches are told nothing, and don't end. */
  isMute = false;
  gets = 0;
  updates = 0;
  #unanswered = 0;
  #breakWatch: ((error: StreamError) => void) | null = null;

  readonly #travel: () => Promise<void>;

  /** `travel` passes as long as a request takes at least. */
  constructor(values: SimulatedValues = new SimulatedValues(), travel = () => turns(1)) {
    this.values = values;
    this.#travel = travel;
  }

  get watches(): boolean {
    return this.#breakWatch !== null;
  }

  /** Nobody answers, and watches end. */
  cut(): void {
    this.refusal = new StreamError("unreachable", "no server answers");
    this.#breakWatch?.(this.refusal);
  }

  /** Resolves once every value that was asked for has been answered, and its reader has the answer. */
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
