import { isNodeKey } from "./buckets.ts";
import { encodeNodeStatus, type NodeStatus, parseNodeStatus } from "./node-status.ts";
import type { Bucket, BucketEntry, Stream } from "./stream/stream.ts";

/** A node is live while it has told of itself so recently; it does so every few seconds. */
const LIVE_MS = 30_000;

interface SeenNode {
  readonly revision: number;
  /** When it last told something, by the clock of the servers. */
  readonly writtenMs: number;
  /** Null where this program can't read it. */
  readonly status: NodeStatus | null;
  /** When it last told something new, by our clock that no setting moves. */
  seenMs: number;
}

/** All nodes of a cluster, as each tells of itself. */
export class Nodes {
  readonly #bucket: Bucket;
  readonly #ownId: string;
  readonly #monotonicMs: () => number;
  readonly #seen = new Map<string, SeenNode>();
  #ownProcess = "";
  /** Of what was told under our own name before we did. */
  #formerProcess: string | null = null;
  /** The last other process that was seen under our own name. */
  #strangerProcess: string | null = null;
  #strangerRevision = 0;
  #readMs = Number.NEGATIVE_INFINITY;
  #impostor: NodeStatus | null = null;

  constructor(bucket: Bucket, ownId: string, monotonicMs = () => performance.now()) {
    this.#bucket = bucket;
    this.#ownId = ownId;
    this.#monotonicMs = monotonicMs;
  }

  /** Rejects with a `StreamError`. */
  async tell(status: NodeStatus): Promise<void> {
    if (this.#ownProcess === "") this.#formerProcess = this.#seen.get(this.#ownId)?.status?.process ?? null;
    this.#ownProcess = status.process;
    await this.#bucket.put(this.#ownId, encodeNodeStatus(status));
  }

  /**
   * Another process that tells of itself under this node's name; null where there is none. It was seen to do so twice:
   * what this node's former process told last may come late, from a server that stood still.
   */
  get impostor(): NodeStatus | null {
    return this.#impostor;
  }

  /**
   * Whether a process that was there before this one has told of itself since. It is the one to go on, if it lives:
   * who keeps silent now is not taken for an impostor by it.
   */
  get isOlderSeen(): boolean {
    return this.#strangerProcess !== null && this.#strangerProcess === this.#formerProcess;
  }

  /** Takes in what the others tell. Rejects with a `StreamError`; what is known stays then. */
  async read(): Promise<void> {
    const entries = (await this.#bucket.entries()).filter(({ key }) => isNodeKey(key));
    const ids = new Set(entries.map(({ key }) => key));
    for (const id of this.#seen.keys()) if (!ids.has(id)) this.#seen.delete(id);
    for (const entry of entries) this.#note(entry);
    const nowMs = this.#monotonicMs();
    // Who could not look for a while has not seen who told of itself meanwhile.
    if (nowMs - this.#readMs > LIVE_MS) for (const seen of this.#seen.values()) seen.seenMs = nowMs;
    this.#readMs = nowMs;
  }

  /** How many share the work now, with this one. */
  get liveCount(): number {
    const sinceMs = this.#monotonicMs() - LIVE_MS;
    let count = 1;
    for (const [id, { seenMs, status }] of this.#seen)
      if (id !== this.#ownId && seenMs >= sinceMs && status?.isUp !== false) count++;
    return count; // Every request asks, so no list is made of them.
  }

  /**
   * Forgets nodes that have told nothing for so long, and says which. What they need of the stream may be purged from
   * then on. Either this process has seen nothing new of them for all that time, or two clocks say so, the servers' and
   * its own: one that is ahead is no reason. Rejects with a `StreamError`.
   */
  async forgetAway(ownNowMs: number, timeoutMs: number): Promise<string[]> {
    const nowMs = this.#monotonicMs();
    const serverNowMs = this.#seen.get(this.#ownId)?.writtenMs ?? 0; // It told of itself seconds ago.
    const away = [...this.#seen].filter(([id, { seenMs, writtenMs, status }]) => {
      if (id === this.#ownId || status === null || nowMs - seenMs <= LIVE_MS) return false;
      const tellsOfAge = serverNowMs - writtenMs > timeoutMs && ownNowMs - status.atMs > timeoutMs;
      return tellsOfAge || nowMs - seenMs > timeoutMs;
    });
    for (const [id] of away) {
      await this.#bucket.delete(id);
      this.#seen.delete(id);
    }
    return away.map(([id]) => id);
  }

  /**
   * The first message of a stream that any of the others needs, and `own` at most. 0, which purges nothing, where one
   * of them can't be read: a newer program wrote it.
   */
  floor(of: "floor" | "quarantineFloor", own: number): number {
    let floor = own;
    for (const [id, { status }] of this.#seen) {
      if (id !== this.#ownId) floor = Math.min(floor, status?.[of] ?? 0);
    }
    return floor;
  }

  #note({ key, value, revision, writtenMs }: BucketEntry): void {
    if (this.#seen.get(key)?.revision === revision) return;
    const status = parseNodeStatus(value);
    this.#seen.set(key, { revision, writtenMs, status, seenMs: this.#monotonicMs() });
    if (key !== this.#ownId || status === null || this.#ownProcess === "") return;
    // What it says as it stops is no reason for another to stop.
    if (status.process !== this.#ownProcess && status.isUp) this.#meet(status, revision);
  }

  #meet(stranger: NodeStatus, revision: number): void {
    if (revision <= this.#strangerRevision) return; // A server that lags tells it once more.
    if (stranger.process === this.#strangerProcess) this.#impostor = stranger;
    this.#strangerProcess = stranger.process;
    this.#strangerRevision = revision;
  }
}

/** Removes from a stream what nobody needs any more. */
export class Purging {
  readonly #stream: Stream;
  readonly #leftBytes: number;
  #purgedBefore = 0;

  /** A stream of so many bytes is left as it is, or of a quarter of what it may have. */
  constructor(stream: Stream, leftBytes: number) {
    this.#stream = stream;
    this.#leftBytes = leftBytes;
  }

  /** All of them need what begins with this message. Rejects with a `StreamError`. */
  async purge(floor: number): Promise<void> {
    if (floor <= this.#purgedBefore) return;
    if (this.#leftBytes > 0) {
      const { bytes, bytesMax } = await this.#stream.state();
      if (bytes <= Math.min(this.#leftBytes, bytesMax / 4)) return;
    }
    await this.#stream.purgeBefore(floor);
    this.#purgedBefore = floor;
  }
}
