import type { Readiness } from "../http/services.ts";
import { assert } from "../lib/assert.ts";
import type { OpenDirectory } from "../open-directory.ts";

/** How far the service is: its directory, once that is open, and what answers and metrics tell of the start. */
export class ServiceState {
  #readiness: Readiness = { status: "starting", replayed: 0, total: 0 };
  #start = { isReady: false, replayedBytes: 0, totalBytes: 0 };
  #directory: OpenDirectory | null = null;

  get readiness(): Readiness {
    return this.#readiness;
  }

  /** In bytes of the log. */
  get start(): { readonly isReady: boolean; readonly replayedBytes: number; readonly totalBytes: number } {
    return this.#start;
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
    this.#start = { ...this.#start, replayedBytes: replayed, totalBytes: total };
  }

  /** Whether the service is ready with it: not where it was told to stop meanwhile. */
  noteOpened(directory: OpenDirectory): boolean {
    this.#directory = directory;
    if (this.#readiness.status !== "starting") return false;
    this.#readiness = { status: "ready" };
    this.#start = { ...this.#start, isReady: true };
    return true;
  }

  noteStopping(): void {
    this.#readiness = { status: "stopping" };
  }
}
