import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { AppId } from "../../../../src/model/ids.ts";
import { createManualClock, type ManualClock } from "../../../../src/model/time/clock.ts";
import type { PositionReading } from "../../../../src/service/queries/positions.ts";
import { createReferenceRecords } from "../../../reference/records.ts";
import { type ArchiveApp, createArchiveApp, removeArchiveApps } from "../../../support/archive-app.ts";
import * as fc from "../../../support/fast-check.ts";
import { arbitraryReport, BASE_MS } from "../../../support/reports/arbitrary-reports.ts";
import { APP_ID } from "../../../support/test-app.ts";
import { verifyDirectory } from "../../../support/verify-directory.ts";
import { collect, type ReadRow } from "./collect.ts";

/**
 * Goal: whoever reads a device's positions is told of each record once, in order of time, wherever it lies and
 * whatever happens meanwhile.
 */

afterAll(removeArchiveApps);

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** A week after the reports' midnight: the day before it is due to be sealed, the day after it is not. */
const NOW_MS = BASE_MS + 7 * DAY_MS + 12 * HOUR_MS;
const FIELDS = ["speed", "altitude"] as const;
const WHOLE = { startMs: BASE_MS - 3 * DAY_MS, endMs: NOW_MS };

async function read(
  app: ArchiveApp,
  deviceId: string,
  range = WHOLE,
  begin: () => PositionReading<ReadRow[]> = collect,
  signal = new AbortController().signal,
) {
  const query = { deviceId, range, fields: FIELDS };
  return app.readPositions(APP_ID as AppId, query, { signal }, begin);
}

/** The rows, where there are any to be had. */
async function rowsOf(...asked: Parameters<typeof read>): Promise<ReadRow[]> {
  const found = await read(...asked);
  if (!found.ok) throw new Error(JSON.stringify(found.error));
  return found.value.value;
}

describe("any story of reports, seals and restarts", () => {
  const report = fc
    .tuple(
      arbitraryReport,
      fc.constantFrom("a", "b"),
      fc.constantFrom(-DAY_MS, -3_600_000, -60_000, -1, 0, 1, 60_000),
    )
    .map(([any, device_id, stepMs]) => ({ ...any, device_id, timestamp: BASE_MS + stepMs }));
  const story = fc.array(
    fc.record({
      reports: fc.array(report, { minLength: 1, maxLength: 12 }),
      seals: fc.boolean(),
      restarts: fc.boolean(),
      hours: fc.constantFrom(0, 0, 6, 24),
    }),
    { minLength: 1, maxLength: 5 },
  );
  const edge = fc.constantFrom(-2 * DAY_MS, -3_600_000, -60_000, 0, 1, 60_001, 3 * DAY_MS);
  const ranges = fc.array(fc.tuple(edge, edge), { minLength: 2, maxLength: 4 });

  test("is read as a plain loop over all reports reads it", async () => {
    await fc.assert(
      fc.asyncProperty(story, ranges, async (steps, asked) => {
        const clock = createManualClock(NOW_MS);
        let app = await createArchiveApp({ clock, lateWindow: { firstRows: 1, rowsMax: 2 } });
        const reference = createReferenceRecords(APP_ID);
        try {
          for (const { reports, seals, restarts, hours } of steps) {
            await app.store(reports);
            reference.report(reports);
            if (seals) await app.seal();
            if (restarts) app = await app.restart();
            for (const deviceId of reference.deviceIds()) {
              const inOrder = reference
                .recordsOf(deviceId)
                .map(
                  ({ timestamp, latitude, longitude, speed, altitude }) =>
                    [timestamp, latitude, longitude, speed ?? null, altitude ?? null] as ReadRow,
                );
              for (const [one, other] of asked) {
                const [startMs, endMs] = [BASE_MS + Math.min(one, other), BASE_MS + Math.max(one, other) + 1];
                const expected = inOrder.filter(([at]) => at! >= startMs && at! < endMs);
                expect(await rowsOf(app, deviceId, { startMs, endMs })).toEqual(expected);
              }
            }
            clock.advance(hours * HOUR_MS);
          }
        } finally {
          await app.close();
        }
      }),
      { numRuns: 20, endOnFailure: true },
    );
  });
});

test("forty archived days are read whole, some of them at a time", async () => {
  const clock = createManualClock(NOW_MS);
  const app = await createArchiveApp({ clock });
  try {
    const times = Array.from({ length: 40 }, (_, day) => BASE_MS - (40 - day) * DAY_MS + day);
    await app.store(
      times.map((timestamp) => ({ device_id: "a", timestamp, latitude: 1, longitude: 2, speed: 3 })),
    );
    await app.seal();
    expect(app.directory.archive.manifest.days.size).toBe(40);
    const rows = await rowsOf(app, "a", { startMs: times[1]!, endMs: times.at(-1)! });
    expect(rows).toEqual(times.slice(1, -1).map((at) => [at, 1, 2, 3, null]));
  } finally {
    await app.close();
  }
});

describe("a long way", () => {
  const COUNT = 5000;
  const reportAt = (timestamp: number) => ({ device_id: "a", timestamp, latitude: 1, longitude: 2 });
  const way = Array.from({ length: COUNT }, (_, index) => reportAt(BASE_MS + 2000 * index));
  const times = way.map(({ timestamp }) => timestamp);
  let app: ArchiveApp;
  let clock: ManualClock;

  beforeEach(async () => {
    clock = createManualClock(NOW_MS);
    app = await createArchiveApp({ clock });
    for (let from = 0; from < COUNT; from += 1000) await app.store(way.slice(from, from + 1000));
  });
  afterEach(() => app.close());

  /** Has each block wait until something has happened. */
  /** A reading that goes on once the work is done, which begins when the reading has. */
  function slowly(work: () => Promise<unknown>) {
    let isBegun = false;
    let isOver = false;
    return () =>
      collect(function* () {
        if (!isBegun) {
          isBegun = true;
          void work().then(() => {
            isOver = true;
          });
        }
        while (!isOver) yield;
      });
  }

  test("is the same from memory and from the archive", async () => {
    const inMemory = await rowsOf(app, "a");
    expect(inMemory.map(([at]) => at!)).toEqual(times);
    clock.advance(2 * DAY_MS);
    await app.seal();
    expect(app.directory.archive.manifest.days.size).toBe(1);
    expect(await rowsOf(app, "a")).toEqual(inMemory);
  });

  test("is read anew where a seal moves it meanwhile", async () => {
    clock.advance(2 * DAY_MS);
    let begun = 0;
    const slow = slowly(() => app.seal());
    const rows = await rowsOf(app, "a", WHOLE, () => {
      begun++;
      return slow();
    });
    expect(rows.map(([at]) => at!)).toEqual(times);
    expect(begun).toBe(2);
  });

  test("has no record twice and none out of order where reports come in between", async () => {
    const early = [1, 3, 5].map((step) => reportAt(BASE_MS + step));
    const late = [1, 3, 5].map((step) => reportAt(times.at(-1)! + step));
    const rows = await rowsOf(
      app,
      "a",
      WHOLE,
      slowly(() => app.store([...early, ...late])),
    );
    // The first block had been read by then.
    expect(rows.map(([at]) => at!)).toEqual([...times, ...late.map(({ timestamp }) => timestamp)]);
  });

  test.each(["memory", "the archive"])("is given up once the client is gone, from %s", async (store) => {
    if (store === "the archive") {
      clock.advance(2 * DAY_MS);
      await app.seal();
    }
    const client = new AbortController();
    let isLeft = false;
    const reading = read(
      app,
      "a",
      WHOLE,
      () =>
        collect(function* () {
          try {
            for (client.abort(); ; ) yield;
          } finally {
            isLeft = true;
          }
        }),
      client.signal,
    );
    expect(((await reading.catch((error: unknown) => error)) as Error).name).toBe("AbortError");
    expect(isLeft).toBe(true);
    expect(await rowsOf(app, "a")).toHaveLength(COUNT);
  });

  test("begins where the retention does", async () => {
    clock.set(BASE_MS + 365 * DAY_MS);
    await app.store([{ ...reportAt(clock.nowMs()), latitude: 3 }]);
    const asked = { startMs: BASE_MS, endMs: clock.nowMs() + 1 };
    expect(await rowsOf(app, "a", asked)).toHaveLength(COUNT + 1);
    clock.advance(DAY_MS);
    expect(await rowsOf(app, "a", asked)).toEqual([[BASE_MS + 365 * DAY_MS, 3, 2, null, null]]);
    clock.advance(366 * DAY_MS);
    expect(await read(app, "a", asked)).toMatchObject({ ok: false, error: { kind: "device_not_found" } });
  });

  test("is read whole where the retention passes it meanwhile, and once more by who began before", async () => {
    clock.advance(2 * DAY_MS);
    await app.seal();
    const expire = async () => {
      clock.set(BASE_MS + 367 * DAY_MS);
      await app.seal();
      expect(app.directory.archive.manifest.expired.size).toBe(1);
    };
    let begun = 0;
    const slow = slowly(expire);
    const rows = await rowsOf(app, "a", WHOLE, () => {
      begun++;
      return slow();
    });
    expect(rows.map(([at]) => at!)).toEqual(times);
    expect(begun).toBe(2);
    expect(await read(app, "a")).toMatchObject({ ok: false, error: { kind: "device_not_found" } });
  });

  test("is nobody's who asks for a device that is unknown, or another app's", async () => {
    const error = { kind: "device_not_found", deviceId: "b" };
    expect(await read(app, "b")).toEqual({ ok: false, error } as never);
    const query = { deviceId: "a", range: WHOLE, fields: [] };
    const { signal } = new AbortController();
    const asked = await app.readPositions("rival" as AppId, query, { signal }, collect);
    expect(asked).toEqual({ ok: false, error: { kind: "device_not_found", deviceId: "a" } });
  });

  test("fails where a part of it is damaged, and says that it is incomplete once that is given up", async () => {
    clock.advance(2 * DAY_MS);
    await app.seal();
    await app.store([reportAt(NOW_MS)]);
    const [day] = app.directory.archive.manifest.days.values();
    rmSync(join(app.dataDir, "archive", day!.parts[0]!.file));
    const error = { kind: "archive_damaged", days: ["2026-01-15"] };
    expect(await read(app, "a")).toEqual({ ok: false, error } as never);
    await verifyDirectory(app.dataDir, clock, { acknowledge: true });
    const found = await read(app, "a", { ...WHOLE, endMs: NOW_MS + 1 });
    expect(found).toMatchObject({ ok: true, value: { isIncomplete: true } });
    expect(found.ok && found.value.value.map(([at]) => at)).toEqual([NOW_MS]);
  });
});
