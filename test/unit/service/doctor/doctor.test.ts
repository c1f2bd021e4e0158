import { describe, expect, test } from "bun:test";
import type { ValueFault } from "../../../../src/clients/point.ts";
import { Doctor, WatchBudget } from "../../../../src/service/doctor/doctor.ts";
import type { RefusedReport } from "../../../../src/service/doctor/ingested-reports.ts";
import { findingsOf, kindsOf, note, onlyFinding } from "./visits.ts";

const NOON_MS = Date.UTC(2026, 2, 20, 12);
const MINUTE_MS = 60_000;
const HERE = { latitude: 53.4, longitude: -2.9 };

/** A doctor who heard of the phone every minute, when its clock was off by so much. */
function afterMinutes(minutes: number, clockOffMs: (minute: number) => number): Doctor {
  const doctor = new Doctor();
  for (let minute = 0; minute < minutes; minute++) {
    const arrivedMs = NOON_MS + minute * MINUTE_MS;
    const timestamp = arrivedMs + clockOffMs(minute);
    note(doctor, { arrivedMs, reports: [{ device_id: "phone", timestamp, ...HERE }] });
  }
  return doctor;
}

describe("a clock", () => {
  test("that is behind is named, with what helps", () => {
    expect(
      onlyFinding(
        afterMinutes(8, () => -90_000),
        NOON_MS + 8 * MINUTE_MS,
      ),
    ).toEqual({
      appId: "fleet",
      deviceId: "phone",
      client: "owntracks",
      kind: "clock",
      atMs: NOON_MS + 7 * MINUTE_MS,
      what: "The device's clock is behind, so its positions are kept under wrong times.",
      measured: "Fresh positions carry times 90 s before their arrival (median).",
      advice: "Switch on automatic date and time in the device's settings.",
    });
  });

  test("that is ahead is named", () => {
    const { kind, measured } = onlyFinding(
      afterMinutes(8, () => 300_000),
      NOON_MS + 8 * MINUTE_MS,
    );
    expect([kind, measured]).toEqual([
      "clock",
      "Fresh positions carry times 5 min after their arrival (median).",
    ]);
  });

  test("within a minute is right", () => {
    expect(
      kindsOf(
        afterMinutes(8, () => 60_000),
        NOON_MS + 8 * MINUTE_MS,
      ),
    ).toEqual([]);
    expect(
      kindsOf(
        afterMinutes(8, () => -60_000),
        NOON_MS + 8 * MINUTE_MS,
      ),
    ).toEqual([]);
  });

  test("is not blamed for a backlog", () => {
    const doctor = new Doctor();
    // An hour without network, then a message a second until all is sent, and a minute of every day.
    for (let sent = 0; sent < 60; sent++) {
      const timestamp = NOON_MS - 3_600_000 + sent * MINUTE_MS;
      note(doctor, {
        arrivedMs: NOON_MS + sent * 1000,
        reports: [{ device_id: "phone", timestamp, ...HERE }],
      });
    }
    for (let minute = 1; minute < 8; minute++) {
      const arrivedMs = NOON_MS + minute * MINUTE_MS;
      note(doctor, { arrivedMs, reports: [{ device_id: "phone", timestamp: arrivedMs - 800, ...HERE }] });
    }
    expect(kindsOf(doctor, NOON_MS + 8 * MINUTE_MS)).toEqual([]);
  });

  test("is judged by the shortest lags where a network holds up the rest", () => {
    const heldUp = (minute: number) => (minute % 3 === 0 ? -2000 : -600_000 - minute * 40_000);
    expect(kindsOf(afterMinutes(15, heldUp), NOON_MS + 15 * MINUTE_MS)).toEqual([]);
    const behindToo = (minute: number) => heldUp(minute) - 120_000;
    expect(kindsOf(afterMinutes(15, behindToo), NOON_MS + 15 * MINUTE_MS)).toEqual(["clock"]);
  });

  test("is not judged by what is sent again", () => {
    const doctor = afterMinutes(60, () => 0);
    for (let minute = 60; minute < 80; minute++) {
      const arrivedMs = NOON_MS + minute * MINUTE_MS;
      note(doctor, {
        arrivedMs,
        reports: [{ device_id: "phone", timestamp: arrivedMs - 3_600_000, ...HERE }],
      });
    }
    expect(kindsOf(doctor, NOON_MS + 80 * MINUTE_MS)).toEqual([]);
  });

  test("is not judged by few points", () => {
    expect(
      kindsOf(
        afterMinutes(4, () => -90_000),
        NOON_MS + 4 * MINUTE_MS,
      ),
    ).toEqual([]);
  });
});

describe("speeds", () => {
  /** Three hours of a bus that drives 10 m/s and reports each 10 s what is understood as so many m/s. */
  function afterDrive(speed: number): Doctor {
    const doctor = new Doctor();
    for (let step = 0; step < 3 * 360; step++) {
      const arrivedMs = NOON_MS + step * 10_000;
      const latitude = 53 + step * 0.0008993;
      const reports = [{ device_id: "bus", timestamp: arrivedMs, latitude, longitude: -2.9, speed }];
      note(doctor, { arrivedMs, client: "homeassistant", reports });
    }
    return doctor;
  }

  test("that look like another unit are named, with what to type", () => {
    const { kind, what, measured, advice } = onlyFinding(afterDrive(36), NOON_MS + 3 * 3_600_000);
    expect({ kind, what, measured, advice }).toEqual({
      kind: "units",
      what: "Speeds look like km/h that are taken for m/s.",
      measured:
        "Over its last 30 stretches the device reported 3.60 times the speed that its positions tell (median).",
      advice: "Add ?speed_unit=kmh to the URL in the app, or use the path that is meant for what sends.",
    });
  });

  test("in the right unit are not", () => {
    expect(kindsOf(afterDrive(10), NOON_MS + 3 * 3_600_000)).toEqual([]);
  });
});

describe("points", () => {
  test("that are mostly sent again are named", () => {
    const doctor = new Doctor();
    for (let sent = 0; sent < 40; sent++) {
      const timestamp = NOON_MS - MINUTE_MS;
      const reports = [{ device_id: "phone", timestamp, ...HERE }];
      note(doctor, {
        client: "gpslogger",
        arrivedMs: NOON_MS + sent * 1000,
        reports,
        duplicates: sent === 0 ? 0 : 1,
      });
    }
    const { kind, measured, advice } = onlyFinding(doctor, NOON_MS + MINUTE_MS);
    expect([kind, measured]).toEqual(["repeats", "Of its last 40 points 98 % changed nothing."]);
    expect(advice).toContain("auto-send");
  });

  test("that are mostly refused are named, with the reason and what helps", () => {
    const doctor = new Doctor();
    for (let sent = 0; sent < 40; sent++) {
      const refused = [
        { deviceId: "phone", reason: "future", fault: null, detail: null, position: null },
      ] as const;
      note(doctor, { arrivedMs: NOON_MS + sent * 1000, refused });
    }
    const { kind, measured, advice } = onlyFinding(doctor, NOON_MS + MINUTE_MS);
    expect([kind, measured]).toEqual([
      "refused",
      "Of its last 40 points 100 % were refused, mostly as future.",
    ]);
    expect(advice).toContain("automatic date and time");
  });

  test("that were mended are forgotten", () => {
    const doctor = new Doctor();
    for (let sent = 0; sent < 1100; sent++) {
      const arrivedMs = NOON_MS + sent * 1000;
      const refused = [noTime("absent")];
      const reports = [{ device_id: "phone", timestamp: arrivedMs, ...HERE }];
      note(doctor, sent < 600 ? { arrivedMs, refused } : { arrivedMs, reports });
    }
    expect(kindsOf(doctor, NOON_MS + 1_100_000)).toEqual([]);
  });
});

describe("values that can't be used", () => {
  test.each([
    ["absent", "is absent"],
    ["unreadable", "can't be read"],
    ["out_of_range", "is out of range"],
  ] as const)("of refused points are named as what they are: %s", (fault, words) => {
    const doctor = new Doctor();
    for (let sent = 0; sent < 40; sent++) {
      note(doctor, { arrivedMs: NOON_MS + sent * 1000, refused: [noTime(fault)] });
    }
    expect(onlyFinding(doctor, NOON_MS + MINUTE_MS).measured).toBe(
      `Of its last 40 points 100 % were refused, mostly as no_time, for a value that ${words}.`,
    );
  });

  test.each([
    ["unreadable", "can't be read"],
    ["out_of_range", "is out of range"],
  ] as const)("and are left out are named with the field: %s", (fault, words) => {
    const doctor = new Doctor();
    for (let sent = 0; sent < 3; sent++) {
      const arrivedMs = NOON_MS + sent * 1000;
      const leftOut = [
        { field: "altitude", fault, count: 1 },
        { field: "speed", fault, count: 1 },
      ];
      note(doctor, { arrivedMs, reports: [{ device_id: "phone", timestamp: arrivedMs, ...HERE }], leftOut });
    }
    const { kind, measured } = onlyFinding(doctor, NOON_MS + MINUTE_MS);
    expect([kind, measured]).toEqual([
      "values",
      `Of its last 3 points 100 % had a value that ${words}; the last was for altitude.`,
    ]);
  });

  test("in less than half of the points are no finding", () => {
    const doctor = new Doctor();
    for (let sent = 0; sent < 10; sent++) {
      const arrivedMs = NOON_MS + sent * 1000;
      const leftOut = sent % 2 === 0 ? [{ field: "speed", fault: "unreadable", count: 1 } as const] : [];
      note(doctor, { arrivedMs, reports: [{ device_id: "phone", timestamp: arrivedMs, ...HERE }], leftOut });
    }
    expect(kindsOf(doctor, NOON_MS + MINUTE_MS)).toEqual([]);
  });

  test("are each device's share of a message that several are in", () => {
    const doctor = new Doctor();
    for (let sent = 0; sent < 10; sent++) {
      const timestamp = NOON_MS + sent * 1000;
      const reports = ["a", "b", "c"].map((device_id) => ({ device_id, timestamp, ...HERE }));
      const leftOut = [{ field: "speed", fault: "unreadable", count: 1 } as const];
      note(doctor, { arrivedMs: timestamp, reports, leftOut });
    }
    expect(kindsOf(doctor, NOON_MS + MINUTE_MS)).toEqual([]);
  });

  test("are times too: who sends none is told, but for Home Assistant, whose webhook has none", () => {
    for (const client of ["traccar", "homeassistant"] as const) {
      const doctor = new Doctor();
      for (let sent = 0; sent < 3; sent++) {
        const arrivedMs = NOON_MS + sent * 1000;
        const reports = [{ device_id: "phone", timestamp: arrivedMs, ...HERE }];
        note(doctor, { arrivedMs, client, reports, timedByArrival: 1 });
      }
      expect(kindsOf(doctor, NOON_MS + MINUTE_MS)).toEqual(client === "traccar" ? ["arrival"] : []);
    }
  });
});

function noTime(fault: ValueFault): RefusedReport {
  return { deviceId: "phone", reason: "no_time", fault, detail: null, position: null };
}

describe("a device that is silent", () => {
  test("for much longer than usual is named, and no earlier", () => {
    const doctor = afterMinutes(12, () => 0);
    const lastMs = NOON_MS + 11 * MINUTE_MS;
    expect(kindsOf(doctor, lastMs + 14 * MINUTE_MS)).toEqual([]);
    const { kind, measured, atMs } = onlyFinding(doctor, lastMs + 40 * MINUTE_MS);
    expect([kind, measured]).toEqual([
      "silent",
      "Its last message came 40 min ago, and mostly one comes every 60 s.",
    ]);
    expect(atMs).toBe(lastMs + 15 * MINUTE_MS);
  });

  test("is not, where the store has newer reports that were passed over here", () => {
    const doctor = afterMinutes(12, () => 0);
    const nowMs = NOON_MS + 3_600_000;
    expect(findingsOf(doctor, nowMs, () => nowMs - MINUTE_MS)).toEqual([]);
  });

  test("every night is not named for it", () => {
    const doctor = new Doctor();
    const dayMs = 86_400_000;
    for (let day = 0; day < 3; day++) {
      for (let minute = 0; minute < 960; minute += 10) {
        const arrivedMs = NOON_MS + day * dayMs + minute * MINUTE_MS;
        note(doctor, { arrivedMs, reports: [{ device_id: "phone", timestamp: arrivedMs, ...HERE }] });
      }
    }
    const lastMs = NOON_MS + 2 * dayMs + 950 * MINUTE_MS;
    expect(kindsOf(doctor, lastMs + 8 * 3_600_000)).toEqual([]);
    expect(kindsOf(doctor, lastMs + 24 * 3_600_000)).toEqual(["silent"]);
  });
});

test("a flood of one key gets a third of the budget, and leaves others theirs", () => {
  const budget = new WatchBudget();
  let ofFlood = 0;
  for (let i = 0; i < 10_000; i++) if (budget.take({ appId: "a", keyId: "flood" }, 1, NOON_MS)) ofFlood++;
  expect(ofFlood).toBeGreaterThan(150);
  expect(ofFlood).toBeLessThan(180);
  expect(budget.take({ appId: "a", keyId: "quiet" }, 5, NOON_MS)).toBe(true);
  expect(budget.take({ appId: "b", keyId: "quiet" }, 5, NOON_MS)).toBe(true);
});

test("there is as much again a little later, and where the clock was set back", () => {
  const budget = new WatchBudget();
  const key = { appId: "a", keyId: "k" };
  const spend = (atMs: number) => {
    let units = 0;
    while (budget.take(key, 1, atMs)) units++;
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
