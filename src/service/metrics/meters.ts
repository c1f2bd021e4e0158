import { msToNextStep, systemTimers } from "../../lib/schedule/timers.ts";

/*
 * Counts since the start: requests, reports, durations, and how late the event loop is.
 */

/** Counters and histograms; gauges are read from the stores. */
export interface Meters {
  readonly requests: RequestMeter;
  /** Reports by result. */
  readonly reports: { accepted: number; duplicates: number; rejected: number };
  /** Refused batches by reason. */
  readonly refusals: Map<string, number>;
  readonly log: { readonly syncs: Durations; writtenBytes: number; entries: number };
  readonly viewers: ViewerCounts;
  readonly seals: { readonly durations: Durations; failed: number; records: number };
}

/** Events sent to viewers of the live stream, and refused viewers. */
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
 * Durations in buckets like Prometheus' histograms. Counting takes a few instructions; a histogram of the client
 * library would take 2 % of a short answer's time.
 */
export class Durations {
  /** Upper bounds of the buckets in seconds, ascending; longer durations are counted in a last bucket. */
  readonly boundsSeconds: readonly number[];
  /** The count of each bucket alone; the last one exceeds all bounds. */
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

/** From a page out of memory to a slow query of the archive. */
const ANSWER_BOUNDS_SECONDS = [
  0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];

/** From a disk with its own cache to one that is about to fail. */
const SYNC_BOUNDS_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

const SEAL_BOUNDS_SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900];

/** Timers are never more precise than a millisecond or two. */
export const DELAY_BOUNDS_SECONDS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

/** Counts the answers of one route. */
export interface RouteMeter {
  readonly method: string;
  /** As declared, `/api/v1/devices/:deviceId/locations/current`: never text from a client. */
  readonly path: string;
  /** A request has arrived. */
  begin(): void;
  /** It is answered, `durationMs` after its arrival. */
  end(status: number, durationMs: number): void;
}

export interface CountedRoute {
  readonly method: string;
  readonly path: string;
  readonly durations: Durations;
  /** Answers by status. */
  readonly statuses: ReadonlyMap<number, number>;
}

/** Counts requests by route and status, and the time until their answers. */
export class RequestMeter {
  readonly routes: CountedRoute[] = [];
  /** Requests without an answer yet. */
  inFlight = 0;
  /** Called when a request begins. */
  onBegin = (): void => undefined;

  route(method: string, path: string): RouteMeter {
    const durations = new Durations(ANSWER_BOUNDS_SECONDS);
    const statuses = new Map<number, number>();
    this.routes.push({ method, path, durations, statuses });
    return {
      method,
      path,
      begin: () => {
        this.inFlight++;
        this.onBegin();
      },
      end: (status, durationMs) => {
        this.inFlight--;
        durations.add(durationMs);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      },
    };
  }
}

/** How late timers fire: the time that every request waits before it is handled. */
export interface EventLoopMeter {
  readonly delays: Durations;
  /** The longest delay in milliseconds since the last call, including one that is still going on. */
  takeLongestMs(): number;
  /** Looks closely from now on: a request has begun. */
  noteWork(): void;
  stop(): void;
}

/**
 * Interval of the checks. A longer delay is seen, and measured up to this much too short, since it may begin right
 * after a check.
 */
const LOOK_MS = 10;

/** Each check wakes an idle process: a second after the last request, they come at this interval. */
const REST_MS = 1000;
const LOOKS_TO_REST = 100;

/** No request takes this long, so the machine or the program has a problem. */
const HELD_UP_MS = 1000;

/** Calls `onHeldUp` after every delay of more than a second. */
export function watchEventLoop(onHeldUp: (delayMs: number) => void, timers = systemTimers): EventLoopMeter {
  const delays = new Durations(DELAY_BOUNDS_SECONDS);
  let looksToRest = LOOKS_TO_REST;
  let longestMs = 0;
  let dueMs = 0;
  let cancel = (): void => undefined;

  function look(): void {
    const delayMs = Math.max(0, timers.nowMs() - dueMs);
    delays.add(delayMs);
    longestMs = Math.max(longestMs, delayMs);
    if (delayMs > HELD_UP_MS) onHeldUp(delayMs);
    if (looksToRest > 0) looksToRest--;
    lookLater();
  }

  function lookLater(): void {
    const isResting = looksToRest === 0;
    const intervalMs = isResting ? msToNextStep(timers, REST_MS) : LOOK_MS;
    dueMs = timers.nowMs() + intervalMs;
    cancel = timers.after(intervalMs, look);
  }

  lookLater();
  return {
    delays,
    takeLongestMs() {
      const delayMs = Math.max(longestMs, timers.nowMs() - dueMs);
      longestMs = 0;
      return delayMs;
    },
    noteWork() {
      const isResting = looksToRest === 0;
      looksToRest = LOOKS_TO_REST;
      if (!isResting || timers.nowMs() >= dueMs) return; // A check that is late is about to be made.
      cancel();
      lookLater();
    },
    stop: () => cancel(),
  };
}
