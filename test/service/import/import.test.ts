import { describe, expect, test } from "bun:test";
import { gzipSync, zstdCompressSync } from "node:zlib";
import fc from "fast-check";
import { fingerprintOf } from "../../../src/service/import/fingerprint.ts";
import type { ImportFile, ImportOutcome } from "../../../src/service/import/import.ts";
import type { ImportInput } from "../../../src/service/import/input.ts";
import { createImportRun } from "../../../src/service/import/run.ts";
import { planShiftMs } from "../../../src/service/import/shift.ts";
import { createImportStateStore } from "../../../src/service/import/state-store.ts";
import { createManualClock } from "../../../src/time/clock.ts";
import { MS_PER_DAY } from "../../../src/time/retention.ts";
import { readTestDataBytes } from "../../support/test-data.ts";
import {
  createDestination,
  createEventLog,
  createMemoryFiles,
  type Destination,
  fleetCsv,
  inputOf,
} from "./inputs.ts";

const NOW_MS = Date.UTC(2026, 5, 15, 12);
const STATE = "imports/one.json";

interface Setting {
  readonly destination: Destination;
  readonly disk?: ReturnType<typeof createMemoryFiles>;
  readonly nowMs?: number;
  readonly signal?: AbortSignal;
  readonly shiftToNow?: boolean;
}

async function runImport(files: readonly ImportFile[], setting: Setting) {
  const events = createEventLog();
  const run = createImportRun({
    deliver: setting.destination.deliver,
    clock: createManualClock(setting.nowMs ?? NOW_MS),
    store: setting.disk === undefined ? null : createImportStateStore(setting.disk, STATE),
    signal: setting.signal ?? new AbortController().signal,
    events,
  });
  const result = await run({ files, userId: null, shiftToNow: setting.shiftToNow ?? false });
  return { result, said: events.said };
}

function outcomeOf({ result }: Awaited<ReturnType<typeof runImport>>): ImportOutcome {
  if (!result.ok) throw new Error(result.error);
  return result.value;
}

const csv = (name: string, content: string | Uint8Array): ImportFile => ({
  input: inputOf(name, content),
  format: "csv",
});
const FLEET = fleetCsv(35_000, NOW_MS - MS_PER_DAY);

describe("createImportRun()", () => {
  test("delivers every row once, and tells duplicates when it is done again", async () => {
    const destination = createDestination();
    const files = [csv("fleet.csv", FLEET)];
    const first = outcomeOf(await runImport(files, { destination }));
    expect(first.end).toEqual({ kind: "finished" });
    expect(first.progress.counts).toEqual([{ accepted: 35_000, duplicates: 0, rejected: 0 }]);
    const again = outcomeOf(await runImport(files, { destination }));
    expect(again.progress.counts).toEqual([{ accepted: 0, duplicates: 35_000, rejected: 0 }]);
  });

  test("goes on where it was interrupted, wherever that is", async () => {
    const files = [
      csv("a.csv", fleetCsv(12_000, NOW_MS - MS_PER_DAY)),
      csv("b.csv", FLEET),
      csv("c.csv", "device_id,timestamp,latitude,longitude\n"),
    ];
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
          const { end } = outcomeOf(await runImport(files, { destination, disk, signal: controller.signal }));
          if (end.kind === "finished") return; // Stopped too late.
          expect(end).toEqual({ kind: "interrupted" });
        }
        stopAfter = Number.POSITIVE_INFINITY;
        const last = outcomeOf(await runImport(files, { destination, disk }));
        const counts = last.progress.counts.map(({ accepted, duplicates }) => accepted + duplicates);
        expect(counts).toEqual([12_000, 35_000, 0]);
        // Rows that were acknowledged are not read again: the runs together delivered each once.
        expect(destination.rowsDelivered).toBe(47_000);
        expect(destination.timestamps.size).toBe(35_000);
        expect(disk.contents.size).toBe(0);
      }),
      { numRuns: 25 },
    );
  });

  test("keeps the shift of an import that was killed, days later too", async () => {
    const disk = createMemoryFiles();
    const files = [csv("fleet.csv", fleetCsv(35_000, Date.UTC(2010, 5, 11)))];
    const destination = createDestination((index) => {
      if (index === 2) throw new Error("killed");
      return null;
    });
    const shifted = { destination, disk, shiftToNow: true };
    await expect(runImport(files, shifted)).rejects.toThrow("killed");
    const { said, result } = await runImport(files, { ...shifted, nowMs: NOW_MS + 3 * MS_PER_DAY });
    expect(said).toEqual(["resumed in file 0"]);
    expect(result.ok).toBe(true);
    expect(destination.timestamps.size).toBe(35_000);
    expect(Math.max(...destination.timestamps.values())).toBeLessThanOrEqual(NOW_MS);
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
      shiftToNow: true,
      nowMs: Date.UTC(2011, 0, 3, 12),
    });
    expect(said).toEqual(["0 shift 1 days", "1 shift 367 days", "2 shift 0 days"]);
    const times = [...destination.timestamps.values()];
    expect([Math.min(...times), Math.max(...times)]).toEqual([
      newer + MS_PER_DAY,
      Date.UTC(2011, 0, 3, 0, 0, 6),
    ]);
    expect(times.length).toBe(14);
  });

  test("stops at a refused delivery, counts nothing after it, and goes on later", async () => {
    const disk = createMemoryFiles();
    const files = [csv("fleet.csv", FLEET)];
    const full = createDestination((index) => (index === 1 ? "the disk is full" : null));
    const stopped = outcomeOf(await runImport(files, { destination: full, disk }));
    expect(stopped.end).toEqual({ kind: "failed", reason: "the disk is full" });
    expect(stopped.progress.counts).toEqual([{ accepted: 10_000, duplicates: 0, rejected: 0 }]);
    expect(stopped.progress.position?.line).toBe(10_002);
    const rest = createDestination();
    await runImport(files, { destination: rest, disk });
    expect(rest.timestamps.size).toBe(25_000);
  });

  test("imports what a broken file has, and the files after it", async () => {
    const cut = gzipSync(FLEET).subarray(0, -5000);
    const destination = createDestination();
    const files = [
      csv("cut.csv.gz", cut),
      csv("no.csv", "latitude\n1\n"),
      csv("good.csv", fleetCsv(3, NOW_MS - 5000)),
      csv("plain.csv.gz", FLEET),
    ];
    const run = await runImport(files, { destination });
    expect(run.said).toEqual([
      "0 unreadable: unexpected end of file",
      "1 unreadable: the header on line 1 lacks device_id, timestamp, longitude; " +
        "a header looks like this: device_id,timestamp,latitude,longitude,speed",
      "3 unreadable: it is not gzip, or is damaged (incorrect header check)",
    ]);
    const { end, progress } = outcomeOf(run);
    expect(end).toEqual({ kind: "finished" });
    expect(progress.counts[0]!.accepted).toBeGreaterThan(1000);
    expect(progress.counts[2]).toEqual({ accepted: 3, duplicates: 0, rejected: 0 });
  });

  test("does not shift by a file that it can't read to the end", async () => {
    const destination = createDestination();
    const files = [csv("cut.csv.gz", gzipSync(FLEET).subarray(0, -5000))];
    const { result } = await runImport(files, { destination, shiftToNow: true });
    expect(result).toEqual({
      ok: false,
      error: `Nothing was imported: "cut.csv.gz" can't be read: unexpected end of file`,
    });
    expect(destination.rowsDelivered).toBe(0);
  });

  test("names the line of every rejected row, in the order of the file", async () => {
    const lines = FLEET.trimEnd().split("\n");
    for (const line of [3, 15_000, 34_000]) lines[line - 1] = "d,1,2,3,4";
    const run = await runImport([csv("fleet.csv", lines.join("\r\n"))], { destination: createDestination() });
    expect(run.said.map((text) => text.split(" ")[0])).toEqual(["0:3", "0:15000", "0:34000"]);
    expect(outcomeOf(run).progress.counts[0]).toMatchObject({ accepted: 34_997, rejected: 3 });
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
    const destination = createDestination();
    const files: ImportFile[] = [{ input: inputOf("a.ndjson", lines.join("\r\n"), 7), format: "ndjson" }];
    const { said } = await runImport(files, { destination });
    expect(destination.timestamps.size).toBe(2);
    expect(said).toEqual([
      "0:3 it is not valid JSON",
      "0:4 a report must be a JSON object",
      "0:5 a report must be a JSON object",
      "0:6 latitude must be a number",
    ]);
  });

  test("is the same for any compression", async () => {
    const half = FLEET.length >> 1;
    const parts = [FLEET.slice(0, half), FLEET.slice(half)].map((text) => new TextEncoder().encode(text));
    const skippable = new Uint8Array([0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3]);
    const packed: [string, Uint8Array][] = [
      ["a.csv.gz", gzipSync(FLEET)],
      ["b.csv.gz", Buffer.concat(parts.map((part) => gzipSync(part)))],
      ["c.csv.zst", zstdCompressSync(FLEET)],
      ["d.csv.zst", Buffer.concat([skippable, ...parts.map((part) => zstdCompressSync(part)), skippable])],
    ];
    for (const [name, bytes] of packed) {
      const destination = createDestination();
      await runImport([{ input: inputOf(name, bytes, 1000), format: "csv" }], { destination });
      expect([name, destination.timestamps.size]).toEqual([name, 35_000]);
    }
  });

  test("says that a zstd file is cut off, wherever that is", async () => {
    const whole = zstdCompressSync(fleetCsv(50, NOW_MS - MS_PER_DAY));
    for (let bytes = 1; bytes < whole.length; bytes += 7) {
      const files = [csv("a.csv.zst", whole.subarray(0, bytes))];
      const { said } = await runImport(files, { destination: createDestination() });
      expect(said).toEqual(["0 unreadable: the zstd data is cut off"]);
    }
    const { said } = await runImport([csv("a.csv.zst", FLEET)], { destination: createDestination() });
    expect(said).toEqual(["0 unreadable: it is not zstd data"]);
  });

  test("leaves the state of a newer program alone", async () => {
    const disk = createMemoryFiles();
    await disk.replace(STATE, new TextEncoder().encode('{"version":2}'));
    const destination = createDestination();
    const { result } = await runImport([csv("fleet.csv", FLEET)], { destination, disk });
    expect(result).toEqual({
      ok: false,
      error: `The record of an interrupted import, "${STATE}", is no use: it has format version 2, and this program knows up to 1`,
    });
    expect([destination.rowsDelivered, disk.contents.size]).toEqual([0, 1]);
  });

  test("takes in the real tracks", async () => {
    const rows = {
      ais_denmark_20100611: 2965,
      bus_liverpool_route14_20260126: 1533,
      gpx_limerick_bus304_20190218: 2144,
      gtfsrt_mbta_20221122: 498_840,
    };
    for (const [name, count] of Object.entries(rows)) {
      const bytes = readTestDataBytes(`tracks/${name}.csv.gz`);
      if (bytes === null) continue;
      const destination = createDestination();
      const run = await runImport([csv(`${name}.csv.gz`, bytes)], { destination, shiftToNow: true });
      expect(outcomeOf(run).progress.counts).toEqual([{ accepted: count, duplicates: 0, rejected: 0 }]);
      const newestMs = [...destination.timestamps.values()].reduce((a, b) => Math.max(a, b));
      expect(newestMs).toBeLessThanOrEqual(NOW_MS);
      expect(newestMs).toBeGreaterThan(NOW_MS - MS_PER_DAY);
    }
  });
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

test("fingerprintOf() tells files apart by every byte, and nothing else", async () => {
  const bytes = new Uint8Array(1_000_000);
  const changedAt = (place: number) => bytes.with(place, 1);
  const fingerprint = (input: ImportInput, signal = new AbortController().signal) =>
    fingerprintOf(input, () => {}, signal);
  const prints = [
    bytes,
    bytes.subarray(1),
    changedAt(0),
    changedAt(500_000),
    changedAt(999_999),
    new Uint8Array(10),
  ];
  const all = await Promise.all(prints.map((content) => fingerprint(inputOf("a", content))));
  expect(new Set(all).size).toBe(6);
  expect(await fingerprint(inputOf("elsewhere", bytes, 999))).toBe(all[0]!);
  expect(await fingerprint({ ...inputOf("-", bytes), sizeBytes: null })).toBeNull();
  expect(await fingerprint(inputOf("a", bytes), AbortSignal.abort())).toBeNull();
});
