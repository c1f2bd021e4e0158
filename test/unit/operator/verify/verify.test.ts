import { describe, expect, test } from "bun:test";
import { assert } from "../../../../src/lib/assert.ts";
import { createManualClock } from "../../../../src/model/time/clock.ts";
import { DEFAULT_RETENTION } from "../../../../src/model/time/retention.ts";
import { createVerify } from "../../../../src/operator/verify/verify.ts";
import { openNodeSqlite } from "../../../../src/runtime/node-sqlite.ts";
import { SEGMENT_HEAD_BYTES } from "../../../../src/wal/segment.ts";
import { openWal } from "../../../../src/wal/wal.ts";
import { createSimulatedFiles, type SimulatedFiles } from "../../../support/disk/simulated-files.ts";
import { APP, batchOf } from "../../../support/reports/batches.ts";
import { createMemoryLock } from "../../auth/memory-key-files.ts";
import { openTestQuarantine, refused } from "../../service/quarantine/fixture.ts";

const PATHS = {
  log: "/data/wal",
  quarantine: "/data/quarantine",
  events: "/data/events",
  archive: "/data/archive",
  damaged: "/data/damaged",
  keys: "/data/keys.json",
  passPhrases: "/data/pass-phrases.json",
  webhookSecrets: "/data/webhook-secrets.json",
  settings: "/data/settings.json",
  erasures: "/data/erasures.json",
  erasureReports: "/data/erasures",
  cluster: "/data/cluster.json",
  lock: "/data/lock",
};
const NOW_MS = Date.UTC(2026, 0, 15);

function openLog(files: SimulatedFiles) {
  return openWal({
    files,
    directory: PATHS.log,
    damagedDirectory: PATHS.damaged,
    segmentBytesMax: SEGMENT_HEAD_BYTES + 4096,
    queueBytesMax: 1e9,
    sequenceMin: 1,
    onEntry: () => undefined,
  });
}

/** Twelve entries of five reports, in several segments. */
async function createLog(): Promise<SimulatedFiles> {
  const files = createSimulatedFiles();
  const { wal } = await openLog(files);
  for (let entry = 0; entry < 12; entry++) {
    const reports = Array.from({ length: 5 }, (_, row) => ({
      device_id: `device-${entry}-${row}`.padEnd(120, "x"),
      timestamp: NOW_MS + entry * 10 + row,
      latitude: 42,
      longitude: -71,
    }));
    const appended = await wal.append(APP, batchOf(reports));
    assert(appended.ok, "the log takes entries");
  }
  await wal.close();
  return files;
}

/** The same disk with one byte of a file flipped. */
function withFlippedByte(files: SimulatedFiles, path: string, offset: number): SimulatedFiles {
  const contents = files.contents();
  const bytes = contents.get(path)!;
  return createSimulatedFiles(contents.set(path, bytes.with(offset, bytes[offset]! ^ 1)));
}

async function verify(files: SimulatedFiles, acknowledge = false, acquireLock = createMemoryLock()) {
  const progress: number[][] = [];
  const readDirectory = createVerify({
    files,
    openSqlite: openNodeSqlite,
    acquireLock,
    clock: createManualClock(NOW_MS),
    settings: { state: "missing", retention: DEFAULT_RETENTION },
    pid: 1,
    paths: PATHS,
    openDatabase: () => Promise.reject(new Error("there is no archive to open")),
    onProgress: (...step) => progress.push(step),
  });
  return { ...(await readDirectory({ acknowledge, quick: false })), progress };
}

const logFiles = (files: SimulatedFiles) =>
  [...files.contents().keys()].filter((path) => path.endsWith(".wal")).sort();

describe("createVerify()", () => {
  test("counts what is there, and changes nothing", async () => {
    const files = await createLog();
    const before = files.contents();
    files.beforeOperation = (operation) => {
      const isReading = ["read", "size", "exists", "list"].includes(operation);
      if (!isReading) throw new Error(`verify called ${operation}`);
    };
    const report = await verify(files);
    expect(report.totals).toMatchObject({ entries: 12, records: 60, firstSequence: 1, lastSequence: 12 });
    const bytes = [...before.values()].reduce((sum, content) => sum + content.length, 0);
    expect(report.totals.bytes).toBe(bytes);
    expect(report.segments.length).toBe(logFiles(files).length);
    expect(report.segments.length).toBeGreaterThan(2);
    expect(report).toMatchObject({
      owner: null,
      keys: { state: "missing", count: 0 },
      setAside: [],
      problems: [],
    });
    expect(report.progress.at(-1)).toEqual([bytes, bytes]);
    expect(files.contents()).toEqual(before);
  });

  test("counts what is quarantined", async () => {
    const files = await createLog();
    const { quarantine, messages } = await openTestQuarantine(files);
    await quarantine.put(["a", "b", "c"].map((body) => refused(body)));
    await messages.files.settle();
    expect((await verify(files)).quarantine).toMatchObject({ entries: 3, problems: [] });
  });

  test("names a ledger of erasures that can't be used", async () => {
    const files = await createLog();
    const withLedger = (text: string) =>
      createSimulatedFiles(files.contents().set(PATHS.erasures, new TextEncoder().encode(text)));
    const salt = "0".repeat(64);
    for (const [text, problem] of [
      [`{"version":1,"salt":"${salt}","erasures":[]}`, null],
      [`{"version":1,"salt":"${salt}","erasures":[{}]}`, "its erasure number 1 is not valid"],
      [`{"version":2,"salt":"${salt}","erasures":[]}`, expect.any(String)],
    ])
      expect((await verify(withLedger(text))).problems).toEqual(
        problem === null ? [] : [expect.stringMatching(/^erasures\.json can't be used: /)],
      );
    expect((await verify(withLedger("{"))).problems).toHaveLength(1);
  });

  test("names a file of the log that no segment can be", async () => {
    const files = await createLog();
    const misnamed = `${PATHS.log}/00000000000000000000.wal`;
    const report = await verify(createSimulatedFiles(files.contents().set(misnamed, new Uint8Array(9))));
    expect(report.problems).toEqual([
      `${misnamed}: no segment of the log has such a name, so nothing of it was read`,
    ]);
  });

  test("finds any flipped byte of an older segment, and everything around it", async () => {
    const files = await createLog();
    const [oldest] = logFiles(files);
    const length = files.contents().get(oldest!)!.length;
    for (let offset = SEGMENT_HEAD_BYTES + 8; offset < length; offset += 97) {
      const report = await verify(withFlippedByte(files, oldest!, offset));
      expect(report.problems.length).toBe(1);
      expect(report.problems[0]).toStartWith(`${oldest}: `);
      expect(report.totals.records).toBe(55);
    }
  });

  test("takes the empty folder of a day, left by a first seal that failed, for no archive", async () => {
    const files = await createLog();
    await files.makeDirectory(`${PATHS.archive}/day=2026-11-14`);
    const report = await verify(files);
    expect(report.problems).toEqual([]);
    expect(report.archive.manifest).toBe("none");
  });

  test("takes an unfinished write at the end for what it is", async () => {
    const files = await createLog();
    const contents = files.contents();
    const newest = logFiles(files).findLast((path) => contents.get(path)!.length > 1000)!;
    contents.set(newest, contents.get(newest)!.subarray(0, -9));
    for (const path of logFiles(files)) if (path > newest) contents.delete(path);
    const report = await verify(createSimulatedFiles(contents));
    expect(report.problems).toEqual([]);
    expect(report.segments.at(-1)?.tornTailBytes).toBeGreaterThan(0);
  });

  test("fails for what was set aside until it is acknowledged, and again for more", async () => {
    const [oldest, second] = logFiles(await createLog());
    const damaged = withFlippedByte(await createLog(), oldest!, 500);
    await (await openLog(damaged)).wal.close(); // A start repairs the log.

    const found = await verify(damaged);
    expect(found.segments.flatMap(({ damage }) => damage)).toEqual([]);
    expect(found.problems).toEqual([expect.stringContaining("were set aside and are not acknowledged")]);
    const acknowledged = await verify(damaged, true);
    expect(acknowledged.problems).toEqual([]);
    expect(acknowledged.setAside).toMatchObject([{ acknowledged: true }]);
    expect((await verify(damaged)).problems).toEqual([]);

    const again = withFlippedByte(damaged, second!, 500);
    await (await openLog(again)).wal.close();
    const more = await verify(again);
    expect(more.setAside.map(({ acknowledged }) => acknowledged).sort()).toEqual([false, true]);
    expect(more.problems.length).toBe(1);
  });

  test("does not let damage in place be acknowledged", async () => {
    const files = await createLog();
    const damaged = withFlippedByte(files, logFiles(files)[0]!, 500);
    expect((await verify(damaged, true)).problems.length).toBe(1);
  });

  test("acknowledges nothing by a file that it can't read, and leaves one of a newer program alone", async () => {
    const lost = { version: 1, files: [{ name: "x.damaged", bytes: 3 }] };
    const texts = {
      good: JSON.stringify(lost),
      garbage: "{",
      newer: JSON.stringify({ ...lost, version: 2 }),
    };
    for (const [kind, text] of Object.entries(texts)) {
      const encoded = new TextEncoder().encode(text);
      const files = createSimulatedFiles(
        new Map([
          ["/data/damaged/x.damaged", new Uint8Array(3)],
          ["/data/damaged/acknowledged.json", encoded],
        ]),
      );
      expect([kind, (await verify(files)).problems.length]).toEqual([kind, kind === "good" ? 0 : 1]);
      await verify(files, true);
      if (kind === "newer") expect(await files.read("/data/damaged/acknowledged.json")).toEqual(encoded);
      else expect((await verify(files)).problems).toEqual([]);
    }
  });

  test("says that the key file can't be used", async () => {
    const files = createSimulatedFiles(new Map([[PATHS.keys, new TextEncoder().encode("{}")]]));
    expect((await verify(files)).problems).toEqual([
      "keys.json can't be used: its format version is missing",
    ]);
  });

  test("names who has the directory, and gives the lock back where nobody has", async () => {
    const files = createSimulatedFiles(new Map([[PATHS.lock, new Uint8Array()]]));
    const acquireLock = createMemoryLock();
    expect((await verify(files, false, acquireLock)).owner).toBeNull();
    const owner = { pid: 7, command: "serve", sinceMs: NOW_MS };
    expect((await acquireLock(PATHS.lock, owner)).ok).toBe(true);
    expect((await verify(files, false, acquireLock)).owner).toEqual(owner);
  });
});
