import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { getPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "../../../../../src/archive/duckdb/database.ts";
import { WORKING } from "../../../../../src/archive/write/engine/messages.ts";
import { createPartEngine, type PartEngine } from "../../../../../src/archive/write/engine/part-engine.ts";
import {
  createPartProcesses,
  START_MS_MAX,
  StuckProcessError,
} from "../../../../../src/archive/write/engine/part-process.ts";
import { STAGED_FORMAT } from "../../../../../src/archive/write/staged-rows.ts";
import { systemTimers, type Timers } from "../../../../../src/lib/schedule/timers.ts";
import type { ReportBatch } from "../../../../../src/model/report-batch.ts";
import { FileError } from "../../../../../src/runtime/files.ts";
import type { HelperEvents, StartHelper } from "../../../../../src/runtime/helper/helper.ts";
import { startHelper } from "../../../../../src/runtime/helper/spawn-helper.ts";
import { createNodeFiles } from "../../../../../src/runtime/node-files.ts";
import { nativeDeno } from "../../../../support/native-deno.ts";
import { UNIX_ENVIRONMENT } from "../../../../support/programs.ts";
import { APP, batchOf } from "../../../../support/reports/batches.ts";
import { VirtualTime } from "../../../../support/stream/virtual-time.ts";
import { until } from "../../../../support/until.ts";
import { ENDLESS, NEVER, PART_MAKER, SMALL_DATABASE } from "./part-maker.ts";
import { childrenOf, type ProcessSeen } from "./processes.ts";

const SCRIPT = join(import.meta.dir, "make-and-end.ts");

let directory: string;
let engine: PartEngine;
let notes: string[];

beforeEach(async () => {
  notes = [];
  directory = mkdtempSync(join(tmpdir(), "wherehouse-engine-"));
  engine = await processesOf(startHelper, systemTimers).start(SMALL_DATABASE, NEVER);
});
afterEach(() => {
  engine.close();
  rmSync(directory, { recursive: true });
});

function processesOf(start: StartHelper, timers: Timers, script = PART_MAKER) {
  return createPartProcesses({ startHelper: start, script, timers, onNote: (note) => notes.push(note) });
}

function smallBatch(seed: number): ReportBatch {
  return batchOf(
    Array.from({ length: 50 }, (_, row) => ({
      device_id: `bus-${seed}-${row >> 3}`,
      timestamp: 1_700_000_000_000 + row * 1000,
      latitude: 42.36 + seed / 100 + row / 1000,
      longitude: -71.06,
      brand: row % 2 === 0 ? 'Go"ogle ü' : null,
    })),
  );
}

async function writeRows(by: PartEngine, name: string): Promise<string> {
  const path = join(directory, name);
  const rows = await by.openRows(path);
  for (let seed = 0; seed < 20; seed++) await rows.append(APP, smallBatch(seed));
  await rows.close();
  return readFileSync(path, "utf8");
}

/** Bun's `rejects` holds the event loop while it waits, and with it what the other process answers. */
function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => "nothing",
    (error: unknown) => error,
  );
}

test("it writes the rows that an engine in our own thread does", async () => {
  const own = createPartEngine(createNodeFiles(), await openDatabase(SMALL_DATABASE));
  const expected = await writeRows(own, "own.csv");
  expect(expected.split("\n").length).toBe(1001);
  expect(await writeRows(engine, "process.csv")).toBe(expected);
  own.close();
});

test("columns of equal texts that share a buffer arrive as they are", async () => {
  const batch = smallBatch(1);
  const shared = new Uint32Array(100);
  shared.set(batch.profile);
  shared.set(batch.state, 50);
  const sharing = { ...batch, profile: shared.subarray(0, 50), state: shared.subarray(50) };
  const texts = await Promise.all(
    [batch, sharing].map(async (each, index) => {
      const path = join(directory, `${index}.csv`);
      const rows = await engine.openRows(path);
      await rows.append(APP, each);
      await rows.close();
      return readFileSync(path, "utf8");
    }),
  );
  expect(texts[1]).toBe(texts[0]!);
});

test("statements answer with numbers and counts, and side by side", async () => {
  const [one, other] = [await engine.connect(), await engine.connect()];
  await one.run("CREATE TEMP TABLE seen AS SELECT * FROM (VALUES ('b', 2), ('ä', 5)) t(name, count)");
  const counts = one.counts("SELECT name, count::DOUBLE FROM seen ORDER BY name");
  expect([...(await other.numbers("SELECT i::DOUBLE FROM range(3) r(i)"))]).toEqual([0, 1, 2]);
  expect([...(await counts)]).toEqual([
    ["b", 2],
    ["ä", 5],
  ]);
  expect(String(await failureOf(other.run("FROM seen")))).toContain("seen");
});

test("what the disk and DuckDB say is said here, and the next request is answered", async () => {
  const path = join(directory, "missing/rows.csv");
  const refused = await failureOf(engine.openRows(path));
  expect(refused).toBeInstanceOf(FileError);
  expect(refused).toMatchObject({ operation: "open", path, code: "ENOENT" });
  const connection = await engine.connect();
  expect(String(await failureOf(connection.run("SELECT error('no room')")))).toContain("no room");
  expect((await connection.numbers("SELECT 1::DOUBLE"))[0]).toBe(1);
  const rows = await engine.openRows(join(directory, "rows.csv"));
  const broken = { ...smallBatch(0), profile: new Uint32Array(50).fill(99) };
  expect(String(await failureOf(rows.append(APP, broken)))).toContain("words");
});

test("close() breaks off what runs, once nothing of it goes on, and takes nothing more", async () => {
  const connection = await engine.connect();
  const endless = failureOf(connection.run(ENDLESS));
  engine.close();
  expect(await endless).toMatchObject({ name: "AbortError" });
  expect(childrenOf(process.pid)).toEqual([]);
  expect(await failureOf(engine.connect())).toMatchObject({ name: "AbortError" });
});

test("a process that dies fails what waits, with the reason, and what comes later", async () => {
  const connection = await engine.connect();
  const endless = failureOf(connection.run(ENDLESS));
  if (process.platform === "linux")
    for (const { pid } of childrenOf(process.pid)) process.kill(pid, "SIGKILL");
  else engine.close();
  expect(String(await endless)).toMatch(/ended: SIGKILL|was ended/);
  expect(String(await failureOf(connection.run("SELECT 1")))).toMatch(/ended/);
});

/** A process that takes nothing in but what the test has it say, and ends when it is told to, or never. */
class FakeHelper {
  said = 0;
  isToldToEnd = false;
  events!: HelperEvents;
  readonly start: StartHelper;

  constructor({ opens = true, ends = true } = {}) {
    this.start = (_, events) => {
      this.events = events;
      const open = { id: 1, result: { ok: true, value: STAGED_FORMAT } };
      return {
        send: () => queueMicrotask(() => this.said++ === 0 && opens && events.onMessage(open)),
        end: () => {
          this.isToldToEnd = true;
          if (ends) queueMicrotask(() => events.onEnd("SIGKILL"));
        },
      };
    };
  }
}

test("one that can't begin, is late, broken off or of another version is not taken", async () => {
  // What it says on the way out is for the operator's eyes.
  const missing = processesOf(startHelper, systemTimers, new URL("no-such-file.ts", PART_MAKER));
  expect(String(await failureOf(missing.start(SMALL_DATABASE, NEVER)))).toContain("ended: exit code 1");

  const time = new VirtualTime();
  const late = new FakeHelper({ opens: false });
  const begun = processesOf(late.start, time).start(SMALL_DATABASE, NEVER);
  expect(String(await failureOf(time.until(begun)))).toContain("did not start in time");
  expect([late.isToldToEnd, time.nowMs()]).toEqual([true, START_MS_MAX]);

  const other = new FakeHelper({ opens: false });
  const refused = failureOf(processesOf(other.start, time).start(SMALL_DATABASE, NEVER));
  other.events.onMessage({ id: 1, result: { ok: true, value: "app_id,device_id" } });
  expect(String(await refused)).toContain("has another version");

  const brokenOff = new FakeHelper({ opens: false });
  const stop = new AbortController();
  const broken = failureOf(processesOf(brokenOff.start, time).start(SMALL_DATABASE, stop.signal));
  stop.abort();
  expect(await broken).toMatchObject({ name: "AbortError" });
  expect([other.isToldToEnd, brokenOff.isToldToEnd, time.planned]).toEqual([true, true, 0]);
});

test("one that does nothing for minutes is ended, and one that says that it works never is", async () => {
  const time = new VirtualTime();
  const helper = new FakeHelper();
  const slow = await processesOf(helper.start, time).start(SMALL_DATABASE, NEVER);
  await time.until(time.wait(3_600_000), 4_000_000); // Nothing is asked of it.
  const asked = failureOf(slow.connect());
  for (let minutes = 0; minutes < 600; minutes += 2) {
    await time.until(time.wait(120_000));
    helper.events.onMessage(WORKING);
  }
  expect([helper.isToldToEnd, slow.isClosed]).toEqual([false, false]);
  const silentFromMs = time.nowMs();
  expect(String(await time.until(asked))).toContain("did nothing for 3 minutes, and was ended");
  expect(time.nowMs() - silentFromMs).toBeWithin(180_000, 200_001);
  expect(await slow.close()).toBe(true);
  expect([notes, time.planned]).toEqual([[], 0]);
});

test("one that can't be ended is given up, and while two hang no other begins", async () => {
  const time = new VirtualTime();
  const hanging: FakeHelper[] = [];
  const processes = processesOf((...given) => {
    hanging.push(new FakeHelper({ ends: false }));
    return hanging.at(-1)!.start(...given);
  }, time);
  for (let begun = 1; begun <= 2; begun++) {
    const stuck = await processes.start(SMALL_DATABASE, NEVER);
    expect(String(await time.until(failureOf(stuck.connect())))).toContain("did nothing");
    expect(await stuck.close()).toBe(false);
    expect(notes).toHaveLength(begun);
  }
  expect(await failureOf(processes.start(SMALL_DATABASE, NEVER))).toBeInstanceOf(StuckProcessError);
  hanging[0]!.events.onEnd("SIGKILL"); // Its disk has answered.
  const stop = new AbortController();
  const third = await processes.start(SMALL_DATABASE, stop.signal);
  const closed = third.close(); // As a stop of the server does.
  expect(await time.until(closed)).toBe(false);
  expect(time.planned).toBe(0);
});

test("one that hangs while it begins is no reason to make parts in our own process", async () => {
  const time = new VirtualTime();
  const { start } = new FakeHelper({ opens: false, ends: false });
  const begun = processesOf(start, time).start(SMALL_DATABASE, NEVER);
  expect(await time.until(failureOf(begun))).toBeInstanceOf(StuckProcessError);
});

const DENO = [nativeDeno(), "run", "--no-prompt", "-A"];

for (const [name, command] of [
  ["Bun", [process.execPath, SCRIPT]],
  ["Deno", [...DENO, SCRIPT]],
] as const) {
  test(`on ${name} the process lets others run first, and is gone with the one that began it`, async () => {
    for (const [ending, exitCode, niceness] of [
      ["", 0, 0],
      ["dies", 137, 15],
    ] as const) {
      const child = Bun.spawn(["nice", "-n", String(niceness), ...command, ending], {
        stdout: "pipe",
        stderr: "pipe",
        env: { ...UNIX_ENVIRONMENT, WHEREHOUSE_MQTT_PASSWORD: "secret" },
      });
      const [out, error] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
      ]);
      expect({ exitCode: await child.exited, error }).toEqual({ exitCode, error: "" });
      const { seven, children, variables } = JSON.parse(out) as Said;
      expect(seven).toBe(7);
      expect(variables.filter((name) => name.startsWith("WHEREHOUSE_"))).toEqual([]);
      // The tests may run with a niceness of their own, which adds to the one that is given here.
      const wanted = Math.max(5, Math.min(getPriority() + niceness, 19));
      if (process.platform === "linux") expect(children.map((each) => each.niceness)).toEqual([wanted]);
      for (const { pid } of children) await until(() => !isAlive(pid));
    }
  });
}

/** What the script says. */
interface Said {
  readonly seven: number;
  readonly children: readonly ProcessSeen[];
  /** That its children were begun with. */
  readonly variables: readonly string[];
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
