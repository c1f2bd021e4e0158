import { isNodeKey } from "./buckets.ts";
import { encodeNodeStatus, type NodeStatus, parseNodeStatus } from "./node-status.ts";
import type { Bucket, BucketEntry, Stream } from "./stream/stream.ts";

/** A node is live if it has published its status this recently; it does so every few seconds. */
const LIVE_MS = 30_000;

interface SeenNode {
  readonly revision: number;
  /** When it last published, by the servers' clock. */
  readonly writtenMs: number;
  /** Null if this program can't read it. */
  readonly status: NodeStatus | null;
  /** When we first saw this revision, by our monotonic clock. */
  seenMs: number;
}

/** The nodes of a cluster, by the status that each publishes. */
export class Nodes {
  readonly #bucket: Bucket;
  readonly #ownId: string;
  readonly #monotonicMs: () => number;
  readonly #seen = new Map<string, SeenNode>();
  #ownProcess = "";
  /** The process of the status that was stored under our id before we published. */
  #formerProcess: string | null = null;
  /** The last other process that was seen under our id. */
  #strangerProcess: string | null = null;
  #strangerRevision = 0;
  #readMs = Number.NEGATIVE_INFINITY;
  #impostor: NodeStatus | null = null;

  constructor(bucket: Bucket, ownId: string, monotonicMs = () => performance.now()) {
    this.#bucket = bucket;
    this.#ownId = ownId;
    this.#monotonicMs = monotonicMs;
  }

  /** Publishes this node's status. Rejects with a `StreamError`. */
  async publish(status: NodeStatus): Promise<void> {
    if (this.#ownProcess === "") this.#formerProcess = this.#seen.get(this.#ownId)?.status?.process ?? null;
    this.#ownProcess = status.process;
    await this.#bucket.put(this.#ownId, encodeNodeStatus(status));
  }

  /** Another process that publishes under this node's id. It must be seen twice: an old status may arrive late. */
  get impostor(): NodeStatus | null {
    return this.#impostor;
  }

  /** Whether an older process of this node has published. This one then keeps silent, to not appear as an impostor. */
  get isOlderSeen(): boolean {
    return this.#strangerProcess !== null && this.#strangerProcess === this.#formerProcess;
  }

  /** Reads the status of all nodes. Rejects with a `StreamError`; the known state stays then. */
  async read(): Promise<void> {
    const entries = (await this.#bucket.entries()).filter(({ key }) => isNodeKey(key));
    const ids = new Set(entries.map(({ key }) => key));
    for (const id of this.#seen.keys()) if (!ids.has(id)) this.#seen.delete(id);
    for (const entry of entries) this.#note(entry);
    const nowMs = this.#monotonicMs();
    // After a pause this process does not know who published in the meantime, so all get a new deadline.
    if (nowMs - this.#readMs > LIVE_MS) for (const seen of this.#seen.values()) seen.seenMs = nowMs;
    this.#readMs = nowMs;
  }

  /** The number of live nodes, including this one. */
  get liveCount(): number {
    const sinceMs = this.#monotonicMs() - LIVE_MS;
    let count = 1;
    for (const [id, { seenMs, status }] of this.#seen)
      if (id !== this.#ownId && seenMs >= sinceMs && status?.isUp !== false) count++;
    return count; // Called for every request, so it allocates no list.
  }

  /**
   * Removes nodes that have been silent for `timeoutMs`, and returns their ids. Messages that they need may be purged
   * from then on. Either this process has seen no news of them for that long, or two clocks agree, the servers' and its
   * own: one clock that is ahead is not enough. Rejects with a `StreamError`.
   */
  async forgetAway(ownNowMs: number, timeoutMs: number): Promise<string[]> {
    const nowMs = this.#monotonicMs();
    const serverNowMs = this.#seen.get(this.#ownId)?.writtenMs ?? 0; // This node published seconds ago.
    const away = [...this.#seen].filter(([id, { seenMs, writtenMs, status }]) => {
      if (id === this.#ownId || status === null || nowMs - seenMs <= LIVE_MS) return false;
      const clocksAgree = serverNowMs - writtenMs > timeoutMs && ownNowMs - status.atMs > timeoutMs;
      return clocksAgree || nowMs - seenMs > timeoutMs;
    });
    for (const [id] of away) {
      await this.#bucket.delete(id);
      this.#seen.delete(id);
    }
    return away.map(([id]) => id);
  }

  /**
   * When messages are purged at the latest that no live node needs from `archivedMs` on: one that goes away before
   * holds them until it is forgotten. Null if a status is unreadable, since nothing is purged then.
   */
  purgedByMs(archivedMs: number, timeoutMs: number): number | null {
    for (const [id, { status }] of this.#seen) if (id !== this.#ownId && status === null) return null;
    return archivedMs + timeoutMs + LIVE_MS;
  }

  /** The first message that any node needs, at most `own`; 0, which purges nothing, if a status is unreadable. */
  floor(own: number): number {
    let floor = own;
    for (const [id, { status }] of this.#seen) {
      if (id !== this.#ownId) floor = Math.min(floor, status?.floor ?? 0);
    }
    return floor;
  }

  #note({ key, value, revision, writtenMs }: BucketEntry): void {
    if (this.#seen.get(key)?.revision === revision) return;
    const status = parseNodeStatus(value);
    this.#seen.set(key, { revision, writtenMs, status, seenMs: this.#monotonicMs() });
    if (key !== this.#ownId || status === null || this.#ownProcess === "") return;
    // The last status of a stopping process is no conflict.
    if (status.process !== this.#ownProcess && status.isUp) this.#meet(status, revision);
  }

  #meet(stranger: NodeStatus, revision: number): void {
    if (revision <= this.#strangerRevision) return; // A lagging server repeats an old status.
    if (stranger.process === this.#strangerProcess) this.#impostor = stranger;
    this.#strangerProcess = stranger.process;
    this.#strangerRevision = revision;
  }
}

/** Purges messages that no node needs. */
export class Purging {
  readonly #stream: Stream;
  #purgedBefore = 0;

  constructor(stream: Stream) {
    this.#stream = stream;
  }

  /** `floor` is the first message that any node needs. Rejects with a `StreamError`. */
  async purge(floor: number): Promise<void> {
    if (floor <= this.#purgedBefore) return;
    await this.#stream.purgeBefore(floor);
    this.#purgedBefore = floor;
  }
}
