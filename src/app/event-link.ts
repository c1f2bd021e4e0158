import { EVENTS_LEASE_KEY } from "../cluster/buckets.ts";
import type { ClusterNode } from "../cluster/cluster-node.ts";
import { Lease } from "../cluster/lease.ts";
import { systemTimers, type Timers } from "../lib/schedule/timers.ts";
import type { OpenDirectory } from "./directory.ts";

/** What of a node an `EventLink` needs. */
export type LinkedNode = Pick<ClusterNode, "nodesBucket" | "nodeId" | "idPrefix">;

/** Starts what moves the clock of events and sends them. In a cluster only one node does at a time. */
export class EventLink {
  readonly #node: LinkedNode | null;
  readonly #onNote: (note: string) => void;
  readonly #timers: Timers;
  #lease: Lease | null = null;

  /** `node` is null for a single process. */
  constructor(node: LinkedNode | null, onNote: (note: string) => void, timers = systemTimers) {
    this.#node = node;
    this.#onNote = onNote;
    this.#timers = timers;
  }

  open({ lead, watchClock, webhooks }: Pick<OpenDirectory, "lead" | "watchClock" | "webhooks">): void {
    if (this.#node === null || lead === null) {
      watchClock.start();
      webhooks?.delivery.start();
      return;
    }
    const { nodesBucket: bucket, nodeId, idPrefix: processId } = this.#node;
    const lease = new Lease({
      ...{ bucket, key: EVENTS_LEASE_KEY, nodeId, processId, timers: this.#timers },
      onHeld: (term) => lead.begin(term, () => lease.isHeld),
      onLost: () => void lead.end(),
      onElsewhere: () => {},
      onNote: this.#onNote,
    });
    this.#lease = lease;
  }

  /** Leaves the work to other nodes, once the directory is closed. */
  async close(): Promise<void> {
    await this.#lease?.release();
  }
}
