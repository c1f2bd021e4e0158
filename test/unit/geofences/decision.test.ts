import { expect, test } from "bun:test";
import { decideEvents } from "../../../src/geofences/decision.ts";
import type { WatchEvent } from "../../../src/geofences/watch.ts";
import { plainEvents } from "../../reference/fence-events.ts";
import * as fc from "../../support/fast-check.ts";
import { DEVICE, watchCases } from "../../support/geofences/random-watches.ts";

function inOrder(events: readonly WatchEvent[]): WatchEvent[] {
  return events.toSorted((a, b) => a.timestampMs - b.timestampMs || (a.kind < b.kind ? -1 : 1));
}

test("decideEvents() agrees with looking at all records of each stretch of time together", () => {
  fc.assert(
    fc.property(watchCases(60), ({ watch, hours, records, nowMs }) => {
      const expected = plainEvents(watch, hours, DEVICE, records, nowMs);
      expect(inOrder(decideEvents(watch, DEVICE, records, nowMs))).toEqual(inOrder(expected));
    }),
    { numRuns: 10_000 },
  );
});
