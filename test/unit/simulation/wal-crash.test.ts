// Goal: what was acknowledged outlives a power loss at any moment, once. Method: several writers append over
// rotations, on a disk that already needs repair; the power fails before operation 0, 1, 2, ... until none is left,
// and what the disk kept of unsynced bytes and names is drawn from a seed. Then the log is opened again, itself
// with a power loss at some operation, and compared with what was acknowledged.
import { expect, test } from "bun:test";
import { EMPTY_MANIFEST } from "../../../src/archive/manifest.ts";
import { findLogGaps } from "../../../src/operator/verify/data.ts";
import { inspectLog } from "../../../src/wal/read-log.ts";
import { SEGMENT_HEAD_BYTES } from "../../../src/wal/segment.ts";
import { createSimulatedFiles, type SimulatedFiles } from "../../support/disk/simulated-files.ts";
import { RANDOM_SEED, randomRuns } from "../../support/random-runs.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import { APP, appendNamed, DAMAGED, LOG, namedBatch, openTestWal, segmentPaths } from "../wal/fixture.ts";

/** What the disk keeps of unsynced bytes at one power failure: nothing, then what each seed draws. */
const SEEDS = [null, ...Array.from({ length: randomRuns(10) }, (_, i) => RANDOM_SEED + 1000 * i)];

/** Runs until the power fails before operation `crashAt`; returns the disk that is found afterwards. */
async function runUntil(
  files: SimulatedFiles,
  crashAt: number,
  random: (() => number) | undefined,
  run: (files: SimulatedFiles) => Promise<void>,
): Promise<{ disk: SimulatedFiles; crashed: boolean }> {
  let left = crashAt;
  let disk: SimulatedFiles | null = null;
  files.beforeOperation = () => {
    if (left-- === 0) disk = files.crash(random);
  };
  await run(files).catch((error) => {
    if (disk === null) throw error;
  });
  return { disk: disk ?? files.crash(random), crashed: disk !== null };
}

/** A log whose older segment is damaged in the middle and whose newest has a torn tail. */
async function damagedLog(): Promise<{ contents: Map<string, Uint8Array>; left: string[] }> {
  const files = createSimulatedFiles();
  const written = await appendNamed((await openTestWal(files)).wal, ["a", "b", "c", "d"]);
  const contents = files.contents();
  const [older, newest] = (await segmentPaths(files)) as [string, string];
  contents.get(older)![SEGMENT_HEAD_BYTES + 268]! ^= 1;
  contents.set(newest, new Uint8Array([...contents.get(newest)!, ...new Uint8Array(50).fill(7)]));
  return { contents, left: written.filter((entry) => entry !== "2 b") };
}

/** Three writers, each of which appends its next entry when the one before is acknowledged. */
async function appendFromThree(files: SimulatedFiles, acknowledged: string[]): Promise<void> {
  const { wal } = await openTestWal(files);
  const writers = ["x", "y", "z"].map(async (writer) => {
    for (let i = 0; i < 3; i++) {
      const outcome = await wal.append(APP, namedBatch(`${writer}${i}`));
      if (!outcome.ok) return;
      acknowledged.push(`${outcome.value} ${writer}${i}`);
    }
  });
  await Promise.all(writers);
  await wal.close();
}

function sequenceOf(entry: string): number {
  return Number.parseInt(entry, 10);
}

test("append() keeps what it acknowledged through a power loss at any operation", async () => {
  const { contents, left } = await damagedLog();
  let runs = 0;
  for (let crashAt = 0, crashed = true; crashed; crashAt++) {
    for (const seed of SEEDS) {
      const random = seed === null ? undefined : seededRandom(seed + crashAt);
      const acknowledged: string[] = [];
      const files = createSimulatedFiles(contents);
      const first = await runUntil(files, crashAt, random, (disk) => appendFromThree(disk, acknowledged));
      crashed = first.crashed;

      // The start after it is cut off too, at an operation of its own.
      const second = await runUntil(first.disk, crashAt % 23, random, async (disk) => {
        await openTestWal(disk);
      });
      const { found, wal } = await openTestWal(second.disk);
      const acked = [...left, ...acknowledged.sort((a, b) => sequenceOf(a) - sequenceOf(b))];
      expect(found.filter((entry) => acked.includes(entry))).toEqual(acked);
      const sequences = found.map(sequenceOf);
      expect(sequences).toEqual([...new Set(sequences)].sort((a, b) => a - b));
      expect(new Set(found.map((entry) => entry.split(" ")[1])).size).toBe(found.length);

      const appended = await appendNamed(wal, ["after"]);
      expect(sequenceOf(appended[0]!)).toBeGreaterThan(Math.max(...sequences));
      const lastDisk = second.disk.crash();
      const last = await openTestWal(lastDisk);
      expect(last.found).toEqual([...found, ...appended]);
      expect(last.recovery).toMatchObject({ damage: [], tornTail: null });
      // Sequences that crashes left out pass for no loss.
      const segments = await inspectLog(lastDisk, LOG);
      expect(findLogGaps(segments, EMPTY_MANIFEST, await lastDisk.list(DAMAGED))).toEqual([]);
      runs++;
    }
  }
  expect(runs).toBeGreaterThan(50 * SEEDS.length);
});

test("openWal() keeps every damaged byte through a power loss at any operation of its repair", async () => {
  const { contents, left } = await damagedLog();
  for (let crashAt = 0, crashed = true; crashed; crashAt++) {
    const random = seededRandom(crashAt);
    const first = await runUntil(createSimulatedFiles(contents), crashAt, random, async (disk) => {
      await openTestWal(disk);
    });
    crashed = first.crashed;
    const { found } = await openTestWal(first.disk);
    expect(found).toEqual(left);
    // A tail that was torn is not the newest's any more after a crash in its repair: it is kept under both names.
    const saved = new Map(
      [...first.disk.contents()].map(([path, bytes]) => [
        /^(.+)\.(damaged|torn)$/.exec(path)?.[1],
        bytes.length,
      ]),
    );
    saved.delete(undefined);
    expect([...saved.values()].sort()).toEqual([208, 50]);
  }
});
