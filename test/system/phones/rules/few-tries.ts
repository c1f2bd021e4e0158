import type { Point } from "../phone/point.ts";
import { isSuccess, type Rule, type Sending } from "./rule.ts";

const AT_ONCE_MAX = 20;

/** A few tries for each point on its own, and then it is gone. */
export function fewTries(pausesMs: readonly number[]): Rule {
  return async (phone) => {
    for (;;) {
      const points = (await phone.waiting()).slice(0, AT_ONCE_MAX);
      await Promise.all(
        points.map(async (point) => {
          if (!(await trySome(phone, point, pausesMs)))
            phone.lose([point], `given up after ${pausesMs.length + 1} tries`);
        }),
      );
    }
  };
}

/** Every so often a whole file once more, the rows that went through before as well; its rows stay in it. */
export function wholeFile(everyMs: number, rows: number, pausesMs: readonly number[]): Rule {
  return async (phone) => {
    for (;;) {
      await phone.pause(everyMs);
      const late = await phone.waiting();
      const file = new Set([...late, ...phone.madeLast(rows)]);
      for (const point of file) await trySome(phone, point, pausesMs);
    }
  };
}

async function trySome(phone: Sending, point: Point, pausesMs: readonly number[]): Promise<boolean> {
  for (const pauseMs of [...pausesMs, null]) {
    if (isSuccess(await phone.send([point]))) {
      phone.take([point]);
      return true;
    }
    if (pauseMs !== null) await phone.pause(pauseMs);
  }
  return false;
}
