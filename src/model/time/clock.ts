/** The source of the time of day; tests set it by hand. */
export interface Clock {
  nowMs(): number;
}

export const systemClock: Clock = { nowMs: () => Date.now() };

export interface ManualClock extends Clock {
  set(nowMs: number): void;
  advance(byMs: number): void;
}

export function createManualClock(startMs: number): ManualClock {
  let nowMs = startMs;
  return {
    nowMs: () => nowMs,
    set: (toMs) => {
      nowMs = toMs;
    },
    advance: (byMs) => {
      nowMs += byMs;
    },
  };
}
