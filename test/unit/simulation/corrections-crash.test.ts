import { afterAll, expect, test } from "bun:test";
import { LATE_WINDOW } from "../../../src/app/config.ts";
import { Scheduler } from "../../../src/lib/schedule/scheduler.ts";
import type { AppId, DeviceId } from "../../../src/model/ids.ts";
import { DEFAULT_RETENTION } from "../../../src/model/time/retention.ts";
import { parseNewCorrection } from "../../../src/service/corrections/new-correction.ts";
import { createHistoryQueries } from "../../../src/service/queries/history/history.ts";
import { removeArchiveApps } from "../../support/archive-app.ts";
import { createMirroredDisk } from "../../support/disk/mirrored-disk.ts";
import { RANDOM_SEED, randomRuns } from "../../support/random-runs.ts";
import { batchOf } from "../../support/reports/batches.ts";
import { CRASH_RUN_MS, CrashRun } from "./crash-run.ts";

/**
 * Goal: a correction that was acknowledged outlives whatever the disk does, and one that was not is there whole or not
 * at all. Method: random reports, corrections of two pieces and undoings, seals that trim the log meanwhile, operations
 * that fail, and power failures that keep what they like of what was not synced. After each start a correction has the
 * state that was acknowledged last, or one that was asked for since and refused; and history shows exactly the reported
 * instants that no active correction hides.
 */

afterAll(removeArchiveApps);

const APP = "app" as AppId;
const DEVICE = "phone" as DeviceId;
const ROUNDS = 4;
const NOW_MS = CRASH_RUN_MS;
const DAY_MS = 86_400_000;
/** More than fit one piece of a correction, half of them in days that a seal takes. */
const TIMES = Array.from({ length: 1200 }, (_, i) => NOW_MS - 9 * DAY_MS + i * 720_000);

class Run extends CrashRun {
  /** The states that each correction may have; the first is what was acknowledged last. */
  readonly possible = new Map<string, boolean[]>();

  constructor(seed: number) {
    super(seed, 4000);
  }

  protected disk() {
    return createMirroredDisk(this.files);
  }

  get #held() {
    return this.hot.corrections.find(APP)?.byId ?? new Map();
  }

  /** Each correction has one of its possible states, which from then on is the only one; none is there in part. */
  protected async expectPossible(): Promise<void> {
    if (this.hot.findApp(APP) === null) await this.report();
    const hidden = new Set<number>();
    for (const [id, { isActive, timestampMs }] of this.#held) {
      if (isActive) for (const timeMs of timestampMs) hidden.add(timeMs);
      const states = this.possible.get(id);
      if (states !== undefined) expect(states).toContain(isActive);
      this.possible.set(id, [isActive]);
    }
    for (const [id, states] of this.possible) if (!this.#held.has(id)) expect(states).toContain(false);
    const shown = TIMES.filter((timeMs) => !hidden.has(timeMs));
    expect(await this.history()).toEqual(shown.slice(-100).toReversed());
    expect(this.hot.findApp(APP)?.find(DEVICE)?.newestMs ?? null).toBe(
      shown.at(-1) ?? Number.NEGATIVE_INFINITY,
    );
  }

  /** The last times that history shows, newest first. */
  async history(): Promise<number[]> {
    const scheduler = new Scheduler();
    const history = createHistoryQueries({
      ...{ hot: this.hot, clock: this.clock, retention: DEFAULT_RETENTION, scheduler },
      ...{
        archive: () => this.directory.archive,
        acknowledgedParts: async () => new Set(),
        lateWindow: LATE_WINDOW,
      },
    });
    const range = { startMs: 0, endMs: NOW_MS + 2 * DAY_MS };
    const query = { range, order: "desc", offset: 0, limit: 100, accuracyMetersMax: null } as const;
    const { signal } = new AbortController();
    const answer = await history.ofDevice(APP, DEVICE, { ...query, withDistance: false }, { signal });
    if (!answer.ok) return [];
    return answer.value.pages.flatMap(({ timestampMs, count }) => [...timestampMs.slice(0, count)]);
  }

  async report(): Promise<void> {
    const reports = TIMES.map((timestamp) => ({ device_id: DEVICE, timestamp, latitude: 1, longitude: 2 }));
    const stored = await this.directory.ingest(APP, batchOf(reports));
    expect(stored.ok).toBe(true);
  }

  /** Hides a random part of what is shown, or undoes a random correction. */
  async correct(): Promise<void> {
    const { signal } = this.power;
    const active = [...this.#held.values()].filter(({ isActive }) => isActive);
    if (active.length > 0 && this.draw(2) === 0) {
      const { id } = active[this.draw(active.length)]!.correction;
      const states = this.possible.get(id) ?? [true];
      this.possible.set(id, [...states, false]);
      const undone = await this.directory.correct.undo(APP, id, "key", { signal });
      if (undone.ok) this.possible.set(id, [false]);
      return;
    }
    const start = TIMES[this.draw(TIMES.length)]!;
    const end = start + (this.draw(3) === 0 ? 20 * DAY_MS : this.draw(3 * DAY_MS) + 1);
    const wanted = parseNewCorrection({ action: "hide", device_id: DEVICE, start, end });
    if (!wanted.ok) throw new Error(wanted.error);
    const request = { keyId: "key", nowMs: this.clock.nowMs(), repetition: null };
    const made = await this.directory.correct.create(APP, wanted.value, request, { signal });
    if (made.ok) this.possible.set(made.value.item.correction.id, [true]);
  }

  async correctSome(): Promise<void> {
    for (let corrections = this.draw(5); corrections > 0; corrections--) await this.correct();
  }
}

test("corrections that were acknowledged outlive failing disks and power failures, and others are there whole or not", async () => {
  let seals = 0;
  for (let seed = 0; seed < randomRuns(30); seed++) {
    const run = new Run(RANDOM_SEED + 7919 * seed);
    await run.open();
    for (let round = 0; round < ROUNDS; round++) {
      for (let step = run.draw(4); step > 0; step--) {
        if (run.draw(5) === 0) run.failSomething();
        await run.correct();
        if (run.draw(3) === 0) await Promise.all([run.seal(), run.correctSome()]);
      }
      await run.crashDuring(async () => {
        await run.correct();
        await Promise.all([run.seal(), run.correctSome()]);
        await run.correct();
      });
    }
    await run.directory.close();
    seals += run.seals;
  }
  expect(seals).toBeGreaterThan(randomRuns(30) / 2);
}, 240_000);
