import { Durations, SEAL_BOUNDS_SECONDS, SYNC_BOUNDS_SECONDS } from "./durations.ts";
import { RequestMeter } from "./request-meter.ts";

/** What the service counts since it started; what it holds at the moment is asked of the stores. */
export interface Meters {
  readonly requests: RequestMeter;
  /** Reports by what became of them. */
  readonly reports: { accepted: number; duplicates: number; rejected: number };
  /** Batches that were refused, by the reason's name. */
  readonly refusals: Map<string, number>;
  readonly log: { readonly syncs: Durations; writtenBytes: number; entries: number };
  readonly viewers: ViewerCounts;
  readonly seals: { readonly durations: Durations; failed: number; records: number };
}

/** What viewers of the live stream were told, and how many were refused. */
export interface ViewerCounts {
  events: number;
  resets: number;
  refused: number;
}

export function createMeters(): Meters {
  return {
    requests: new RequestMeter(),
    reports: { accepted: 0, duplicates: 0, rejected: 0 },
    refusals: new Map(),
    log: { syncs: new Durations(SYNC_BOUNDS_SECONDS), writtenBytes: 0, entries: 0 },
    viewers: { events: 0, resets: 0, refused: 0 },
    seals: { durations: new Durations(SEAL_BOUNDS_SECONDS), failed: 0, records: 0 },
  };
}
