import { expect, test } from "bun:test";
import { Cards } from "../../../../../src/service/ingest/messages/friends-of-app.ts";

const HOUR_MS = 3_600_000;

test("of a crowd that asks, some are told names, and the others once those have been silent for an hour", () => {
  const cards = new Cards();
  const told = (nowMs: number, from: number, to: number) => {
    let count = 0;
    for (let asker = from; asker < to; asker++) if (cards.isDue(`asker${asker}`, "bus", nowMs)) count++;
    return count;
  };
  expect(told(0, 0, 2000)).toBe(1000);
  expect(told(HOUR_MS - 1, 0, 2000)).toBe(0);
  expect(told(HOUR_MS, 1000, 2000)).toBe(1000);
  expect(told(HOUR_MS, 0, 1000)).toBe(0);
});
