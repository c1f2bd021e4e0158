// Goal: a power loss while segments end and leave loses nothing that was acknowledged and not covered, and no sequence
// is given twice. Method: two writers append reports of many days, beside rotations and trims of days that become
// covered as they go; the power fails before operation 0, 1, 2, ... until none is left, and what the disk kept of
// unsynced bytes and names is drawn from a seed. Then the log is opened again, trimmed and appended to.

import { expect, test } from "bun:test";
import { utcDayOf } from "../../../src/model/time/utc-day.ts";
import type { Coverage } from "../../../src/wal/coverage.ts";
import { createSimulatedFiles, type SimulatedFiles } from "../../support/disk/simulated-files.ts";
import { RANDOM_SEED, randomRuns } from "../../support/random-runs.ts";
import { batchIn } from "../../support/reports/batches.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import { APP, appendNamed, dayBatch, NOTHING_LEFT, openTestWal } from "../wal/fixture.ts";

const ROUNDS = 7;

/** What the disk keeps of unsynced bytes at one power failure: nothing, then what each seed draws. */
const SEEDS = [null, ...Array.from({ length: randomRuns(10) }, (_, i) => RANDOM_SEED + 1000 * i)];

/** What somebody outside of the log knows, whatever happens to it. */
interface Known {
  /** Sequence and days of each entry, by `sequence name`. */
  readonly acknowledged: Map<string, { sequence: number; days: readonly number[] }>;
  /** By day, the sequence it is covered to. */
  readonly covered: Map<number, number>;
}

function isCovered({ covered }: Known, days: readonly number[], sequence: number): boolean {
  return days.every((day) => sequence <= (covered.get(day) ?? 0));
}

/** Days go for good two days later, so that segments are written anew for a few reports too. */
function coverageOf(known: Known, today: number): Coverage {
  return {
    isCovered: (day, lastSequence) => isCovered(known, [day], lastSequence),
    isExpired: (day) => day < today - 2,
    standingSequence: 0,
    erasures: [],
  };
}

/** Every report of an entry, as it is known outside. */
function reportsOf(entry: string, days: readonly number[]): string[] {
  return days.map((day) => `${entry} ${day}`);
}

async function appendAndTrim(files: SimulatedFiles, known: Known): Promise<void> {
  const { wal } = await openTestWal(files, { segmentBytesMax: 100_000 });
  async function writer(name: string, daysOf: (round: number) => readonly number[]): Promise<void> {
    for (let round = 0; round < ROUNDS; round++) {
      const days = daysOf(round);
      const outcome = await wal.append(APP, dayBatch(`${name}${round}`, days));
      if (!outcome.ok) return;
      known.acknowledged.set(`${outcome.value} ${name}${round}`, { sequence: outcome.value, days });
    }
  }
  async function sealer(): Promise<void> {
    for (let day = 0; day < ROUNDS; day++) {
      await wal.rotate();
      known.covered.set(day, wal.lastSequence); // Of which everything is kept elsewhere by now.
      if (day % 2 === 1) known.covered.set(0, wal.lastSequence); // What was late for day 0 too.
      await wal.trim(coverageOf(known, day));
    }
  }
  // Writer `x` goes with the days, `y` is late every other time.
  await Promise.all([
    writer("x", (round) => [round]),
    writer("y", (round) => (round % 2 === 0 ? [round] : [round, 0])),
    sealer(),
  ]);
  await wal.close();
}

test("rotate() and trim() keep what is not covered through a power loss at any operation", async () => {
  let runs = 0;
  let trimmed = 0;
  for (let crashAt = 0, crashed = true; crashed; crashAt++) {
    for (const seed of SEEDS) {
      const random = seed === null ? undefined : seededRandom(seed + crashAt);
      const known: Known = { acknowledged: new Map(), covered: new Map() };
      const files = createSimulatedFiles();
      let left = crashAt;
      let disk: SimulatedFiles | null = null;
      files.beforeOperation = () => {
        if (left-- === 0) disk = files.crash(random);
      };
      await appendAndTrim(files, known).catch((error) => {
        if (disk === null) throw error;
      });
      crashed = disk !== null;
      const after = disk ?? files.crash(random);

      const reports: string[] = [];
      const found: string[] = [];
      const again = await openTestWal(after, {
        onEntry(logged) {
          const { texts, device, timestampMs } = batchIn(logged);
          const entry = `${logged.sequence} ${texts[device[0]!] ?? NOTHING_LEFT}`;
          found.push(entry);
          reports.push(...reportsOf(entry, Array.from(timestampMs, utcDayOf)));
        },
      });
      const uncovered = [...known.acknowledged].filter(
        ([, { sequence, days }]) => !isCovered(known, days, sequence),
      );
      for (const [entry, { sequence, days }] of uncovered) {
        const wanted = days.filter((day) => !isCovered(known, [day], sequence));
        expect(reports).toEqual(expect.arrayContaining(reportsOf(entry, wanted)));
      }
      const gone = [...known.acknowledged.keys()].filter((entry) => !found.includes(entry));
      trimmed += gone.length;

      await again.wal.trim(coverageOf(known, ROUNDS));
      const [appended] = await appendNamed(again.wal, ["after"]);
      const sequences = [...known.acknowledged.values()].map(({ sequence }) => sequence);
      expect(Number.parseInt(appended!, 10)).toBeGreaterThan(Math.max(0, ...sequences));
      const last = await openTestWal(after.crash());
      expect(last.found).toEqual(expect.arrayContaining([...uncovered.map(([entry]) => entry), appended!]));
      expect(last.recovery).toMatchObject({ damage: [], tornTail: null });
      runs++;
    }
  }
  expect(runs).toBeGreaterThan(50 * SEEDS.length);
  expect(trimmed).toBeGreaterThan(50 * SEEDS.length);
});
