import { expect, test } from "bun:test";
import { Attention } from "../../../../src/service/doctor/attention.ts";
import { Doctor } from "../../../../src/service/doctor/doctor.ts";
import { note } from "./visits.ts";

const NOON_MS = Date.UTC(2026, 2, 20, 12);

test("a flood of one key gets a third of the attention, and leaves others theirs", () => {
  const attention = new Attention();
  let ofFlood = 0;
  for (let i = 0; i < 10_000; i++) if (attention.take({ appId: "a", keyId: "flood" }, 1, NOON_MS)) ofFlood++;
  expect(ofFlood).toBeGreaterThan(150);
  expect(ofFlood).toBeLessThan(180);
  expect(attention.take({ appId: "a", keyId: "quiet" }, 5, NOON_MS)).toBe(true);
  expect(attention.take({ appId: "b", keyId: "quiet" }, 5, NOON_MS)).toBe(true);
});

test("there is as much again a little later, and where the clock was set back", () => {
  const attention = new Attention();
  const key = { appId: "a", keyId: "k" };
  const spend = (atMs: number) => {
    let units = 0;
    while (attention.take(key, 1, atMs)) units++;
    return units;
  };
  const first = spend(NOON_MS);
  expect(spend(NOON_MS + 49)).toBe(0);
  expect(spend(NOON_MS - 5000)).toBe(0); // It came earlier, and was taken later.
  expect(spend(NOON_MS + 150)).toBe(first);
  expect(spend(NOON_MS - 3_600_000)).toBe(first);
});

test("of a flood the doctor notes a part, of what comes at leisure everything", () => {
  const doctor = new Doctor();
  const report = (index: number) => ({
    device_id: `d${index}`,
    timestamp: NOON_MS,
    latitude: 1,
    longitude: 2,
  });
  for (let i = 0; i < 5000; i++) note(doctor, { arrivedMs: NOON_MS, reports: [report(i)] });
  expect(doctor.deviceCount).toBeLessThan(100);
  const quiet = new Doctor();
  for (let i = 0; i < 500; i++) note(quiet, { arrivedMs: NOON_MS + i * 20, reports: [report(i)] });
  expect(quiet.deviceCount).toBe(500);
});

test("of a long message a stretch is noted, another one each time", () => {
  const doctor = new Doctor();
  const reports = Array.from({ length: 3000 }, (_, index) => {
    return { device_id: `d${index}`, timestamp: NOON_MS, latitude: 1, longitude: 2 };
  });
  note(doctor, { arrivedMs: NOON_MS, reports });
  expect(doctor.deviceCount).toBe(256);
  for (let i = 1; i < 200; i++) note(doctor, { arrivedMs: NOON_MS + i * 200, reports });
  expect(doctor.deviceCount).toBeGreaterThan(2500);
});

test("invented devices push out neither those of another key nor of another app, nor their last requests", () => {
  const doctor = new Doctor();
  const of = (device_id: string) => [{ device_id, timestamp: NOON_MS, latitude: 1, longitude: 2 }];
  note(doctor, { arrivedMs: NOON_MS, reports: of("bus") });
  note(doctor, { arrivedMs: NOON_MS, reports: of("bus"), sender: { appId: "rival", keyId: "theirs" } });
  const hostile = { appId: "fleet", keyId: "hostile" };
  for (let round = 1; round <= 200; round++) {
    const reports = Array.from({ length: 250 }, (_, index) => of(`made-up-${round}-${index}`)[0]!);
    note(doctor, { arrivedMs: NOON_MS + round * 200, reports, sender: hostile });
  }
  expect(doctor.deviceCount).toBeLessThanOrEqual(100_000);
  expect(doctor.deviceCount).toBeGreaterThan(33_000);
  expect(doctor.lastRequests("fleet", "bus")).toHaveLength(1);
  expect(doctor.lastRequests("rival", "bus")).toHaveLength(1);
  expect(doctor.lastRequests("fleet", "made-up-1-0")).toBeNull();
  expect(doctor.lastRequests("fleet", "made-up-200-249")).toHaveLength(1);
});
