import { describe, expect, test } from "bun:test";
import type { ClientPoint } from "../../../../../src/clients/point.ts";
import type { Blocks } from "../../../../../src/directory/erasure-ledger.ts";
import type { AppId } from "../../../../../src/model/ids.ts";
import { numberIndex } from "../../../../../src/model/location-fields.ts";
import { DEFAULT_RETENTION } from "../../../../../src/model/time/retention.ts";
import { PointCollector } from "../../../../../src/service/ingest/messages/point-collector.ts";
import { blocksOf, NO_BLOCKS } from "../../../../support/reports/blocks.ts";

const NOW_MS = Date.UTC(2026, 1, 2, 2, 41);
const SENDER = {
  appId: "fleet" as AppId,
  keyId: "k_1",
  lastFour: "7xYz",
  deviceId: null,
  userId: null,
  mayRead: false,
};
const POINT: ClientPoint = {
  device: "pixel",
  user: null,
  timestampMs: NOW_MS - 60_000,
  latitude: 52.520008,
  longitude: 13.404954,
  details: {},
};
const RAW = { raw: true };

interface Context {
  readonly arrivedMs?: number;
  readonly nowMs?: number;
  readonly blocks?: Blocks;
}

function collect(point: Partial<ClientPoint>, context: Context = {}) {
  const { arrivedMs = NOW_MS, nowMs = NOW_MS, blocks = NO_BLOCKS } = context;
  const collector = new PointCollector({
    sender: SENDER,
    address: { device: null, user: null },
    client: { name: "owntracks", mustNameDevice: false },
    arrivedMs,
    nowMs,
    oldestMs: DEFAULT_RETENTION.startMs(nowMs),
    blocks: blocks.blocked(SENDER.appId),
  });
  collector.add({ ...POINT, ...point }, RAW);
  return collector;
}

function reasonOf(point: Partial<ClientPoint>): string | null {
  const collector = collect(point);
  const { refused } = collector;
  expect(refused.length + collector.batches()[0]!.count).toBe(1);
  return refused[0]?.reason ?? null;
}

describe("a position", () => {
  test("is taken with what is known of it", () => {
    const collector = collect({ details: { speed: 13.056, battery_level: 81, type: "MOVING" } });
    const [batch] = collector.batches();
    expect(batch?.count).toBe(1);
    expect(batch?.timestampMs[0]).toBe(NOW_MS - 60_000);
    expect(batch?.numbers[numberIndex("speed")]?.[0]).toBe(13.056);
    expect(batch?.texts).toContain("MOVING");
  });

  test.each([
    ["bad_coordinates", { latitude: null }],
    ["bad_coordinates", { longitude: null }],
    ["bad_coordinates", { latitude: 90.001 }],
    ["bad_coordinates", { longitude: -180.001 }],
    ["bad_coordinates", { latitude: Number.NaN }],
    ["null_island", { latitude: 0, longitude: 0 }],
    ["null_island", { latitude: -0, longitude: 0 }],
    ["no_time", { timestampMs: null }],
    ["future", { timestampMs: NOW_MS + 600_001 }],
    ["too_old", { timestampMs: Date.UTC(2025, 1, 1) }],
    ["bad_device", { device: ".." }],
    [null, { latitude: 90, longitude: 180 }],
    [null, { latitude: 0, longitude: 1e-4 }],
    [null, { timestampMs: NOW_MS + 600_000 }],
    [null, { timestampMs: Date.UTC(2025, 1, 2) }],
  ])("%p: %p", (reason, point) => {
    expect(reasonOf(point)).toBe(reason);
  });

  test("of a receiver whose weeks rolled over is set right, and counted", () => {
    const rolledMs = POINT.timestampMs! - 619_315_200_000;
    const collector = collect({ timestampMs: rolledMs });
    expect(collector.batches()[0]?.timestampMs[0]).toBe(POINT.timestampMs!);
    expect(collector.rolledOver).toBe(1);
    expect(reasonOf({ timestampMs: rolledMs - 86_400_000 })).toBe("too_old");
    expect(reasonOf({ timestampMs: rolledMs + 700_000 })).toBe("too_old");
  });

  test("that is tried again is judged by the clock of now", () => {
    const timestampMs = NOW_MS + 3_600_000;
    expect(collect({ timestampMs }).refused[0]?.reason).toBe("future");
    const later = collect({ timestampMs }, { nowMs: NOW_MS + 3_600_000 });
    expect(later.batches()[0]?.timestampMs[0]).toBe(timestampMs);
  });
});

test("a point of a blocked device or user is refused as erased, whatever else is wrong with it", () => {
  for (const point of [
    {},
    { latitude: null },
    { timestampMs: null },
    { device: "other", user: "pixel" },
    { device: "pixel", user: "bob" },
  ]) {
    const blocks = blocksOf("pixel", "bob:pixel");
    const collector = collect(point, { blocks });
    expect(collector.refused).toMatchObject([{ reason: "erased", fault: null }]);
    expect(collector.batches()[0]?.count).toBe(0);
    expect(collect(point).refused[0]?.reason).not.toBe("erased");
  }
});

test("a message that names a blocked device is refused as erased, and others are judged as always", () => {
  const collector = collect({ device: "other" }, { blocks: blocksOf("pixel") });
  collector.refuse("bad_json", undefined, { device: "pixel", user: null });
  collector.refuse("bad_json", undefined, { device: "other", user: null });
  collector.add(POINT, RAW);
  collector.add({ ...POINT, device: "third" }, RAW);
  expect(collector.refused.map(({ reason, deviceId }) => [reason, deviceId])).toEqual([
    ["erased", "pixel"],
    ["bad_json", "other"],
    ["erased", "pixel"],
  ]);
  expect(collector.batches()[0]?.count).toBe(2);
});

describe("an optional field", () => {
  test.each([
    ["speed", 1_000_001, "out_of_range"],
    ["speed", -1, "out_of_range"],
    ["bearing", 360.5, "out_of_range"],
    ["battery_level", 101, "out_of_range"],
    ["altitude", -20_001, "out_of_range"],
    ["horizontal_accuracy", Number.NaN, "unreadable"],
  ] as const)("%p of %p is left out, and costs no position: %s", (name, value, fault) => {
    const collector = collect({ details: { [name]: value, type: "MOVING" } });
    expect([...collector.leftOut]).toEqual([{ field: name, fault, count: 1 }]);
    const [batch] = collector.batches();
    expect(batch?.numbers[numberIndex(name)]?.[0]).toBeNaN();
    expect(batch?.texts).toContain("MOVING");
  });
});

test("a text or flag that can't be read is left out, and counted beside the numbers", () => {
  const collector = collect({ unreadable: ["battery_status"], details: { speed: Number.NaN } });
  collector.add({ ...POINT, unreadable: ["battery_status"], details: { speed: 1e9 } }, RAW);
  expect(collector.leftOut).toEqual([
    { field: "speed", fault: "unreadable", count: 1 },
    { field: "battery_status", fault: "unreadable", count: 2 },
    { field: "speed", fault: "out_of_range", count: 1 },
  ]);
});

test.each([
  ["no_time", "timestamp", "absent", { timestampMs: null }],
  ["no_time", "timestamp", "unreadable", { timestampMs: Number.NaN }],
  ["no_time", "timestamp", "out_of_range", { timestampMs: Number.POSITIVE_INFINITY }],
  ["bad_coordinates", "latitude", "absent", { latitude: null }],
  ["bad_coordinates", "longitude", "unreadable", { longitude: Number.NaN }],
  ["bad_coordinates", "longitude", "out_of_range", { longitude: 180.5 }],
] as const)("a point that is refused as %s says of which value: %s is %s", (reason, field, fault, point) => {
  expect(collect(point).refused).toMatchObject([{ reason, fault: { field, fault } }]);
});

test("a point that has the time of its arrival is counted", () => {
  expect(collect({ isTimedByArrival: true }).timedByArrival).toBe(1);
  expect(collect({ isTimedByArrival: true, latitude: 91 }).timedByArrival).toBe(0);
  expect(collect({}).timedByArrival).toBe(0);
});

test("a device that is named by what is no name is refused, unless the key or the URL names it", () => {
  expect(reasonOf({ device: null, isDeviceUnreadable: true })).toBe("bad_device");
});

test("points beside a refused one are kept, a thousand to a batch", () => {
  const collector = collect({ latitude: 91 });
  for (let i = 0; i < 2500; i++) collector.add({ ...POINT, timestampMs: NOW_MS - i }, RAW);
  expect(collector.batches().map(({ count }) => count)).toEqual([1000, 1000, 500]);
  expect(collector.refused).toMatchObject([
    { reason: "bad_coordinates", deviceId: "pixel", raw: RAW, index: 0 },
  ]);
});

test("each point is its own device's and user's, whosever the one before it was", () => {
  const claims = [
    { device: "pixel", user: null },
    { device: "moto", user: null },
    { device: "moto", user: null, driver: "dora" },
    { device: "moto", user: null },
    { device: "moto", user: "anna" },
    { device: null, user: null },
    { device: "pixel", user: null },
  ];
  const collector = collect({ latitude: 91, ...claims[0]! });
  for (const claim of claims.slice(1)) collector.add({ ...POINT, latitude: 91, ...claim }, RAW);
  collector.refuse("bad_json");
  const ids = ["pixel", "moto", "moto", "moto", "anna:moto", "owntracks-7xYz", "pixel", "owntracks-7xYz"];
  expect(collector.refused.map(({ deviceId }) => deviceId)).toEqual(ids);

  const taken = collect(claims[0]!);
  for (const claim of claims.slice(1)) taken.add({ ...POINT, timestampMs: NOW_MS, ...claim }, RAW);
  const texts = taken.batches()[0]!.texts;
  expect(["anna", "dora"].every((user) => texts.includes(user))).toBe(true);
});

test("what is no position is counted by what it was", () => {
  const collector = collect({});
  collector.skip("transition");
  collector.skip("transition");
  expect([...collector.skipped]).toEqual([["transition", 2]]);
  expect(collector.isEmpty).toBe(false);
});

test("what is refused before it is read has the device that came with it, else the end of the key", () => {
  const collector = collect({});
  collector.refuse("bad_json", undefined, { device: "pixel", user: "anna" });
  collector.refuse("bad_json");
  expect(collector.refused.map(({ deviceId }) => deviceId)).toEqual(["anna:pixel", "owntracks-7xYz"]);
});
