import { type Judge, type Rule, settle } from "./rule.ts";

export interface InOrder {
  readonly judge: Judge;
  /** After so many failures in a row, from 1. */
  pauseMs(failures: number): number;
  /** Between points that went well. */
  readonly gapMs?: number;
  /** Whether a new point ends a pause early. */
  readonly wakes?: boolean;
}

/** The oldest point alone, until it is off the queue; then the next. Whatever stays there holds up all behind it. */
export function inOrder({ judge, pauseMs, gapMs = 0, wakes = false }: InOrder): Rule {
  return async (phone) => {
    for (let failures = 0; ; ) {
      const [oldest] = await phone.waiting();
      if (settle(phone, oldest!, judge(await phone.send([oldest!]), oldest!))) {
        failures = 0;
        await phone.pause(gapMs);
      } else {
        failures++;
        await (wakes ? phone.untilNextPoint : phone.pause)(pauseMs(failures));
      }
    }
  };
}

/** First, doubled with each failure, up to a maximum. */
export function doubling(firstMs: number, maximumMs: number): (failures: number) => number {
  return (failures) => Math.min(firstMs * 2 ** (failures - 1), maximumMs);
}
