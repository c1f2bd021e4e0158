import { expect, test } from "bun:test";
import { DeviceTable } from "../../../../src/web/devices/device-table.ts";
import { activityText, ageText, freshnessOf } from "../../../../src/web/devices/freshness.ts";

const MINUTE_MS = 60_000;
const START_MS = Date.UTC(2026, 10, 21, 12);
/** Degrees of latitude. */
const METER = 1 / 111_195;

/** A van that was seen at these minutes, so many meters north of where it began. */
function vanSeen(reports: readonly { minute: number; meters: number; speed?: number }[]): DeviceTable {
  const table = new DeviceTable();
  for (const { minute, meters, speed } of reports)
    table.update([
      {
        device_id: "van",
        timestamp: START_MS + minute * MINUTE_MS,
        latitude: 42 + meters * METER,
        longitude: 180,
        ...(speed === undefined ? {} : { speed }),
      },
    ]);
  return table;
}

const said = (table: DeviceTable, minute: number) =>
  activityText(table, 0, START_MS + minute * MINUTE_MS, "metric");

test("a device moves as its speed says, and at rest a small speed is none", () => {
  expect(said(vanSeen([{ minute: 0, meters: 0, speed: 10.6 }]), 1)).toBe("38 km/h");
  expect(said(vanSeen([{ minute: 0, meters: 0, speed: 0.4 }]), 1)).toBe("stopped");
});

test("without a speed it moves once it is elsewhere, and stands once it is there for two minutes", () => {
  const first = { minute: 0, meters: 0 };
  expect(said(vanSeen([first]), 1)).toBe("reporting");
  expect(said(vanSeen([first, { minute: 1, meters: 20 }]), 1)).toBe("reporting");
  expect(said(vanSeen([first, { minute: 1, meters: 80 }]), 1)).toBe("moving");
  expect(said(vanSeen([first, { minute: 2, meters: 20 }]), 2)).toBe("stopped");
});

test("since when it stands is said where that was seen", () => {
  const came = { minute: 1, meters: 500, speed: 3 };
  const standing = { minute: 5, meters: 510, speed: 0 };
  expect(said(vanSeen([standing]), 6)).toBe("stopped");
  expect(said(vanSeen([{ minute: 0, meters: 0, speed: 9 }, came, standing]), 6)).toBe("stopped 5 min");
});

test("what has not reported for two minutes is silent, whatever it did", () => {
  expect(said(vanSeen([{ minute: 0, meters: 0, speed: 30 }]), 2)).toBe("silent");
  expect(said(vanSeen([{ minute: 0, meters: 0, speed: 0 }]), 300)).toBe("silent");
});

test("a new edition of the table knows nothing of before, and ±180° is no distance", () => {
  const table = vanSeen([
    { minute: 0, meters: 0 },
    { minute: 1, meters: 90 },
  ]);
  const { timestampMs, latitude, longitude } = table;
  table.fill({
    sequence: 1,
    device_id: ["van"],
    timestamp: [timestampMs[0]!],
    latitude: [latitude[0]!],
    longitude: [longitude[0]!],
  });
  expect(said(table, 1)).toBe("reporting");
  table.update([
    {
      device_id: "van",
      timestamp: START_MS + 1.5 * MINUTE_MS,
      latitude: latitude[0]!,
      longitude: -179.9999,
    },
  ]);
  expect(said(table, 2)).toBe("reporting");
});

test("freshness ends at two minutes and at an hour", () => {
  const ages = [-5 * MINUTE_MS, 0, 2 * MINUTE_MS - 1, 2 * MINUTE_MS, 60 * MINUTE_MS - 1, 60 * MINUTE_MS];
  expect(ages.map((ageMs) => freshnessOf(START_MS - ageMs, START_MS))).toEqual([
    "fresh",
    "fresh",
    "fresh",
    "aging",
    "aging",
    "old",
  ]);
});

test("ages are counted, and a clock that is a little ahead means now", () => {
  expect(ageText(START_MS - 3000, START_MS)).toBe("3 s ago");
  expect(ageText(START_MS + 30_000, START_MS)).toBe("now");
  expect(ageText(START_MS + 26 * 60 * MINUTE_MS, START_MS)).toBe("in 1 day");
});
