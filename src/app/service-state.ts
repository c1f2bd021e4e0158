import type { Readiness } from "../http/services.ts";
import { assert } from "../lib/assert.ts";
import type { ClusterMeasures } from "../service/metrics/service-metrics.ts";
import type { OpenDirectory } from "./open-directory.ts";

/** Whoever chooses among nodes had better choose another one: what it shows is that old. */
const LAG_MS_MAX = 10_000;

/** How far the service is: its directory, once that is open, and what answers and metrics tell of the start. */
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

  /** In bytes of the log. */
  get start(): { readonly isReady: boolean; readonly replayedBytes: number; readonly totalBytes: number } {
    return { ...this.#start, isReady: this.readiness.status === "ready" };
  }

  /** Null where this process is alone. */
  get cluster(): ClusterMeasures | null {
    return this.#cluster;
  }

  /** Among how many servers the work is divided. */
  get liveNodes(): number {
    return this.#cluster?.liveCount ?? 1;
  }

  /** This process is a node. Its state is looked at whenever somebody asks. */
  noteCluster(cluster: ClusterMeasures | null): void {
    this.#cluster = cluster;
  }

  /** Null until it is open. */
  get directory(): OpenDirectory | null {
    return this.#directory;
  }

  /** The directory, for whoever comes after the gate. */
  opened(): OpenDirectory {
    assert(this.#directory !== null, "no request passes the gate before the directory is open");
    return this.#directory;
  }

  noteReplayed(replayed: number, total: number): void {
    if (this.#readiness.status === "starting") this.#readiness = { status: "starting", replayed, total };
    this.#start = { replayedBytes: replayed, totalBytes: total };
  }

  /** Whether the service is ready with it: not where it was told to stop meanwhile. */
  noteOpened(directory: OpenDirectory): boolean {
    this.#directory = directory;
    if (this.#readiness.status !== "starting") return false;
    this.#readiness = { status: "ready", lagMs: null };
    return true;
  }

  /** Comes when the service begins to stop. */
  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  noteStopping(): void {
    this.#readiness = { status: "stopping" };
    this.#stopping.abort();
  }
}
