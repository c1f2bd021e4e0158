import { expect, test } from "bun:test";
import { createTestApp } from "../../support/test-app.ts";

/*
 * Goal: how long a refusal takes says nothing of whether another app has a device of that id. Method: devices of
 * another app and devices that never were are asked for by turns, and the medians of both are compared.
 */

const NOW_MS = Date.UTC(2026, 0, 28, 12);
const ROUNDS = 1500;
const MEDIAN_RATIO_MAX = 1.5;

test("a device of another app is refused in the time of one that never was", async () => {
  const app = await createTestApp({ startMs: NOW_MS });
  const rivals = Array.from({ length: 2000 }, (_, index) => ({
    device_id: `theirs-${index}`,
    timestamp: NOW_MS - index,
    latitude: 53.4,
    longitude: -2.9,
  }));
  await app.store(rivals, "other");
  const headers = { authorization: `Bearer ${app.keys.full}` };
  const times: Record<string, number[]> = { theirs: [], nobodys: [] };
  for (let round = 0; round < ROUNDS; round++) {
    // The two take turns, so that what else the machine does falls on both.
    for (const [whose, all] of Object.entries(times)) {
      const startedMs = performance.now();
      const { status } = await app.fetch(`/api/v1/devices/${whose}-${round}/locations/current`, { headers });
      all.push(performance.now() - startedMs);
      expect(status).toBe(404);
    }
  }
  const medians = Object.values(times).map((all) => all.toSorted((a, b) => a - b)[ROUNDS / 2]!);
  expect(Math.max(...medians) / Math.min(...medians), JSON.stringify(medians)).toBeLessThan(MEDIAN_RATIO_MAX);
});
