import { describe, expect, test } from "bun:test";
import { browserZone, ZoneChoice, zonesWith } from "../../../../src/web/time/zone-choice.ts";

/** A zone that is not the browser's. */
const OTHER = browserZone() === "Asia/Tokyo" ? "America/New_York" : "Asia/Tokyo";

function setUp(remembered: string | null = null) {
  const memory = {
    values: { zone: remembered },
    set: (change: { zone: string | null }) => {
      memory.values = change;
    },
  };
  const count = { changes: 0 };
  return { memory, count, choice: new ZoneChoice(memory, () => count.changes++) };
}

describe("the zone", () => {
  test("is the browser's until the address names another, which is not remembered", () => {
    const { memory, count, choice } = setUp();
    expect([choice.zone, choice.isChosen, choice.isAutomatic]).toEqual([browserZone(), false, true]);
    choice.set(OTHER);
    choice.set(OTHER);
    expect([choice.zone, choice.isChosen, choice.isAutomatic, count.changes]).toEqual([
      OTHER,
      true,
      false,
      1,
    ]);
    choice.set(null);
    expect([choice.zone, choice.isChosen, count.changes, memory.values.zone]).toEqual([
      browserZone(),
      false,
      2,
      null,
    ]);
  });

  test("is remembered if the user chooses it, until it is automatic again", () => {
    const { memory, count, choice } = setUp();
    choice.choose(OTHER);
    expect([choice.zone, choice.isAutomatic, memory.values.zone, count.changes]).toEqual([
      OTHER,
      false,
      OTHER,
      1,
    ]);
    const next = setUp(OTHER).choice;
    expect([next.zone, next.isChosen]).toEqual([OTHER, true]);
    choice.choose(null);
    expect([choice.zone, choice.isAutomatic, memory.values.zone]).toEqual([browserZone(), true, null]);
  });

  test("of the address goes before the remembered one, and stays in the address", () => {
    const { memory, choice } = setUp(OTHER);
    choice.set(browserZone());
    expect([choice.zone, choice.isChosen, choice.isAutomatic, memory.values.zone]).toEqual([
      browserZone(),
      true,
      false,
      OTHER,
    ]);
    choice.set(null);
    expect(choice.zone).toBe(OTHER);
  });

  test("stays if a text names none, also in the memory", () => {
    const { choice } = setUp();
    choice.set("Europe/Berlin");
    for (const text of ["Mars/Olympus", "", "Europe/Berlin "]) choice.set(text);
    expect(choice.zone).toBe("Europe/Berlin");
    expect(setUp("Mars/Olympus").choice.zone).toBe(browserZone());
  });
});

test("the list has all zones, UTC and the chosen one among them, once each", () => {
  const zones = zonesWith("Etc/GMT+5");
  for (const zone of ["UTC", "Etc/GMT+5", "Europe/Berlin"]) expect(zones).toContain(zone);
  expect(new Set(zones).size).toBe(zones.length);
});
