import { expect, test } from "bun:test";
import type { ReferenceReport } from "../../reference/records.ts";
import type { LifeStep } from "../../support/corrections/life-steps.ts";
import { liveAgain, liveLives } from "../../support/corrections/lives.ts";

/**
 * Goal: after corrections every endpoint answers as if the records had been reported in the corrected form, and after
 * undoing them as before; after erasures, as if their records had never been reported; finished erasures leave no
 * record in any file.
 * Method: random reports, late ones too, corrections, undoings and erasures go to a service that seals
 * and restarts at any moment, from a backup too, also while a correction is made, over a disk with faults. After each
 * step the list of corrections, a client that follows the live stream and some questions are compared with a model:
 * plain loops over the corrected reports (`test/reference`), or for the other endpoints a service that gets these
 * reports alone. `test/long/corrections.test.ts` does it 2,000 times on both runtimes.
 */

test("answers are those of the model, wherever records lie and whatever the disk does", async () => {
  const { lives, corrections, undone, erasures, finished, seals } = await liveLives(70);
  for (const count of [corrections, undone, erasures, finished, seals]) expect(count).toBeGreaterThan(0);
  expect(lives).toBeGreaterThan(0);
}, 240_000);

test("after a restart a corrected record shows as the device to which its own was assigned", async () => {
  const place = { latitude: 42.36, longitude: -71.05 };
  const hourMs = 3_600_000;
  const lateMs = Date.UTC(2026, 0, 14, 23);
  const at = (device_id: string, afterMs: number) => ({ device_id, timestamp: lateMs + afterMs, ...place });
  const sealed = { sealsMeanwhile: true, fault: null };
  await liveAgain({
    seed: 1,
    first: [at("a", 0), at("a", hourMs - 1), at("a", hourMs), at("old", 0), at("old", hourMs + 60_000)],
    steps: [
      {
        does: "correct",
        wanted: { action: "shift_time", device_id: "old", by_ms: hourMs, timestamps: [lateMs] },
        ...sealed,
      },
      { does: "correct", wanted: { action: "assign", device_id: "old", to_device_id: "new" }, ...sealed },
      { does: "correct", wanted: { action: "hide", device_id: "a", timestamps: [lateMs] }, ...sealed },
      { does: "restart", how: "close", staysAway: false },
    ],
  });
});

test("after a restart a corrected record shows once the assignment of its device is undone", async () => {
  const timestamp = Date.UTC(2026, 0, 14, 23);
  const quietly = { sealsMeanwhile: false, fault: null };
  const move = {
    action: "move",
    device_id: "a",
    timestamps: [timestamp],
    latitude: 0,
    longitude: 1,
  } as const;
  await liveAgain({
    seed: 1,
    first: [{ device_id: "a", timestamp, latitude: 42.36, longitude: -71.05 }],
    steps: [
      { does: "correct", wanted: move, ...quietly },
      { does: "correct", wanted: { action: "assign", device_id: "a", to_device_id: "new" }, ...quietly },
      { does: "undo", index: 0, ...quietly },
      { does: "seal", fault: null },
      { does: "restart", how: "close", staysAway: false },
    ],
  });
});

test("a late report keeps the user of a record that was hidden during its seal, once it shows again", async () => {
  const timestamp = Date.UTC(2026, 0, 14, 23, 59);
  const quietly = { sealsMeanwhile: false, fault: null };
  const seal = { does: "seal", fault: null } as const;
  const place = { device_id: "ä", longitude: 2, horizontal_accuracy: 5 };
  const late = { ...place, timestamp, latitude: 2 };
  const newer = { ...place, timestamp: timestamp + 120_000, latitude: 3 };
  const hide = (timestamps: readonly number[], reports: readonly ReferenceReport[]): LifeStep => ({
    does: "race",
    reports,
    wanted: { action: "hide", device_id: "ä", timestamps },
    sealsMeanwhile: true,
  });
  const end = [
    { does: "report", reports: [late], ...quietly },
    ...[1, 1, 1].map((hours) => ({ does: "wait", hours }) as const),
  ] as const;
  const undo = { does: "undo", index: 0, ...quietly } as const;
  const restart = { does: "restart", how: "close", staysAway: false } as const;
  const ofUser = { ...late, user_id: "u" };
  await liveAgain({
    ...{ seed: 1, first: [ofUser] },
    steps: [hide([timestamp], [newer]), seal, undo, seal, restart, ...end],
  });
  await liveAgain({
    ...{ seed: 1, first: [late, newer] },
    steps: [
      hide([timestamp, newer.timestamp], []),
      { does: "report", reports: [ofUser], ...quietly },
      seal,
      undo,
      ...end,
    ],
  });
});

test("a seal that begins before a device is assigned to a user drops the copies of what it archives", async () => {
  const meanwhile = { sealsMeanwhile: true, fault: null };
  const timestamp = Date.UTC(2026, 0, 14, 23);
  await liveAgain({
    seed: 1,
    first: [0, 1, 2].map((ms) => ({
      device_id: "a",
      timestamp: timestamp + ms,
      latitude: 42.36,
      longitude: 1,
    })),
    steps: [
      { does: "wait", hours: 24 },
      { does: "correct", wanted: { action: "assign", device_id: "a", to_user_id: "v" }, ...meanwhile },
      { does: "undo", index: 0, ...meanwhile },
      { does: "seal", fault: null },
    ],
  });
});

test("a device that was erased, reported without a user and erased again leaves the live stream", async () => {
  const quietly = { sealsMeanwhile: false, fault: null };
  const report = { device_id: "a", timestamp: Date.UTC(2026, 0, 15), latitude: 42.36, longitude: 1 };
  await liveAgain({
    seed: 1,
    first: [report],
    steps: [
      { does: "wait", hours: 24 },
      { does: "seal", fault: null },
      { does: "erase", wanted: { device_id: "a" }, ...quietly },
      { does: "report", reports: [report], ...quietly },
      { does: "erase", wanted: { device_id: "a" }, ...quietly },
    ],
  });
});
