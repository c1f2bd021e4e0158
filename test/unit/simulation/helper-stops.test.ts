/*
 * Goal: whatever becomes of the process that makes parts, no record is lost or there twice, no later seal is kept from
 * its end, and no wait is longer than minutes. Method: seals over a real archive, whose helper runs in this process.
 * From a request on that the seed draws, the helper takes nothing in. Some helpers can't be ended, and go on with that
 * request when their disk answers, seals later. Time is turned by hand. After every seal all records are asked for.
 */
import { afterAll, expect, test } from "bun:test";
import { servePartEngine } from "../../../src/archive/write/engine/part-server.ts";
import { nextTurn } from "../../../src/lib/schedule/timers.ts";
import type { AppendFile, Files } from "../../../src/runtime/files.ts";
import type { HelperEvents, StartHelper } from "../../../src/runtime/helper/helper.ts";
import { createNodeFiles } from "../../../src/runtime/node-files.ts";
import { type ArchiveApp, createArchiveApp, removeArchiveApps } from "../../support/archive-app.ts";
import { RANDOM_SEED, randomRuns } from "../../support/random-runs.ts";
import { VirtualTime } from "../../support/stream/virtual-time.ts";
import { createDraws, type Draws } from "./run/draws.ts";

afterAll(removeArchiveApps);

const SEEDS = Array.from({ length: randomRuns(6) }, (_, run) => RANDOM_SEED + run);
const SEALS = 10;
/** A seal asks about so many times. */
const REQUESTS = 14;
const OLD_MS = Date.UTC(2026, 0, 5);
const MS_PER_HOUR = 3_600_000;

/** How the helper of one seal behaves. */
interface Behavior {
  /** It takes in so many requests. */
  readonly stopsAfter: number;
  readonly canBeEnded: boolean;
}

const FAITHFUL: Behavior = { stopsAfter: Number.POSITIVE_INFINITY, canBeEnded: true };

/** Helpers in this process, each as the test says when it begins. */
class StoppingHelpers {
  behavior = FAITHFUL;
  isStopped = false;
  readonly #time: VirtualTime;
  /** Those that can't be ended, and what becomes of each when its disk answers. */
  readonly #stuck: (() => void)[] = [];

  constructor(time: VirtualTime) {
    this.#time = time;
  }

  get stuckCount(): number {
    return this.#stuck.length;
  }

  readonly start: StartHelper = (_, events) => {
    const { stopsAfter, canBeEnded } = this.behavior;
    const disk = createClosingFiles();
    const handle = this.#serve(events, disk.files);
    const end = () => {
      void disk.close();
      events.onEnd("SIGKILL");
    };
    let requests = 0;
    let pending: unknown = null;
    return {
      send: (message) => {
        if (++requests <= stopsAfter) return handle(message);
        pending ??= message;
        this.isStopped = true;
      },
      end: () => {
        if (canBeEnded) return queueMicrotask(end);
        this.#stuck.push(() => {
          if (pending !== null) handle(pending);
          end();
        });
      },
    };
  };

  /** Their disks answer. */
  wake(): void {
    for (const end of this.#stuck.splice(0)) end();
  }

  #serve({ onMessage }: HelperEvents, files: Files): (message: unknown) => void {
    let take: (message: unknown) => void = () => undefined;
    const port = {
      send: (message: unknown) => queueMicrotask(() => onMessage(structuredClone(message))),
      onMessage: (given: typeof take) => {
        take = given;
      },
      work: () => ({ cpuMs: 0, diskBlocks: 0 }),
    };
    servePartEngine(port, files, this.#time);
    return (message) => take(structuredClone(message));
  }
}

/** The disk of a process: what it has open is closed with it. */
function createClosingFiles() {
  const files = createNodeFiles();
  const opened = new Set<AppendFile>();
  let isGone = false;
  return {
    files: {
      ...files,
      async openAppend(path: string) {
        const file = await files.openAppend(path);
        if (isGone) await file.close();
        else opened.add(file);
        const close = async () => {
          if (opened.delete(file)) await file.close();
        };
        return { ...file, close };
      },
    },
    close() {
      isGone = true;
      return Promise.all([...opened].map((file) => file.close()));
    },
  };
}

async function answersOf(app: ArchiveApp): Promise<string[]> {
  const { body } = await app.get(
    "/api/v1/locations/history?start_date=2026-01-01&end_date=2026-01-28&limit=1000",
  );
  return body.locations.map(({ device_id, timestamp, speed }) => `${device_id} ${timestamp} ${speed}`).sort();
}

function drawReports(draws: Draws, from: number) {
  return Array.from({ length: draws.between(1, 20) }, (_, row) => ({
    device_id: `bus-${draws.between(1, 4)}`,
    timestamp: OLD_MS + draws.between(0, 2) * 24 * MS_PER_HOUR + (from + row) * 1000,
    latitude: 1,
    longitude: 2,
    speed: draws.between(0, 30),
  }));
}

function drawBehavior(draws: Draws): Behavior {
  if (draws.chance(0.3)) return FAITHFUL;
  return { stopsAfter: draws.between(0, REQUESTS), canBeEnded: draws.chance(0.6) };
}

test.each(SEEDS)("seals over helpers that stop, as seed %i draws them, keep every record", async (seed) => {
  const draws = createDraws(seed);
  const time = new VirtualTime();
  const helpers = new StoppingHelpers(time);
  const disk = { files: createNodeFiles(), startHelper: helpers.start, timers: time };
  let app = await createArchiveApp({ startMs: Date.UTC(2026, 0, 28, 12), disk });
  const expected: string[] = [];
  const counts = { sealed: 0, failed: 0 };

  async function seal(): Promise<boolean> {
    let isSealed: boolean | null = null;
    helpers.isStopped = false;
    const sealing = app.seal().then(
      () => true,
      () => false,
    );
    void sealing.then((sealed) => {
      isSealed = sealed;
    });
    while (isSealed === null) {
      await nextTurn();
      if (helpers.isStopped) time.step();
    }
    return isSealed;
  }

  for (let round = 0; round < SEALS; round++) {
    const reports = drawReports(draws, round * 100);
    await app.store(reports);
    for (const { device_id, timestamp, speed } of reports)
      expected.push(`${device_id} ${timestamp} ${speed}`);
    helpers.behavior = round === SEALS - 1 ? FAITHFUL : drawBehavior(draws);
    if (helpers.behavior === FAITHFUL && helpers.stuckCount >= 2) helpers.wake();
    const isSealed = await seal();
    if (isSealed) counts.sealed++;
    else counts.failed++;
    if (helpers.behavior === FAITHFUL) expect([round, isSealed]).toEqual([round, true]);
    if (isSealed) expect(app.directory.hot.daysInMemory()).toEqual([]);
    expect([round, await answersOf(app)]).toEqual([round, expected.toSorted()]);
    if (draws.chance(0.3)) helpers.wake();
  }
  expect(counts.sealed).toBeGreaterThan(0);
  helpers.wake();
  app = await app.restart();
  expect(await answersOf(app)).toEqual(expected.toSorted());
  expect(app.directory.archive.damaged.size).toBe(0);
  await app.close();
});
