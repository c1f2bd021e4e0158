import { expect, test } from "bun:test";
import { Calendar, dayAt } from "../../../../src/web/time/local-day.ts";
import * as fc from "../../../support/fast-check.ts";

test("a calendar says which day it is, whatever it was asked before", () => {
  const hours = fc.integer({ min: 0, max: 100 }).map((hour) => Date.UTC(2018, 10, 2, hour, 59, 59, 999));
  const zones = fc.constantFrom("UTC", "America/Sao_Paulo", "Pacific/Kiritimati");
  const property = fc.property(fc.array(fc.tuple(hours, zones)), (asked) => {
    const calendar = new Calendar();
    for (const [ms, zone] of asked)
      for (const at of [ms, ms + 1]) expect(calendar.today(zone, at)).toBe(dayAt(at, zone));
  });
  fc.assert(property);
});
