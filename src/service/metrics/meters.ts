import { systemTimers } from "../../lib/schedule/timers.ts";

/*
 * What the service counts since it started: requests, reports, durations, and how late the event loop is.
 */

/** What is counted; what the service holds at the moment is asked of the stores. */
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

/**
 * How long things took, counted in buckets as Prometheus' histograms are. Counting is a few instructions: of a short
 * answer's time, a histogram of the client library takes 2 %.
 */
export class Durations {
  /** Upper bounds of the buckets in seconds, rising; what is longer is counted behind the last. */
  readonly boundsSeconds: readonly number[];
  /** Of each bucket alone, and last of what exceeds all bounds. */
  readonly counts: Float64Array;
  sumSeconds = 0;

  constructor(boundsSeconds: readonly number[]) {
    this.boundsSeconds = boundsSeconds;
    this.counts = new Float64Array(boundsSeconds.length + 1);
  }

  add(durationMs: number): void {
    const seconds = durationMs / 1000;
    const bounds = this.boundsSeconds;
    let bucket = 0;
    while (bucket < bounds.length && seconds > bounds[bucket]!) bucket++;
    this.counts[bucket]!++;
    this.sumSeconds += seconds;
  }
}

/** From a page out of memory to a query of the archive that takes its time. */
const ANSWER_BOUNDS_SECONDS = [
  0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];

/** From a disk with a cache of its own to one that is about to fail. */
const SYNC_BOUNDS_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

const SEAL_BOUNDS_SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900];

/** A timer that is on time within a millisecond or two is as good as it gets. */
export const DELAY_BOUNDS_SECONDS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

/** Counts the answers of one route. */
export interface RouteMeter {
  readonly method: string;
  /** As it is declared, `/api/v1/devices/:deviceId/locations/current`: never what a client sent. */
  readonly path: string;
  /** A request came in. */
  begin(): void;
  /** It is answered, `durationMs` after it came in. */
  end(status: number, durationMs: number): void;
}

export interface CountedRoute {
  readonly method: string;
  readonly path: string;
  readonly durations: Durations;
  /** Answers by status. */
  readonly statuses: ReadonlyMap<number, number>;
}

/** Counts requests by route and status, and how long their answers took to make. */
export class RequestMeter {
  readonly routes: CountedRoute[] = [];
  /** Requests that came in and are not answered yet. */
  inFlight = 0;

  route(method: string, path: string): RouteMeter {
    const durations = new Durations(ANSWER_BOUNDS_SECONDS);
    const statuses = new Map<number, number>();
    this.routes.push({ method, path, durations, statuses });
    return {
      method,
      path,
      begin: () => {
        this.inFlight++;
      },
      end: (status, durationMs) => {
        this.inFlight--;
        durations.add(durationMs);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      },
    };
  }
}

/** How late timers fire: what every request waits before anything is done for it. */
export interface EventLoopMeter {
  readonly delays: Durations;
  /** The longest delay since this was last asked, in milliseconds; one that is not over yet counts as far as it got. */
  takeLongestMs(): number;
  stop(): void;
}

/**
 * How often to look: whatever holds the loop for longer is seen, and told up to this much too short, since it may begin
 * right after a look. Each look wakes an idle process, so looking twice as often would cost a percent of a core.
 */
const LOOK_MS = 10;

/** Longer than anything that requests do by themselves: something is wrong with the machine, or with us. */
const HELD_UP_MS = 1000;

/** `onHeldUp` hears of every wait of more than a second, when it is over. */
export function watchEventLoop(onHeldUp: (delayMs: number) => void, timers = systemTimers): EventLoopMeter {
  const delays = new Durations(DELAY_BOUNDS_SECONDS);
  let cancel = timers.after(LOOK_MS, look);
  let dueMs = timers.nowMs() + LOOK_MS;
  let longestMs = 0;

  function look(): void {
    const nowMs = timers.nowMs();
    const delayMs = Math.max(0, nowMs - dueMs);
    delays.add(delayMs);
    longestMs = Math.max(longestMs, delayMs);
    if (delayMs > HELD_UP_MS) onHeldUp(delayMs);
    dueMs = nowMs + LOOK_MS;
    cancel = timers.after(LOOK_MS, look);
  }

  return {
    delays,
    takeLongestMs() {
      const taken = Math.max(longestMs, timers.nowMs() - dueMs);
      longestMs = 0;
      return taken;
    },
    stop: () => cancel(),
  };
}
