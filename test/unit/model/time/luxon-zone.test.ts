import { expect, test } from "bun:test";
import { DateTime } from "luxon";
import { createLuxonZone } from "../../../../src/model/time/luxon-zone.ts";
import { parseZone } from "../../../../src/model/time/zone.ts";

test("createLuxonZone() makes luxon reckon in a zone of the table", () => {
  const noon = DateTime.fromISO("2026-03-28T12:00", { zone: createLuxonZone(parseZone("Europe/Berlin")!) });
  expect(noon.isValid).toBe(true);
  expect(noon.plus({ days: 1 }).toISO()).toBe("2026-03-29T12:00:00.000+02:00");
  expect(noon.plus({ hours: 24 }).toISO()).toBe("2026-03-29T13:00:00.000+02:00");
  expect(noon.toFormat("z ZZZZ ZZ Z")).toBe("Europe/Berlin +01:00 +01:00 +1");
  expect(noon.isInDST).toBe(false);
  expect(noon.plus({ months: 3 }).isInDST).toBe(true);
});

test("createLuxonZone() keeps what luxon doesn't know, and tells zones apart", () => {
  const pst = createLuxonZone(parseZone("PST")!);
  expect(DateTime.fromMillis(Date.UTC(2026, 6, 1), { zone: pst }).toISO()).toBe(
    "2026-06-30T16:00:00.000-08:00",
  );
  expect(pst.isUniversal).toBe(true);
  expect(createLuxonZone(parseZone("Europe/Berlin")!).isUniversal).toBe(false);
  expect(pst.equals(createLuxonZone(parseZone("PST")!))).toBe(true);
  expect(pst.equals(createLuxonZone(parseZone("-08:00")!))).toBe(false);
});
