import { expect, test } from "bun:test";
import { browserZone, ZoneChoice, zonesWith } from "../../../../src/web/time/zone-choice.ts";

test("the zone is the browser's until another is chosen", () => {
  let changes = 0;
  const choice = new ZoneChoice(() => changes++);
  expect(choice.zone).toBe(browserZone());
  choice.set("America/New_York");
  choice.set("America/New_York");
  expect([choice.zone, choice.isChosen, changes]).toEqual(["America/New_York", true, 1]);
  choice.set(null);
  expect([choice.zone, choice.isChosen, changes]).toEqual([browserZone(), false, 2]);
});

test("what names no zone changes nothing", () => {
  const choice = new ZoneChoice(() => undefined);
  choice.set("Europe/Berlin");
  for (const text of ["Mars/Olympus", "", "Europe/Berlin "]) choice.set(text);
  expect(choice.zone).toBe("Europe/Berlin");
});

test("the list has all zones, UTC and the chosen one among them, once each", () => {
  const zones = zonesWith("Etc/GMT+5");
  for (const zone of ["UTC", "Etc/GMT+5", "Europe/Berlin"]) expect(zones).toContain(zone);
  expect(new Set(zones).size).toBe(zones.length);
});
