import { afterAll, describe, expect, test } from "bun:test";
import { cpSync } from "node:fs";
import { Scheduler } from "../../../../../src/lib/schedule/scheduler.ts";
import { createManualClock } from "../../../../../src/model/time/clock.ts";
import { DEFAULT_RETENTION } from "../../../../../src/model/time/retention.ts";
import { createNodeFiles } from "../../../../../src/runtime/node-files.ts";
import { createHistoryQueries } from "../../../../../src/service/queries/history/history.ts";
import { createReferenceRecords, type ReferenceRecords } from "../../../../reference/records.ts";
import { recordsOf } from "../../../../support/answers/page-records.ts";
import { type ArchiveApp, createArchiveApp } from "../../../../support/archive-app.ts";
import { type BeforeOperation, watchedEngine, watchedFiles } from "../../../../support/disk/watched-disk.ts";
import { drawSome, randomRuns } from "../../../../support/random-runs.ts";
import { APP, batchOf, type Report } from "../../../../support/reports/batches.ts";
import { openSimulationEngine } from "../../../simulation/run/engine.ts";

/**
 * Goal: a report that is acknowledged while a seal runs is neither lost nor shown otherwise than it should be, whatever
 * the seal waits for just then and whichever day the report is of: now, after a restart, and after another seal.
 */

const DAY_MS = 86_400_000;
const NOW_MS = Date.UTC(2026, 0, 28, 12);
/** Ages of the days that the story has reports of, by what becomes of them. */
const AGES = { expiring: 365, later: 364, sealed: 20, late: 15, due: 8, window: 3, today: 0 };

/** Steps that are alike but for the day, or the number of a file: so many of them are tried in each seal. */
const ALIKE_MAX = 2;
/** After each so many of the steps that are tried the next seal is tried too. */
const STEPS_A_SEAL = 8;
/** No seal has as many. */
const STEPS_MAX = 200;

const engine = await openSimulationEngine();
afterAll(() => engine.close());

interface Story {
  readonly name: string;
  /** Takes a directory whose old days are sealed to just before the seal in question. */
  prepare(app: ArchiveApp, report: (...reports: Report[]) => Promise<void>): Promise<void>;
}

const STORIES: readonly Story[] = [
  { name: "nothing but late rows and a due day", prepare: async () => {} },
  {
    name: "a day that expires",
    async prepare({ clock }) {
      clock.advance(DAY_MS);
    },
  },
  {
    name: "an expired day that comes back, the clock being set back",
    async prepare({ clock, seal }) {
      clock.advance(DAY_MS);
      await seal();
      clock.advance(-DAY_MS);
    },
  },
  {
    name: "an expired day that comes back for a report that was let in before midnight",
    async prepare({ clock, seal }, report) {
      clock.advance(DAY_MS);
      await seal();
      await report(reportOf(AGES.expiring, 2000));
    },
  },
  {
    name: "a day that is deleted",
    async prepare({ clock, seal }) {
      clock.advance(DAY_MS);
      await seal();
      clock.advance(DAY_MS);
    },
  },
];

function reportOf(age: number, offsetMs: number, more: Report = {}): Report {
  return {
    device_id: `d${age}`,
    timestamp: NOW_MS - age * DAY_MS + offsetMs,
    latitude: 1,
    longitude: 2,
    ...more,
  };
}

function appender(app: ArchiveApp, model: ReferenceRecords) {
  return async (...reports: Report[]) => {
    const answer = await app.directory.ingest(APP, batchOf(reports));
    expect(answer.ok).toBe(true);
    model.report(reports);
  };
}

const files = createNodeFiles();

async function openStory(dataDir: string, nowMs: number, before: BeforeOperation): Promise<ArchiveApp> {
  return createArchiveApp({
    dataDir,
    clock: createManualClock(nowMs),
    disk: { files: watchedFiles(files, before), archiveEngine: watchedEngine(engine.archive, before) },
  });
}

/** A directory just before the seal in question, closed. */
async function tellStory(story: Story) {
  const dataDir = engine.makeDirectory();
  const model = createReferenceRecords(APP);
  const app = await openStory(dataDir, NOW_MS, async () => {});
  const report = appender(app, model);
  for (const age of Object.values(AGES))
    await report(reportOf(age, 0, { user_id: "ann" }), reportOf(age, 1000, { user_id: "ann", speed: 1 }));
  await app.seal();
  await report(reportOf(AGES.late, 0, { speed: 3 }), reportOf(AGES.due, 500));
  await story.prepare(app, report);
  await app.close();
  return { dataDir, model, nowMs: app.clock.nowMs() };
}

/** One report that changes a record and one that makes one, of each day that may get any. */
const INJECTED = Object.values(AGES).flatMap((age) => [reportOf(age, 0, { speed: 7 }), reportOf(age, 7000)]);

async function shownBy(app: ArchiveApp) {
  const { hot, archive } = app.directory;
  const queries = createHistoryQueries({
    hot,
    clock: app.clock,
    retention: DEFAULT_RETENTION,
    scheduler: new Scheduler(),
    archive: () => archive,
    lateWindow: { firstRows: 2, rowsMax: 5 },
    acknowledgedParts: async () => new Set(),
  });
  const query = {
    range: { startMs: 0, endMs: NOW_MS + 10 * DAY_MS },
    order: "asc",
    offset: 0,
    limit: 1000,
    accuracyMetersMax: null,
    withDistance: false,
  } as const;
  const answer = await queries.ofApp(APP, query, { signal: new AbortController().signal });
  if (!answer.ok) throw new Error(JSON.stringify(answer.error));
  return answer.value.pages.flatMap(recordsOf).slice(0, answer.value.count);
}

function expectedAt(model: ReferenceRecords, nowMs: number): Report[] {
  const startMs = Math.floor(nowMs / DAY_MS) * DAY_MS - 365 * DAY_MS;
  return model.records().filter(({ timestamp }) => timestamp >= startMs);
}

for (const story of STORIES) {
  describe(story.name, () => {
    test("takes a report in at each step of its seal", async () => {
      const { dataDir, model: before, nowMs } = await tellStory(story);
      // Each step in the system tier.
      const drawn = new Set([0, ...drawSome([...Array(STEPS_MAX).keys()], randomRuns(STEPS_MAX))]);
      let steps = 0;
      let tried = 0;
      for (let step = 0; step === 0 || step < steps; step++) {
        if (!drawn.has(step)) continue;
        const copy = engine.makeDirectory();
        cpSync(dataDir, copy, { recursive: true });
        const model = createReferenceRecords(APP);
        model.report(before.records());
        let isSealing = false;
        let seen = 0;
        const counts = new Map<string, number>();
        let at = "";
        let app = await openStory(copy, nowMs, async (operation, path) => {
          if (!isSealing || path.includes("/wal")) return;
          const alike = `${operation} ${operation === "run" ? "" : path.replaceAll(/[0-9]+/g, "0")}`;
          counts.set(alike, (counts.get(alike) ?? 0) + 1);
          if (counts.get(alike)! > ALIKE_MAX) return;
          if (seen++ !== step) return;
          at = `${operation} ${path.slice(0, 60)}`;
          await appender(app, model)(...INJECTED);
        });
        expect(await shownBy(app)).toEqual(expectedAt(model, nowMs));
        isSealing = true;
        await app.seal();
        isSealing = false;
        steps = seen;
        const moments = ["at once", "after a restart"];
        if (tried++ % STEPS_A_SEAL === 0) moments.push("after the next seal");
        for (const moment of moments) {
          if (moment === "after a restart") app = await app.restart();
          if (moment === "after the next seal") await app.seal();
          expect([step, at, moment, await shownBy(app)]).toEqual([
            step,
            at,
            moment,
            expectedAt(model, nowMs),
          ]);
        }
        await app.close();
        engine.removeDirectory(copy);
      }
      expect(steps).toBeWithin(5, STEPS_MAX);
    });
  });
}
