import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { latLngToCell } from "h3-js";
import { ARCHIVE_COLUMNS, COLUMNS_MARK } from "../../../../src/archive/columns.ts";
import {
  type Connection,
  type Database,
  openDatabase,
  type Rows,
} from "../../../../src/archive/duckdb/database.ts";
import type { Part } from "../../../../src/archive/manifest.ts";
import { createPartEngine } from "../../../../src/archive/write/engine/part-engine.ts";
import { PARTS_PER_DAY_SMALL_MAX } from "../../../../src/archive/write/fold-plan.ts";
import type { NewPart } from "../../../../src/archive/write/part-job.ts";
import {
  createPartWriter,
  type ErasedPart,
  openPartWriter,
  type PartWriter,
} from "../../../../src/archive/write/part-writer.ts";
import type { DayRows } from "../../../../src/archive/write/row-stager.ts";
import { compareUtf8 } from "../../../../src/lib/text/utf8.ts";
import { isErased, type PendingErasure } from "../../../../src/model/erasure.ts";
import type { AppId, DeviceId, UserId } from "../../../../src/model/ids.ts";
import { STORED_FIELDS } from "../../../../src/model/location-fields.ts";
import { createReportBatchBuilder } from "../../../../src/model/report-batch.ts";
import { utcDayOf } from "../../../../src/model/time/utc-day.ts";
import { FileError, type Files } from "../../../../src/runtime/files.ts";
import { createNodeFiles } from "../../../../src/runtime/node-files.ts";
import { laidOver, type ReferenceRecord, type ReferenceReport } from "../../../reference/records.ts";
import * as fc from "../../../support/fast-check.ts";
import { outcome, rejection } from "../../../support/rejection.ts";
import { arbitraryReport, BASE_MS } from "../../../support/reports/arbitrary-reports.ts";
import { type Report, rowBatchOf } from "../../../support/reports/batches.ts";
import { seededSalts } from "../../../support/seeded-random.ts";

/*
 * Folds over real files and a real DuckDB, with parts of at most 8 rows, so that few reports make many parts. What
 * the parts hold is compared with a map of plain objects.
 */

const PART_ROWS_MAX = 8;
const DAY = utcDayOf(BASE_MS);
const STATES = { day: DAY, sequence: 7, sequenceBefore: 3, cleared: 6, clearedBefore: 2, erasures: [] };

/** A row of a part, or a report with its app. */
type Row = Record<string, unknown>;

interface AppReport {
  readonly app: string;
  readonly report: Report;
}

let directory: string;
let database: Database;
let connection: Connection;
let writer: PartWriter;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "wherehouse-parts-"));
  mkdirSync(join(directory, "spill"));
  mkdirSync(join(directory, "day=2026-01-15")); // A name that DuckDB would take for a column by itself.
  database = await openDatabase({
    threads: 1,
    memoryBytes: 256_000_000,
    directories: [directory],
    cachesFiles: true,
    spillDirectory: join(directory, "spill"),
  });
  connection = await database.connect();
  writer = writerOver(createNodeFiles());
});

afterEach(async () => {
  connection.close();
  await writer.close();
  rmSync(directory, { recursive: true });
});

function writerOver(files: Files, partRowsMax = PART_ROWS_MAX): PartWriter {
  return createPartWriter({
    files,
    scratchDirectory: join(directory, "scratch"),
    pathOf: ({ file }) => join(directory, file),
    engine: createPartEngine(files, database),
    partRowsMax,
  });
}

function scratchFiles(): string[] {
  const scratch = join(directory, "scratch");
  return existsSync(scratch) ? readdirSync(scratch) : [];
}

/** Names of parts are never used twice: DuckDB remembers what it read of a file, and files change within a tick. */
let partsMade = 0;

/** A day's parts, as a manifest would list them. */
class Day {
  parts: readonly Part[] = [];

  /** What the last fold erased. */
  erased: readonly ErasedPart[] = [];

  /** Folds reports in; resolves with the parts that were made, and checks what `fold` says of the replaced. */
  async fold(
    reports: readonly AppReport[],
    by = writer,
    erasures: readonly PendingErasure[] = [],
  ): Promise<NewPart[]> {
    const made: NewPart[] = [];
    const added: Part[] = [];
    const request = { ...STATES, parts: this.parts, erasures, rows: dayRows(reports) };
    const { replaced, erased } = await by.fold(request, async (part) => {
      expect(scratchFiles().filter((name) => name.endsWith(".parquet"))).toEqual([]); // One at a time.
      expect(scratchFiles().length).toBeLessThanOrEqual(1);
      made.push(part);
      added.push(this.keep(part));
    });
    if (made.length > 0) expect(made.flatMap(({ replaces }) => replaces)).toEqual([...replaced]);
    this.erased = erased;
    expect(this.parts).toEqual(expect.arrayContaining([...replaced]));
    this.parts = [...this.parts.filter((part) => !replaced.includes(part)), ...added];
    return made;
  }

  keep({ bytes, rows, apps }: NewPart): Part {
    const file = `day=2026-01-15/${++partsMade}.parquet`;
    writeFileSync(join(directory, file), bytes);
    return { file, rows, bytes: bytes.length, crc: crc32(bytes), apps, columns: COLUMNS_MARK };
  }

  async rows(): Promise<Row[]> {
    return (await Promise.all(this.parts.map(readPart))).flat().sort(byKey);
  }
}

/** The rows as memory gives them: in order, two a batch, with all reports of each instant. */
async function* dayRows(reports: readonly AppReport[]): AsyncGenerator<DayRows> {
  const instants = Map.groupBy(reports, (one) => keyOf(rowOf(one)));
  const sorted = [...instants.values()].sort(([a], [b]) => byKey(rowOf(a!), rowOf(b!)));
  while (sorted.length > 0) {
    const [first, second] = sorted;
    const appId = first![0]!.app as AppId;
    const pair = second?.[0]?.app === appId ? [first!, second] : [first!];
    sorted.splice(0, pair.length);
    yield { appId, batch: rowBatchOf(pair.flat().map(({ report }) => report)), isOutOfOrder: false };
  }
}

/** What a report carries. */
function rowOf({ app, report }: AppReport): Row {
  const carried = Object.entries(report).filter(([, value]) => value !== null);
  return { app_id: app, ...Object.fromEntries(carried) };
}

function keyOf({ app_id, device_id, timestamp }: Row): string {
  return JSON.stringify([app_id, device_id, timestamp]);
}

function byKey(a: Row, b: Row): number {
  return (
    compareUtf8(String(a.app_id), String(b.app_id)) ||
    compareUtf8(String(a.device_id), String(b.device_id)) ||
    Number(a.timestamp) - Number(b.timestamp)
  );
}

/** The obvious archive. */
class Model {
  readonly #rows = new Map<string, Row>();

  /** True where that changed anything. */
  fold(reports: readonly AppReport[]): boolean {
    const before = Bun.hash(JSON.stringify([...this.#rows]));
    for (const one of reports) {
      const row = rowOf(one);
      const known = (this.#rows.get(keyOf(row)) as ReferenceRecord | undefined) ?? null;
      const laid = laidOver(known, row as unknown as ReferenceReport) as unknown as Row;
      this.#rows.set(keyOf(row), { ...laid, h3_cell: cellOf(laid) });
    }
    return before !== Bun.hash(JSON.stringify([...this.#rows]));
  }

  /** How many rows each of the erasures takes, and which devices then have none of them. */
  erase(erasures: readonly PendingErasure[]): Map<number, number> {
    const counts = new Map<number, number>();
    for (const [key, { app_id, device_id, user_id, timestamp }] of [...this.#rows]) {
      const first = erasures.find(
        (erasure) =>
          erasure.appId === app_id &&
          isErased(erasure, device_id as string, user_id as string, timestamp as number),
      );
      if (first === undefined) continue;
      this.#rows.delete(key);
      counts.set(first.sequence, (counts.get(first.sequence) ?? 0) + 1);
    }
    return counts;
  }

  rows(): Row[] {
    return [...this.#rows.values()].sort(byKey);
  }
}

function cellOf({ latitude, longitude }: Row): string {
  return BigInt(`0x${latLngToCell(Number(latitude), Number(longitude), 7)}`).toString();
}

/** A part's rows in their order, without what they don't carry. */
async function readPart({ file }: Pick<Part, "file">): Promise<Row[]> {
  const select = ARCHIVE_COLUMNS.map(({ name, type }) => {
    if (type === "BIGINT") return `${name}::DOUBLE`;
    return type === "UBIGINT" ? `${name}::VARCHAR` : name;
  });
  const rows = await connection.run(
    `SELECT ${select.join(", ")} FROM read_parquet($path, file_row_number = true)
    ORDER BY file_row_number`,
    { path: join(directory, file) },
  );
  const columns = ARCHIVE_COLUMNS.map(({ type }, index) => columnOf(rows, type, index));
  return Array.from({ length: rows.count }, (_, row) =>
    Object.fromEntries(
      ARCHIVE_COLUMNS.map(({ name }, index) => [name, columns[index]![row]]).filter(
        ([, value]) => value !== null,
      ),
    ),
  );
}

function columnOf(rows: Rows, type: string, index: number): unknown[] {
  if (type === "BOOLEAN") return rows.booleans(index);
  if (type === "VARCHAR" || type === "UBIGINT") return rows.texts(index);
  return [...rows.numbers(index)].map((value) => (Number.isNaN(value) ? null : value));
}

async function metadataOf({ file }: Part): Promise<Record<string, string>> {
  const found = await connection.run("SELECT decode(key), decode(value) FROM parquet_kv_metadata($path)", {
    path: join(directory, file),
  });
  const values = found.texts(1);
  return Object.fromEntries(found.texts(0).map((key, row) => [key, values[row]]));
}

/** Few instants, so that many reports meet a record of before. */
const folds = fc.array(
  fc.array(
    fc.record({
      app: fc.constantFrom("app", "b"),
      report: fc
        .tuple(arbitraryReport, fc.nat(2))
        .map(([report, second]): Report => ({ ...report, timestamp: BASE_MS + second * 1000 })),
    }),
    { maxLength: 24 },
  ),
  { minLength: 1, maxLength: 8 },
);

const EVER = { startMs: Number.NEGATIVE_INFINITY, endMs: Number.POSITIVE_INFINITY };

/** Something to erase: the device or the user of a row, in a range. */
interface Subject {
  readonly of: "device" | "user";
  readonly row: number;
  readonly range: { readonly startMs: number; readonly endMs: number };
}

const subjects: fc.Arbitrary<Subject> = fc.record({
  of: fc.constantFrom("device", "device", "user"),
  row: fc.nat(100),
  range: fc.constantFrom(
    EVER,
    { ...EVER, startMs: BASE_MS + 1000 },
    { startMs: BASE_MS, endMs: BASE_MS + 1000 },
  ),
});

function erasureOf({ of, row, range }: Subject, rows: readonly Row[], sequence: number): PendingErasure {
  const { app_id = "app", device_id = "none", user_id = "none" } = rows[row % Math.max(1, rows.length)] ?? {};
  return {
    sequence,
    appId: app_id as AppId,
    deviceIds: of === "user" ? [] : [device_id as DeviceId],
    userId: of === "user" ? (user_id as UserId) : null,
    range,
  };
}

describe("fold()", () => {
  test("leaves what a map of records would hold, in few sorted parts", async () => {
    await fc.assert(
      fc.asyncProperty(folds, async (rounds) => {
        const day = new Day();
        const model = new Model();
        for (const reports of rounds) {
          const made = await day.fold(reports);
          expect(made.length > 0).toBe(model.fold(reports));
          expect(await day.rows()).toEqual(model.rows()); // A key in two parts would show as one row too many.
          for (const [index, { rows, apps }] of made.entries()) {
            const found = await readPart(day.parts.at(index - made.length)!);
            expect(found).toEqual([...found].sort(byKey));
            expect({ rows, apps }).toEqual({ rows: found.length, apps: countsByApp(found) });
            expect(rows).toBeLessThanOrEqual(PART_ROWS_MAX);
          }
          const small = day.parts.filter(({ rows }) => rows < PART_ROWS_MAX / 2);
          expect(small.length).toBeLessThanOrEqual(PARTS_PER_DAY_SMALL_MAX);
          expect(scratchFiles()).toEqual([]);
        }
      }),
      { numRuns: 20 },
    );
  });

  test("erases what a loop over a map would, before it folds", async () => {
    const rounds = fc.array(fc.tuple(folds, fc.array(subjects, { maxLength: 2 })), {
      minLength: 1,
      maxLength: 4,
    });
    let erasedRows = 0;
    await fc.assert(
      fc.asyncProperty(rounds, async (all) => {
        const day = new Day();
        const model = new Model();
        for (const [reports, drawn] of all) {
          for (const some of reports) {
            await day.fold(some);
            model.fold(some);
          }
          const erasures = drawn.map((subject, index) => erasureOf(subject, model.rows(), 4 + index));
          const counts = model.erase(erasures);
          const before = day.parts;
          const now = reports[0]!.slice(0, drawn.length === 2 ? 3 : 0);
          const isChanged = model.fold(now) || counts.size > 0;
          const made = await day.fold(now, writer, erasures);
          if (!isChanged) expect([made, day.erased]).toEqual([[], []]);
          expect(await day.rows()).toEqual(model.rows());
          const found = new Map<number, number>();
          for (const { part, counts: ofPart, into } of day.erased) {
            expect(before).toContain(part);
            expect(day.parts).not.toContain(part);
            for (const [sequence, count] of ofPart) found.set(sequence, (found.get(sequence) ?? 0) + count);
            const left = part.rows - ofPart.values().reduce((sum, count) => sum + count, 0);
            expect(into === null).toBe(left === 0);
            if (into !== null) expect(made[into]!.replaces).toContain(part);
          }
          expect(found).toEqual(counts);
          erasedRows += found.values().reduce((sum, count) => sum + count, 0);
          for (const { rows } of day.parts) expect(rows).toBeGreaterThan(0);
          if (made.length > 0)
            expect(await metadataOf(day.parts.at(-1)!)).toMatchObject({ wherehouse_cleared: "6" });
          expect(scratchFiles()).toEqual([]);
        }
      }),
      { numRuns: 10 },
    );
    expect(erasedRows).toBeGreaterThan(0);
  });

  test("writes a part anew to say that it replaces another of which nothing is left", async () => {
    const day = new Day();
    await day.fold([bus("a", 1), bus("b", 1)]);
    await day.fold([bus("c", 1)]);
    const [kept, gone] = day.parts;
    const made = await day.fold([], writer, [
      erasureOf({ of: "device", row: 2, range: EVER }, await day.rows(), 5),
    ]);
    expect(made.map(({ rows, replaces }) => [rows, replaces])).toEqual([[2, [kept!, gone!]]]);
    expect(day.erased).toEqual([{ part: gone!, counts: new Map([[5, 1]]), into: null }]);
    expect(await metadataOf(day.parts[0]!)).toMatchObject({
      wherehouse_sequence: "7",
      wherehouse_cleared: "6",
      wherehouse_replaces: JSON.stringify([kept!.file, gone!.file]),
    });
  });

  test("leaves nothing of a day that has nothing else, and reads no part of other apps", async () => {
    const day = new Day();
    await day.fold([bus("a", 1)]);
    const [part] = day.parts;
    const erasure = erasureOf({ of: "device", row: 0, range: EVER }, await day.rows(), 5);
    rmSync(join(directory, part!.file));
    expect(await day.fold([], writer, [{ ...erasure, appId: "b" as AppId }])).toEqual([]);
    expect(day.parts).toEqual([part!]);
    expect(await outcome(day.fold([], writer, [erasure]))).toThrow("ENOENT");
    const other = new Day();
    await other.fold([bus("a", 1)]);
    expect(await other.fold([], writer, [erasure])).toEqual([]);
    expect([other.parts, other.erased.length]).toEqual([[], 1]);
  });

  test("rejects where a part to erase from has a flipped bit", async () => {
    const day = new Day();
    await day.fold([bus("a", 1), bus("b", 1)]);
    const erasure = erasureOf({ of: "device", row: 0, range: EVER }, await day.rows(), 5);
    const path = join(directory, day.parts[0]!.file);
    const flipped = readFileSync(path);
    flipped[flipped.length >> 1]! ^= 1;
    writeFileSync(path, flipped);
    expect(await outcome(day.fold([], writer, [erasure]))).toThrow(`Part "${path}" is damaged`);
  });

  test("replaces only the part whose record changes, and says so in the file", async () => {
    const day = new Day();
    await day.fold([bus("a", 1), bus("b", 1)]);
    await day.fold([bus("c", 1)]);
    const [first, second] = day.parts;
    const [made] = await day.fold([bus("b", 1, { speed: 3 })]);
    expect(made!.replaces).toEqual([first!]);
    expect(day.parts[0]).toBe(second!);
    expect(await metadataOf(day.parts[1]!)).toMatchObject({
      wherehouse_format: "1",
      wherehouse_day: "2026-01-15",
      wherehouse_sequence: "7",
      wherehouse_cleared: "6",
      wherehouse_replaces: JSON.stringify([first!.file]),
    });
    expect(await metadataOf(second!)).toMatchObject({ wherehouse_replaces: "[]" });
  });

  test("names each column of a field by its number in the file", async () => {
    const day = new Day();
    await day.fold([bus("a", 1)]);
    const schema = await connection.run(
      "SELECT name, field_id::DOUBLE FROM parquet_schema($path) WHERE field_id IS NOT NULL",
      { path: join(directory, day.parts[0]!.file) },
    );
    const ids = schema.numbers(1);
    const found = schema.texts(0).map((name, column) => [name, ids[column]]);
    expect(new Map(found as [string, number][])).toEqual(
      new Map(STORED_FIELDS.map(({ name, columnNumber }) => [name, columnNumber])),
    );
  });

  test("says that the day is covered in the last of its new parts alone", async () => {
    const day = new Day();
    const sequences = async (made: readonly NewPart[]) => {
      const metadata = await Promise.all(day.parts.slice(-made.length).map(metadataOf));
      return metadata.map((each) => `${each.wherehouse_sequence} ${each.wherehouse_cleared}`);
    };
    const many = await day.fold(Array.from({ length: 2 * PART_ROWS_MAX + 1 }, (_, step) => bus("a", step)));
    expect(many.length).toBeGreaterThan(2);
    expect(await sequences(many)).toEqual([...Array(many.length - 1).fill("3 2"), "7 6"]);
    const two = await day.fold([bus("a", 1, { speed: 3 }), bus("b", 1)]); // A part that changes, and a new one.
    expect(two.length).toBe(2);
    expect(await sequences(two)).toEqual(["3 2", "7 6"]);
  });

  test("keeps what a late report leaves out but what is of another fix, and moves the cell with the place", async () => {
    const day = new Day();
    await day.fold([bus("a", 1, { user_id: "u", speed: 3, brand: "b", type: "" })]);
    await day.fold([bus("a", 1, { latitude: 10, longitude: 20, type: "MOVING" })]);
    expect(await day.rows()).toEqual([
      {
        app_id: "app",
        device_id: "a",
        timestamp: BASE_MS + 1000,
        user_id: "u",
        latitude: 10,
        longitude: 20,
        brand: "b",
        type: "MOVING",
        h3_cell: cellOf({ latitude: 10, longitude: 20 }),
      },
    ]);
  });

  test("sorts a part whose rows come out of order", async () => {
    async function* rows(): AsyncGenerator<DayRows> {
      yield* dayRows([bus("a", 2), bus("b", 1)]);
      for await (const hidden of dayRows([bus("a", 1), bus("a", 3)])) yield { ...hidden, isOutOfOrder: true };
    }
    const parts: Part[] = [];
    const request = { ...STATES, parts: [], rows: rows() };
    await writer.fold(request, async (made) => {
      parts.push(new Day().keep(made));
    });
    const read = await readPart(parts[0]!);
    const keys = read.map(({ device_id, timestamp }) => `${device_id} ${Number(timestamp) - BASE_MS}`);
    expect(keys).toEqual(["a 1000", "a 2000", "a 3000", "b 1000"]);
  });

  test("writes nothing for no rows and for rows it has", async () => {
    const day = new Day();
    const nothing = { appId: "app" as AppId, batch: rowBatchOf([]), isOutOfOrder: false };
    async function* noRows(): AsyncGenerator<DayRows> {
      yield nothing;
    }
    const keep = () => Promise.reject(new Error("nothing is to be kept"));
    await writer.fold({ ...STATES, parts: [], rows: noRows() }, keep);
    await day.fold([bus("a", 1, { speed: 3 }), bus("b", 1)]);
    await writer.fold({ ...STATES, parts: day.parts, rows: noRows() }, keep);
    expect(await day.fold([])).toEqual([]);
    expect(await day.fold([bus("a", 1), bus("b", 1)])).toEqual([]);
  });

  test("hands over no part that the same fold merges", async () => {
    const day = new Day();
    for (const device of ["a", "b", "c", "d"]) await day.fold([bus(device, 1)]);
    expect(day.parts.length).toBe(PARTS_PER_DAY_SMALL_MAX);
    const before = day.parts;
    const made = await day.fold([bus("e", 1), bus("b", 1, { speed: 3 })]);
    expect(made.map(({ rows, replaces }) => [rows, new Set(replaces)])).toEqual([[5, new Set(before)]]);
  });

  test("reads parts that lack a column as if nothing carried it", async () => {
    const day = new Day();
    await day.fold([bus("a", 1, { speed: 3 })]);
    const [part] = day.parts;
    const older = "day=2026-01-15/older.parquet";
    await connection.run(`COPY (SELECT * EXCLUDE (h3_cell, bearing) FROM read_parquet('${join(directory, part!.file)}'))
      TO '${join(directory, older)}' (FORMAT parquet)`);
    day.parts = [{ ...part!, file: older, crc: crc32(readFileSync(join(directory, older))) }];
    await day.fold([bus("a", 1, { bearing: 90 })]);
    expect(await day.rows()).toMatchObject([
      { speed: 3, bearing: 90, h3_cell: cellOf({ latitude: 1, longitude: 1 }) },
    ]);
  });

  test("writes zstd in row groups that are small enough to skip", async () => {
    const day = new Day();
    const large = writerOver(createNodeFiles(), 100_000);
    await day.fold(
      Array.from({ length: 30_000 }, (_, step) => bus("a", step)),
      large,
    );
    const found = await connection.run(
      "SELECT DISTINCT row_group_num_rows::DOUBLE, compression FROM parquet_metadata($path) ORDER BY 1",
      { path: join(directory, day.parts[0]!.file) },
    );
    expect([...found.numbers(0)]).toEqual([9520, 20_480]);
    expect(found.texts(1)).toEqual(["ZSTD", "ZSTD"]);
  });

  test("rejects with what keep() threw, and leaves no scratch files", async () => {
    const day = new Day();
    await day.fold([bus("a", 1)]);
    const full = new FileError("replace", "x", "ENOSPC");
    for (const parts of [[], day.parts]) {
      const request = { ...STATES, parts, rows: dayRows([bus("b", 1)]) };
      expect(await rejection(writer.fold(request, () => Promise.reject(full)))).toBe(full);
      expect(scratchFiles()).toEqual([]);
    }
  });

  test("rejects with what the rows or the scratch disk threw, and leaves no scratch files", async () => {
    async function* failing(): AsyncGenerator<DayRows> {
      yield* dayRows([bus("a", 1)]);
      throw new Error("no more rows");
    }
    const request = { ...STATES, parts: [] };
    const keep = () => Promise.reject(new Error("nothing is to be kept"));
    expect(await outcome(writer.fold({ ...request, rows: failing() }, keep))).toThrow("no more rows");
    expect(scratchFiles()).toEqual([]);

    const files = createNodeFiles();
    const full = writerOver({
      ...files,
      async openAppend(path) {
        const file = await files.openAppend(path);
        return { ...file, append: () => Promise.reject(new FileError("append to", path, "ENOSPC")) };
      },
    });
    expect(await outcome(full.fold({ ...request, rows: dayRows([bus("a", 1)]) }, keep))).toThrow("ENOSPC");
    expect(scratchFiles()).toEqual([]);
  });

  test("adds no row to what a writer before it could not remove", async () => {
    const real = createNodeFiles();
    const withoutDescriptors = async (path: string) => {
      throw new FileError("open", path, "EMFILE");
    };
    const reports = [bus("a", 1), bus("b", 2)];
    const createSalt = seededSalts(1);
    const open = (files: Files) =>
      openPartWriter({
        directory,
        files,
        openDatabase: async () => database,
        memoryBytes: 256_000_000,
        createSalt,
        processes: null,
        onNote: () => {},
        signal: new AbortController().signal,
      });
    const failing = await open({ ...real, read: withoutDescriptors, list: withoutDescriptors });
    const day = new Day();
    expect(await outcome(day.fold(reports, failing))).toThrow("EMFILE");
    expect(scratchFiles()).not.toEqual([]);

    const made: NewPart[] = [];
    const request = { ...STATES, parts: [], rows: dayRows(reports) };
    await (await open(real)).fold(request, async (part) => void made.push(part));
    expect(made.map(({ rows }) => rows)).toEqual([2]);
  });

  test("rejects where a part is cut short, has a flipped bit, or is gone", async () => {
    const day = new Day();
    await day.fold([bus("a", 1, { brand: "Google" })]);
    const path = join(directory, day.parts[0]!.file);
    const bytes = readFileSync(path);
    const flipped = Buffer.from(bytes);
    flipped[bytes.length >> 1]! ^= 1;
    for (const damaged of [bytes.subarray(0, -20), flipped]) {
      writeFileSync(path, damaged);
      expect(await outcome(day.fold([bus("a", 1, { speed: 1 })]))).toThrow(`Part "${path}" is damaged`);
      expect(scratchFiles()).toEqual([]);
    }
    rmSync(path);
    expect(await outcome(day.fold([bus("a", 1, { speed: 1 })]))).toThrow(
      `Cannot read "${path}": no such file or directory (ENOENT)`,
    );
    expect(scratchFiles()).toEqual([]);
  });

  test("is broken off by breakOff()", async () => {
    const reports = Array.from({ length: 40 }, (_, step) => bus("a", step));
    const request = { ...STATES, parts: [], rows: dayRows(reports) };
    let kept = 0;
    const folding = writer.fold(request, async () => {
      if (++kept === 2) writer.breakOff();
    });
    expect(await outcome(folding)).toThrow("abort");
    expect(kept).toBe(2);
    expect(scratchFiles()).toEqual([]);
  });
});

test("writeLatest() writes rows as they are, also without a place", async () => {
  const builder = createReportBatchBuilder(2);
  builder.begin();
  builder.add(builder.text("known by time alone"), BASE_MS);
  builder.begin();
  builder.numbers[0] = 42.36;
  builder.numbers[1] = -71.06;
  builder.add(builder.text("placed"), BASE_MS);
  async function* rows(): AsyncGenerator<DayRows> {
    yield { appId: "app" as AppId, batch: { ...builder.build(), fixes: null }, isOutOfOrder: false };
  }
  const parts: Part[] = [];
  await writer.writeLatest(9, rows(), async (made) => {
    parts.push(new Day().keep(made));
  });
  expect(await readPart(parts[0]!)).toEqual([
    { app_id: "app", device_id: "known by time alone", timestamp: BASE_MS },
    {
      app_id: "app",
      device_id: "placed",
      timestamp: BASE_MS,
      latitude: 42.36,
      longitude: -71.06,
      h3_cell: cellOf({ latitude: 42.36, longitude: -71.06 }),
    },
  ]);
  expect(await metadataOf(parts[0]!)).toMatchObject({ wherehouse_day: "latest", wherehouse_sequence: "9" });
});

function bus(device: string, second: number, more: Report = {}): AppReport {
  const report = {
    device_id: device,
    timestamp: BASE_MS + second * 1000,
    latitude: 1,
    longitude: 1,
    ...more,
  };
  return { app: "app", report };
}

function countsByApp(rows: readonly Row[]): Map<AppId, number> {
  const counts = new Map<AppId, number>();
  for (const { app_id } of rows) counts.set(app_id as AppId, (counts.get(app_id as AppId) ?? 0) + 1);
  return counts;
}
