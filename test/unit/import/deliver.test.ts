import { describe, expect, test } from "bun:test";
import { NO_READ_OPTIONS } from "../../../src/formats/read/format.ts";
import {
  createImportRun,
  type ImportOutcome,
  type ImportRequest,
  type ImportStop,
  planShiftMs,
} from "../../../src/import/run.ts";
import { NO_REPORT, type SkipReport } from "../../../src/import/skip-report.ts";
import { createImportStateStore } from "../../../src/import/state.ts";
import { createManualClock } from "../../../src/model/time/clock.ts";
import { FixedRetention, type Retention } from "../../../src/model/time/retention.ts";
import { MS_PER_DAY } from "../../../src/model/time/units.ts";
import * as fc from "../../support/fast-check.ts";
import { outcome } from "../../support/rejection.ts";
import {
  ALL_RULES,
  createDestination,
  createEventLog,
  createMemoryFiles,
  type Destination,
  fleetCsv,
  lookAtFiles,
  POINT_LINES,
  type TestFile,
} from "./support/inputs.ts";

const NOW_MS = Date.UTC(2026, 5, 15, 12);
const STATE = "imports/one.json";

interface Setting extends Partial<Omit<ImportRequest, "look">> {
  readonly destination?: Destination;
  readonly disk?: ReturnType<typeof createMemoryFiles>;
  readonly nowMs?: number;
  readonly retention?: Retention;
  readonly signal?: AbortSignal;
  readonly report?: SkipReport;
}

async function runImport(files: readonly TestFile[], setting: Setting = {}) {
  const events = createEventLog();
  const { destination = createDestination() } = setting;
  const run = createImportRun({
    openTarget: async () => ({ ok: true, value: destination.deliver }),
    openReport: async () => setting.report ?? NO_REPORT,
    clock: createManualClock(setting.nowMs ?? NOW_MS),
    retention: setting.retention ?? FixedRetention.ofDays(365),
    store: setting.disk === undefined ? null : createImportStateStore(setting.disk, STATE),
    signal: setting.signal ?? new AbortController().signal,
    events,
  });
  const { rules = ALL_RULES, readOptions = NO_READ_OPTIONS, shift = 0, skipOld = false } = setting;
  const result = await run({ look: await lookAtFiles(files), rules, readOptions, shift, skipOld });
  return { result, said: events.said };
}

function outcomeOf({ result }: Awaited<ReturnType<typeof runImport>>): ImportOutcome {
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value;
}

function stopOf({ result }: Awaited<ReturnType<typeof runImport>>): ImportStop {
  if (result.ok) throw new Error("nothing stopped it");
  return result.error;
}

/** By group: new, already there, and skips by reason or message. */
function countsOf(run: Awaited<ReturnType<typeof runImport>>) {
  return outcomeOf(run).tallies.map(({ created, alreadyThere, skips }) => [
    created,
    alreadyThere,
    Object.fromEntries(skips.map(({ reason, message, count }) => [message ?? reason, count])),
  ]);
}

const csv = (name: string, content: string): TestFile => ({ name, content, format: "csv" });
const points = (name: string, ...lines: (string | object)[]): TestFile => ({
  name,
  content: lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n"),
  format: POINT_LINES,
});
const FLEET = fleetCsv(35_000, NOW_MS - MS_PER_DAY);
const at = (step: number, more: object = {}) => ({ timestampMs: NOW_MS - MS_PER_DAY + step, ...more });

describe("an import of our own formats", () => {
  test("delivers every row once, and tells duplicates when it is done again", async () => {
    const destination = createDestination();
    const files = [csv("fleet.csv", FLEET)];
    expect(countsOf(await runImport(files, { destination }))).toEqual([[35_000, 0, {}]]);
    expect(countsOf(await runImport(files, { destination }))).toEqual([[0, 35_000, {}]]);
  });

  test("keeps the shift of an import that was killed, days later too", async () => {
    const disk = createMemoryFiles();
    const files = [csv("fleet.csv", fleetCsv(35_000, Date.UTC(2010, 5, 11)))];
    const destination = createDestination((index) => {
      if (index === 2) throw new Error("killed");
      return null;
    });
    const shifted: Setting = { destination, disk, shift: "to_now" };
    expect(await outcome(runImport(files, shifted))).toThrow("killed");
    const { said, result } = await runImport(files, { ...shifted, nowMs: NOW_MS + 3 * MS_PER_DAY });
    expect(said).toEqual(["resumed in file 0"]);
    expect(result.ok).toBe(true);
    expect(destination.timestamps.size).toBe(35_000);
    expect(Math.max(...destination.timestamps.values())).toBeLessThanOrEqual(NOW_MS);
  });

  test("compares what is left with the retention again, where that was shortened since it was killed", async () => {
    const disk = createMemoryFiles();
    const files = [csv("fleet.csv", fleetCsv(35_000, NOW_MS - 400 * MS_PER_DAY))];
    const destination = createDestination((index) => {
      if (index === 2) throw new Error("killed");
      return null;
    });
    const long: Setting = { destination, disk, retention: FixedRetention.FOREVER };
    expect(await outcome(runImport(files, long))).toThrow("killed");
    const settled = destination.timestamps.size;
    const stop = stopOf(await runImport(files, { destination, disk }));
    expect(stop).toMatchObject({ kind: "too_old", survey: { pointsBeforeEdge: 35_000 } });
    expect(destination.timestamps.size).toBe(settled);
    expect((await runImport(files, long)).said).toEqual(["resumed in file 0"]);
    expect(destination.timestamps.size).toBe(35_000);
  });

  test("moves each file so that its newest report lies within the last day", async () => {
    const [older, newer] = [Date.UTC(2010, 0, 1), Date.UTC(2011, 0, 1, 13)];
    const files = [
      csv("new.csv", fleetCsv(7, newer)),
      csv("old.csv", fleetCsv(7, older)),
      csv("none.csv", "device_id,timestamp,latitude,longitude\n"),
    ];
    const destination = createDestination();
    const { said } = await runImport(files, {
      destination,
      shift: "to_now",
      nowMs: Date.UTC(2011, 0, 3, 12),
    });
    expect(said).toEqual(["new.csv shift 1 days", "old.csv shift 367 days"]);
    const times = [...destination.timestamps.values()];
    expect([Math.min(...times), Math.max(...times)]).toEqual([
      newer + MS_PER_DAY,
      Date.UTC(2011, 0, 3, 0, 0, 6),
    ]);
    expect(times.length).toBe(14);
  });

  test("imports what a broken file has, and the files after it", async () => {
    const files = [
      { ...csv("cut.csv", FLEET.slice(0, 500_000)), failure: "unexpected end of file" },
      csv("no.csv", "latitude\n1\n"),
      csv("good.csv", fleetCsv(3, NOW_MS - 5000)),
    ];
    const run = await runImport(files);
    expect(run.said).toEqual([
      expect.stringMatching(/^cut\.csv @ line \d\d,\d{3} unreadable: unexpected end of file$/),
      "no.csv @ line 1 unreadable: the header on line 1 lacks device_id, timestamp, longitude; " +
        "a header looks like this: device_id,timestamp,latitude,longitude,speed",
    ]);
    const { end, tallies } = outcomeOf(run);
    expect(end).toEqual({ kind: "finished" });
    expect(tallies[0]!.created).toBeGreaterThan(1000);
    expect(tallies.map(({ faults }) => faults)).toEqual([1, 1, 0]);
    expect(tallies[2]!.created).toBe(3);
  });

  test("does not shift by a file that it can't read to the end", async () => {
    const destination = createDestination();
    const files = [{ ...csv("cut.csv", FLEET), failure: "unexpected end of file" }];
    expect(stopOf(await runImport(files, { destination, shift: "to_now" }))).toEqual({
      kind: "failed",
      reason: "Nothing was imported, since a file can't be read. cut.csv: unexpected end of file.",
    });
    expect(destination.rowsDelivered).toBe(0);
  });

  test("names the line of the first rejected rows, by what is wrong with them", async () => {
    const lines = FLEET.trimEnd().split("\n");
    for (const line of [3, 15_000, 34_000]) lines[line - 1] = "d,1,2,3,4";
    lines[10] = "d,x,2,3,4";
    const { tallies } = outcomeOf(await runImport([csv("fleet.csv", lines.join("\r\n"))]));
    expect(tallies[0]).toMatchObject({ created: 34_996 });
    expect(tallies[0]!.skips).toEqual([
      {
        reason: "rejected",
        message: "timestamp must be Unix time in milliseconds; this looks like seconds",
        count: 3,
        places: ["fleet.csv @ line 3", "fleet.csv @ line 15,000", "fleet.csv @ line 34,000"],
      },
      {
        reason: "rejected",
        message: "timestamp must be an integer, Unix time in milliseconds",
        count: 1,
        places: ["fleet.csv @ line 11"],
      },
    ]);
  });

  test("reads NDJSON, a report a line", async () => {
    const good = { device_id: "a", timestamp: NOW_MS, latitude: 1, longitude: 2, is_mock: true };
    const lines = [
      `\uFEFF${JSON.stringify(good)}`,
      "",
      "{",
      "[]",
      "null",
      JSON.stringify({ ...good, latitude: "1" }),
      JSON.stringify({ ...good, timestamp: NOW_MS - 1 }),
    ];
    const file: TestFile = { name: "a", content: lines.join("\r\n"), format: "ndjson", pieceBytes: 7 };
    expect(countsOf(await runImport([file]))).toEqual([
      [
        2,
        0,
        { "it is not valid JSON": 1, "a report must be a JSON object": 2, "latitude must be a number": 1 },
      ],
    ]);
  });

  test("gives all rows one device and leaves out those out of range, where that is wanted", async () => {
    const destination = createDestination();
    const startMs = NOW_MS - MS_PER_DAY;
    const range = { startMs: startMs + 1000, endMs: startMs + 4000 };
    const rules = { ...ALL_RULES, deviceId: "mine" as never, range };
    const run = await runImport([csv("fleet.csv", fleetCsv(7, startMs))], { destination, rules });
    expect(countsOf(run)).toEqual([[3, 0, { out_of_range: 4 }]]);
    expect([...destination.timestamps.keys()]).toEqual([1, 2, 3].map((s) => `mine ${startMs + s * 1000}`));
  });
});

describe("an import that is interrupted", () => {
  /** Points with skips among them, in files that share batches, and rows of our own. */
  const FILES: readonly TestFile[] = [
    ...["a", "b", "c"].map((name, file) => ({
      ...points(
        name,
        ...Array.from({ length: 4000 }, (_, i) =>
          i % 5 === 4 ? "skip no_fix" : at(file * 10_000_000 + i * 1000, { device: `d${i % 3}` }),
        ),
      ),
      isFound: true,
    })),
    csv("fleet.csv", FLEET),
    csv("none.csv", "device_id,timestamp,latitude,longitude\n"),
    { ...points("last", at(1), "end"), isFound: true },
  ];

  test("goes on where it was, wherever that is", async () => {
    const whole = createDestination();
    const atOnce = outcomeOf(await runImport(FILES, { destination: whole }));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(3), { maxLength: 4 }), async (stops) => {
        const disk = createMemoryFiles();
        let stopAfter = Number.POSITIVE_INFINITY;
        let controller = new AbortController();
        let batches = 0;
        const destination = createDestination(() => {
          if (++batches > stopAfter) controller.abort();
          return null;
        });
        for (const stop of stops) {
          controller = new AbortController();
          [stopAfter, batches] = [stop, 0];
          const { signal } = controller;
          const { end } = outcomeOf(await runImport(FILES, { destination, disk, signal }));
          if (end.kind === "finished") return; // Stopped too late.
          expect(end).toEqual({ kind: "interrupted" });
        }
        stopAfter = Number.POSITIVE_INFINITY;
        const { end, tallies } = outcomeOf(await runImport(FILES, { destination, disk }));
        expect(end).toEqual({ kind: "finished" });
        // Things that were acknowledged are not delivered again, and all are counted once.
        expect(tallies).toEqual(atOnce.tallies);
        expect(destination.rowsDelivered).toBe(whole.rowsDelivered);
        expect(destination.timestamps).toEqual(whole.timestamps);
        expect(disk.contents.size).toBe(0);
      }),
      { numRuns: 40 },
    );
  });

  test("by a delivery that is refused, counts nothing after it, and goes on later", async () => {
    const disk = createMemoryFiles();
    const files = [csv("fleet.csv", FLEET)];
    const full = createDestination((index) => (index === 1 ? "the disk is full" : null));
    const stopped = outcomeOf(await runImport(files, { destination: full, disk }));
    expect(stopped.end).toEqual({ kind: "failed", reason: "the disk is full" });
    expect(stopped.tallies[0]).toMatchObject({ points: 10_000, created: 10_000 });
    const rest = createDestination();
    const { tallies } = outcomeOf(await runImport(files, { destination: rest, disk }));
    expect(rest.timestamps.size).toBe(25_000);
    expect(tallies[0]).toMatchObject({
      points: 35_000,
      created: 35_000,
      extent: { firstMs: at(0).timestampMs },
    });
  });

  test("leaves the state of another program alone, and a damaged one", async () => {
    for (const [text, what] of [
      ['{"version":5}', "it has format version 5 of a newer program, and this program reads version 4"],
      [
        '{"version":3}',
        "it has format version 3 of a program from before the first release, and this program reads version 4",
      ],
      ['{"version":4,"crc":1,"state":{}}', "its checksum is wrong"],
    ] as const) {
      const disk = createMemoryFiles();
      await disk.replace(STATE, new TextEncoder().encode(text));
      const destination = createDestination();
      expect(stopOf(await runImport([csv("fleet.csv", FLEET)], { destination, disk }))).toEqual({
        kind: "failed",
        reason: `The record of an interrupted import, "${STATE}", is no use: ${what}`,
      });
      expect([destination.rowsDelivered, disk.contents.size]).toEqual([0, 1]);
    }
  });
});

describe("points before the retention", () => {
  const OLD = NOW_MS - 400 * MS_PER_DAY;
  const files = [
    points("a", { timestampMs: OLD }, at(0), { timestampMs: OLD + 1 }),
    csv("b", fleetCsv(3, OLD)),
  ];

  test("stop the import before anything is written", async () => {
    const destination = createDestination();
    const stop = stopOf(await runImport(files, { destination, disk: createMemoryFiles() }));
    expect(stop).toMatchObject({
      kind: "too_old",
      edgeMs: Date.UTC(2025, 5, 15),
      survey: { points: 6, pointsBeforeEdge: 5 },
    });
    expect(destination.rowsDelivered).toBe(0);
  });

  test("are left out and counted where that is wanted", async () => {
    expect(countsOf(await runImport(files, { skipOld: true }))).toEqual([
      [1, 0, { too_old: 2 }],
      [0, 0, { too_old: 3 }],
    ]);
  });

  test("stop nothing where they are not wanted or moved", async () => {
    const rules = { ...ALL_RULES, range: { ...ALL_RULES.range, startMs: NOW_MS - 2 * MS_PER_DAY } };
    expect(countsOf(await runImport(files, { rules }))).toEqual([
      [1, 0, { out_of_range: 2 }],
      [0, 0, { out_of_range: 3 }],
    ]);
    const shift = 399 * MS_PER_DAY;
    expect(countsOf(await runImport(files.slice(1), { shift }))).toEqual([[3, 0, {}]]);
  });
});

test("a time without zone stops the import before anything is written", async () => {
  const destination = createDestination();
  const files = [points("a", at(0)), points("b", at(1), "zone")];
  expect(stopOf(await runImport(files, { destination }))).toEqual({
    kind: "option_needed",
    reason: 'b: "2026-01-01 12:00" has no time zone: set it, as with --timezone Europe/Berlin.',
  });
  expect(destination.rowsDelivered).toBe(0);
});

test("planShiftMs() keeps the time of day and ends within the last 24 hours", () => {
  const times = fc.integer({ min: 1e12, max: 2e12 });
  fc.assert(
    fc.property(times, times, (newestMs, nowMs) => {
      const shiftMs = planShiftMs(newestMs, nowMs);
      expect(Math.abs(shiftMs % MS_PER_DAY)).toBe(0);
      expect(newestMs + shiftMs).toBeLessThanOrEqual(nowMs);
      expect(newestMs + shiftMs).toBeGreaterThan(nowMs - MS_PER_DAY);
    }),
  );
});
