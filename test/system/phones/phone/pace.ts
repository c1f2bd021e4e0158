/** How much faster than life it goes, so that a phone's minutes are seconds of a run. */
export interface Pace {
  readonly times: number;
  /** What a phone's pause takes here. */
  pauseMs(phoneMs: number): number;
  /** How long a phone waits here for an answer: less shortened, since the server is as fast as ever. */
  timeoutMs(phoneMs: number): number;
  /** Since the run began. */
  elapsedMs(): number;
}

const TIMEOUTS_TIMES = 4;

export function createPace(times: number): Pace {
  const startedMs = performance.now();
  return {
    times,
    pauseMs: (phoneMs) => phoneMs / times,
    timeoutMs: (phoneMs) => phoneMs / TIMEOUTS_TIMES,
    elapsedMs: () => performance.now() - startedMs,
  };
}
