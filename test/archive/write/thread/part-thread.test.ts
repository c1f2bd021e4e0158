import { afterEach, beforeEach, expect, test } from "bun:test";
import { join } from "node:path";
import type { PartEngine } from "../../../../src/archive/write/part-engine.ts";
import { createInlineRowEncoder } from "../../../../src/archive/write/row-encoder.ts";
import { startPartThread } from "../../../../src/archive/write/thread/part-thread.ts";
import type { ReportBatch } from "../../../../src/model/report-batch.ts";
import { nativeDeno } from "../../../support/native-deno.ts";
import { APP, batchOf } from "../../../support/reports/batches.ts";

const SCRIPT = join(import.meta.dir, "make-and-end.ts");
const ENDLESS = "SELECT count(*)::DOUBLE FROM range(100000000000)";

const { signal } = new AbortController();
let thread: PartEngine;

beforeEach(async () => {
  const database = { memoryBytes: 100_000_000, directories: [], spillDirectory: null, cachesFiles: false };
  thread = await startPartThread({ database, onNote: () => {} });
});
afterEach(() => thread.encoder.close());

function smallBatch(seed: number): ReportBatch {
  return batchOf(
    Array.from({ length: 50 }, (_, row) => ({
      device_id: `bus-${seed}-${row >> 3}`,
      timestamp: 1_700_000_000_000 + row * 1000,
      latitude: 42.36 + seed / 100 + row / 1000,
      longitude: -71.06,
      brand: row % 2 === 0 ? "Google" : null,
    })),
  );
}

/** Bun's `rejects` holds the event loop while it waits, and with it a thread's answers. */
function failureOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => "nothing",
    (error: unknown) => String(error),
  );
}

/** Row 0 names a profile that is not there. */
function brokenBatch(): ReportBatch {
  return { ...smallBatch(0), profile: new Uint32Array(50).fill(99) };
}

test("encode() answers with what the inline one does, in order, while many wait", async () => {
  const inline = createInlineRowEncoder();
  const seeds = Array.from({ length: 20 }, (_, seed) => seed);
  const found = await Promise.all(seeds.map((seed) => thread.encoder.encode(APP, smallBatch(seed))));
  const expected = await Promise.all(seeds.map((seed) => inline.encode(APP, smallBatch(seed))));
  expect(found).toEqual(expected);
});

test("encode() takes the batch over, also where its columns share a buffer", async () => {
  const batch = smallBatch(1);
  const shared = new Uint32Array(100);
  shared.set(batch.profile);
  shared.set(batch.state, 50);
  const sharing = { ...batch, profile: shared.subarray(0, 50), state: shared.subarray(50) };
  expect(await thread.encoder.encode(APP, sharing)).toEqual(
    await createInlineRowEncoder().encode(APP, smallBatch(1)),
  );
  expect(batch.timestampMs.length).toBe(0);
});

test("encode() rejects for a batch that can't be encoded, and goes on with the next", async () => {
  const broken = thread.encoder.encode(APP, brokenBatch());
  const good = thread.encoder.encode(APP, smallBatch(1));
  expect(await failureOf(broken)).toContain("words");
  expect((await good).length).toBeGreaterThan(0);
});

test("run() answers with numbers and texts, and with nothing else as if it were one of them", async () => {
  const connection = await thread.database.connect();
  const sql = "SELECT i::DOUBLE, nullif('t' || i, 't1'), i FROM range(3) r(i)";
  const rows = await connection.run(sql, undefined, signal);
  expect([...rows.numbers(0)]).toEqual([0, 1, 2]);
  expect(rows.texts(1)).toEqual(["t0", null, "t2"]);
  expect(() => rows.numbers(1)).toThrow("numbers");
  expect(() => rows.texts(2)).toThrow("texts");
});

test("run() rejects with what DuckDB says, and the next statement runs", async () => {
  const connection = await thread.database.connect();
  expect(await failureOf(connection.run("SELECT error('no room')", undefined, signal))).toContain("no room");
  expect(await failureOf(connection.run("SELEC", undefined, signal))).toContain("syntax error");
  expect((await connection.run("SELECT 1::DOUBLE", undefined, signal)).numbers(0)[0]).toBe(1);
});

test("rows are encoded and other statements run while one takes its time, which its signal ends", async () => {
  const [slow, quick] = [await thread.database.connect(), await thread.database.connect()];
  const stopping = new AbortController();
  const endless = slow.run(ENDLESS, undefined, stopping.signal);
  expect((await thread.encoder.encode(APP, smallBatch(1))).length).toBeGreaterThan(0);
  expect((await quick.run("SELECT 1::DOUBLE", undefined, signal)).numbers(0)[0]).toBe(1);
  stopping.abort();
  expect(await failureOf(endless)).toContain("abort");
  expect((await slow.run("SELECT 2::DOUBLE", undefined, signal)).numbers(0)[0]).toBe(2);
});

test("close() refuses rows that wait, breaks off statements, and takes nothing more", async () => {
  const connection = await thread.database.connect();
  const endless = connection.run(ENDLESS, undefined, signal);
  const waiting = thread.encoder.encode(APP, smallBatch(1));
  thread.database.close();
  expect(await failureOf(waiting)).toContain("is closed");
  expect(await failureOf(endless)).toContain("abort");
  expect(await failureOf(thread.encoder.encode(APP, smallBatch(1)))).toContain("is closed");
  expect(await failureOf(connection.run("SELECT 1", undefined, signal))).toContain("is closed");
});

const DENO = [nativeDeno(), "run", "--no-prompt"];

async function run(command: readonly string[]) {
  const child = Bun.spawn([...command], {
    stdout: "pipe",
    stderr: "pipe",
  });
  const timer = setTimeout(() => child.kill(), 30_000);
  const [out, error] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  clearTimeout(timer);
  expect({ code: await child.exited, error }).toEqual({ code: 0, error: "" });
  return JSON.parse(out);
}

const SAID = { line: expect.stringContaining('"app","bus",1700000000000,42.36,'), seven: 7 };

for (const [name, command] of [
  ["Bun", [process.execPath, SCRIPT]],
  ["Deno", [...DENO, "-A", SCRIPT]],
] as const) {
  test(`on ${name} the thread lets others run first, and the process ends around it`, async () => {
    const { nicest, ...said } = await run(command);
    expect(said).toEqual({ ...SAID, notes: [] });
    if (process.platform === "linux") {
      expect(nicest.join()).toMatch(/worker/i);
      // None that works for others, too: of those that sync the log, the event loop's itself.
      expect(nicest.filter((thread: string) => /Bun Pool|main/.test(thread))).toEqual([]);
    }
    expect(await run([...command, "ends"])).toMatchObject(SAID);
  }, 60_000);
}

test("Deno without the permission is told of once, and parts are made all the same", async () => {
  const {
    nicest: _,
    notes,
    ...said
  } = await run([...DENO, "-A", "--deny-sys=setPriority", SCRIPT, "unseen"]);
  expect(said).toEqual(SAID);
  expect(notes).toEqual([expect.stringContaining("--allow-sys=setPriority")]);
}, 30_000);
