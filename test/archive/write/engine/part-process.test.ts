import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createPartEngine, type PartEngine } from "../../../../src/archive/write/engine/part-engine.ts";
import { startPartProcess } from "../../../../src/archive/write/engine/part-process.ts";
import { openDatabase } from "../../../../src/duckdb/database.ts";
import type { ReportBatch } from "../../../../src/model/report-batch.ts";
import { FileError } from "../../../../src/runtime/files.ts";
import { startHelper } from "../../../../src/runtime/helper/fork-helper.ts";
import type { HelperEvents, StartHelper } from "../../../../src/runtime/helper/helper.ts";
import { createNodeFiles } from "../../../../src/runtime/node-files.ts";
import { nativeDeno } from "../../../support/native-deno.ts";
import { APP, batchOf } from "../../../support/reports/batches.ts";
import { ENDLESS, NEVER, PART_MAKER, SMALL_DATABASE } from "./part-maker.ts";
import { childrenOf, type ProcessSeen } from "./processes.ts";

const SCRIPT = join(import.meta.dir, "make-and-end.ts");

let directory: string;
let engine: PartEngine;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "wherehouse-engine-"));
  engine = await startPartProcess({
    startHelper,
    script: PART_MAKER,
    database: SMALL_DATABASE,
    signal: NEVER,
  });
});
afterEach(() => {
  engine.close();
  rmSync(directory, { recursive: true });
});

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

test("one that can't begin, is late, broken off or of another version is not taken", async () => {
  const start = (startOther: StartHelper, script = PART_MAKER, signal = NEVER) =>
    failureOf(
      startPartProcess({
        startHelper: startOther,
        script,
        database: SMALL_DATABASE,
        signal,
        startMsMax: 2000,
      }),
    );
  const missing = new URL("no-such-file.ts", PART_MAKER);
  // What it says on the way out is for the operator's eyes.
  expect(String(await start(startHelper, missing))).toContain("ended: exit code 1");
  const ended: string[] = [];
  const fake = (answer: unknown) => (_: URL, events: HelperEvents) => ({
    send: () => queueMicrotask(() => answer !== null && events.onMessage(answer)),
    end: () => {
      ended.push("ended");
      queueMicrotask(() => events.onEnd("SIGKILL"));
    },
  });
  expect(String(await start(fake(null)))).toContain("did not begin in time");
  const other = { id: 1, result: { ok: true, value: "app_id,device_id" } };
  expect(String(await start(fake(other)))).toContain("of another version");
  const beganMs = performance.now();
  expect(await start(fake(null), PART_MAKER, AbortSignal.timeout(1))).toMatchObject({ name: "TimeoutError" });
  expect(performance.now() - beganMs).toBeLessThan(1000);
  expect(ended).toEqual(["ended", "ended", "ended"]);
});

const DENO = [nativeDeno(), "run", "--no-prompt", "-A"];

for (const [name, command] of [
  ["Bun", [process.execPath, SCRIPT]],
  ["Deno", [...DENO, SCRIPT]],
] as const) {
  test(`on ${name} the process lets others run first, and is gone with the one that began it`, async () => {
    for (const [ending, exitCode, niceness, expected] of [
      ["", 0, 0, 5],
      ["dies", 137, 15, 15],
    ] as const) {
      const child = Bun.spawn(["nice", "-n", String(niceness), ...command, ending], {
        stdout: "pipe",
        stderr: "pipe",
        env: { ...process.env, WHEREHOUSE_MQTT_PASSWORD: "secret" },
      });
      const [out, error] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
      ]);
      expect({ exitCode: await child.exited, error }).toEqual({ exitCode, error: "" });
      const { seven, children, variables } = JSON.parse(out) as Said;
      expect(seven).toBe(7);
      expect(variables.filter((name) => name.startsWith("WHEREHOUSE_"))).toEqual([]);
      if (process.platform === "linux") expect(children.map((each) => each.niceness)).toEqual([expected]);
      for (const { pid } of children) await waitUntilGone(pid);
    }
  }, 60_000);
}

/** What the script says. */
interface Said {
  readonly seven: number;
  readonly children: readonly ProcessSeen[];
  /** That its children were begun with. */
  readonly variables: readonly string[];
}

async function waitUntilGone(pid: number): Promise<void> {
  for (let looks = 0; looks < 500; looks++) {
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    await Bun.sleep(20);
  }
  throw new Error(`process ${pid} outlived the one that began it`);
}
