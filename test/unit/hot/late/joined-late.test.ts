import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Device } from "../../../../src/hot/devices/device.ts";
import { JoinedLate } from "../../../../src/hot/late/joined-late.ts";
import { LateOfKeys } from "../../../../src/hot/late/late-sources.ts";
import { MS_PER_MINUTE } from "../../../../src/model/time/units.ts";

/* Windows of several sources together cover a range once, and one without rows says so. */

const RANGE = { startMs: 0, endMs: 10 * MS_PER_MINUTE };
const DEVICE = {} as Device;

const times = fc
  .uniqueArray(
    fc.nat(9).chain((minute) => fc.nat(3).map((ms) => minute * MS_PER_MINUTE + ms)),
    { maxLength: 12 },
  )
  .map((all) => all.sort((a, b) => a - b));

test("cut() gives the windows of a range one after the other, and none with rows says that it is empty", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(times, { minLength: 1, maxLength: 3 }),
      fc.constantFrom("asc" as const, "desc" as const),
      fc.constantFrom(MS_PER_MINUTE, Number.POSITIVE_INFINITY),
      async (ofSources, order, gapMs) => {
        const keys = ofSources.map((of) => of.map((timestampMs) => ({ device: DEVICE, timestampMs })));
        const joined = new JoinedLate(keys.map((of) => new LateOfKeys(of)));
        const all = ofSources.flat();
        let rows = 0;
        for (let rest = RANGE; rest.startMs < rest.endMs; ) {
          const { range, isEmpty } = await joined.cut(rest, order, 3, gapMs);
          expect(order === "asc" ? range.startMs === rest.startMs : range.endMs === rest.endMs).toBe(true);
          expect(range.startMs).toBeLessThan(range.endMs);
          const within = all.filter((timeMs) => timeMs >= range.startMs && timeMs < range.endMs);
          if (isEmpty) expect(within).toEqual([]);
          const found = [...joined.deviceRanges(range)].map(({ startMs }) => startMs);
          expect(found.toSorted((a, b) => a - b)).toEqual(within.toSorted((a, b) => a - b));
          rows += found.length;
          rest = order === "asc" ? { ...rest, startMs: range.endMs } : { ...rest, endMs: range.startMs };
        }
        expect(rows).toBe(all.length);
        expect(joined.days(RANGE)).toHaveLength(all.length === 0 ? 0 : 1);
      },
    ),
  );
});
