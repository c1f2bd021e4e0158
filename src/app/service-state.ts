import type { Readiness } from "../http/services.ts";
import { assert } from "../lib/assert.ts";
import type { ClusterMeasures } from "../service/metrics/service-metrics.ts";
import type { OpenDirectory } from "./directory.ts";

/** A load balancer should choose another node once this one's data is this old. */
const LAG_MS_MAX = 10_000;

/** The state of the service: its directory once that is open, and the progress of the start. */
export class ServiceState {
  #readiness: Readiness = { status: "starting", replayed: 0, total: 0 };
  #start = { replayedBytes: 0, totalBytes: 0 };
  readonly #stopping = new AbortController();
  #directory: OpenDirectory | null = null;
  #cluster: ClusterMeasures | null = null;

  get readiness(): Readiness {
    if (this.#readiness.status !== "ready" || this.#cluster === null) return this.#readiness;
    const { lagMs } = this.#cluster;
    return lagMs !== null && lagMs > LAG_MS_MAX ? { status: "lagging", lagMs } : { status: "ready", lagMs };
  }

  get start(): { readonly isReady: boolean; readonly replayedBytes: number; readonly totalBytes: number } {
    return { ...this.#start, isReady: this.readiness.status === "ready" };
  }

  /** Null for a single process. */
  get cluster(): ClusterMeasures | null {
    return this.#cluster;
  }

  /** The number of servers that share the work. */
  get liveNodes(): number {
    return this.#cluster?.liveCount ?? 1;
  }

  /** Makes this process a node, whose state is read on demand. */
  noteCluster(cluster: ClusterMeasures | null): void {
    this.#cluster = cluster;
  }

  /** Null until the directory is open. */
  get directory(): OpenDirectory | null {
    return this.#directory;
  }

  /** The directory, for requests that have passed the readiness gate. */
  opened(): OpenDirectory {
    assert(this.#directory !== null, "no request passes the gate before the directory is open");
    return this.#directory;
  }

  noteReplayed(replayed: number, total: number): void {
    if (this.#readiness.status === "starting") this.#readiness = { status: "starting", replayed, total };
    this.#start = { replayedBytes: replayed, totalBytes: total };
  }

  /** Returns whether the service is ready with it; false if it began to stop meanwhile. */
  noteOpened(directory: OpenDirectory): boolean {
    this.#directory = directory;
    if (this.#readiness.status !== "starting") return false;
    this.#readiness = { status: "ready", lagMs: null };
    return true;
  }

  /** Aborts when the service begins to stop. */
  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  noteStopping(): void {
    this.#readiness = { status: "stopping" };
    this.#stopping.abort();
  }
}
