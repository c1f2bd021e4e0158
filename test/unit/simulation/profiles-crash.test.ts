import { expect, test } from "bun:test";
import { DEFAULT_ARCHIVE_CONFIG } from "../../../src/app/config.ts";
import { type OpenDirectory, openDirectory } from "../../../src/app/open-directory.ts";
import { createHotStore } from "../../../src/hot/hot-store.ts";
import { Scheduler } from "../../../src/lib/schedule/scheduler.ts";
import type { AppId, DeviceId } from "../../../src/model/ids.ts";
import { createManualClock } from "../../../src/model/time/clock.ts";
import { DEFAULT_RETENTION } from "../../../src/model/time/retention.ts";
import { SEGMENT_HEAD_BYTES } from "../../../src/wal/segment.ts";
import { profileOf } from "../../reference/profiles.ts";
import {
  createSimulatedFiles,
  type FileOperation,
  type SimulatedFiles,
} from "../../support/disk/simulated-files.ts";
import { RANDOM_SEED, randomRuns } from "../../support/random-runs.ts";
import { seededRandom } from "../../support/seeded-random.ts";

/**
 * Goal: a profile that was acknowledged outlives whatever the disk does, and one that was not is there whole or not at
 * all. Method: random profiles and deletions, seals that trim the log, operations that fail, and power failures that
 * keep what they like of what was not synced; after each start every device has what was acknowledged last, or one of
 * the values that were sent since and refused. The model holds the values that are possible, by device.
 */

const APP = "app" as AppId;
const DEVICES = ["a", "b", "c", "d"] as DeviceId[];
const FAILURES: readonly FileOperation[] = ["append", "sync", "replace", "remove", "rename", "syncDirectory"];
const ROUNDS = 8;

type Value = string | null;

class Run {
  readonly random: () => number;
  files = createSimulatedFiles();
  /** What each device may have: the first is what was acknowledged last. */
  readonly possible = new Map<DeviceId, Value[]>(DEVICES.map((device) => [device, [null]]));
  readonly clock = createManualClock(Date.UTC(2026, 0, 28, 12));
  directory!: OpenDirectory;
  seals = 0;
  #names = 0;

  constructor(seed: number) {
    this.random = seededRandom(seed);
  }

  draw(below: number): number {
    return Math.floor(this.random() * below);
  }

  async open(): Promise<void> {
    const scheduler = new Scheduler();
    this.directory = await openDirectory({
      dataDir: "/data",
      files: this.files,
      clock: this.clock,
      retention: DEFAULT_RETENTION,
      hot: createHotStore(scheduler),
      scheduler,
      config: DEFAULT_ARCHIVE_CONFIG,
      segmentBytesMax: SEGMENT_HEAD_BYTES + 400,
      events: {
        onRefusal: () => {},
        onArchiveNote: () => {},
        onSealed: () => {},
        onSealFailed: () => {},
        onDamage: () => {},
        onEntryLeftOut: (failure) => {
          throw failure;
        },
        onBroken: (error) => {
          throw error;
        },
      },
      onProgress: () => {},
      release: () => {},
    });
    this.expectPossible();
  }

  /** Each device has one of its possible values, which from then on is the only one. */
  expectPossible(): void {
    for (const [device, values] of this.possible) {
      const found = this.directory.hot.profiles.find(APP, device)?.name ?? null;
      expect(values).toContain(found);
      this.possible.set(device, [found]);
    }
  }

  async edit(): Promise<void> {
    const device = DEVICES[this.draw(DEVICES.length)]!;
    const value = this.draw(4) === 0 ? null : `name ${this.#names++}`;
    const values = this.possible.get(device)!;
    values.push(value); // From now on a power failure may keep it.
    const profile = value === null ? null : profileOf({ name: value });
    const edited = await this.directory.editProfile(APP, device, profile);
    if (!edited.ok) return;
    this.possible.set(device, [value, ...values.slice(values.indexOf(value) + 1)]);
    expect(this.directory.hot.profiles.find(APP, device)?.name ?? null).toBe(value);
  }

  /** Enough to fill segments of the log while a seal goes on. */
  async editSome(): Promise<void> {
    for (let edits = this.draw(12); edits > 0; edits--) await this.edit();
  }

  async seal(): Promise<void> {
    await this.directory.schedule.sealNow().then(
      () => this.seals++,
      () => {},
    );
  }

  failSomething(): void {
    const operation = FAILURES[this.draw(FAILURES.length)]!;
    this.files.failNext(operation, this.draw(2) === 0 ? "ENOSPC" : "EIO", this.draw(40));
  }

  /** The power fails at an operation of the work, or after it. */
  async crashDuring(work: () => Promise<void>): Promise<void> {
    let left = this.draw(12);
    let disk: SimulatedFiles | null = null;
    this.files.beforeOperation = () => {
      if (left-- === 0) disk = this.files.crash(this.random);
    };
    await work().catch(() => {});
    this.files.beforeOperation = null;
    const after: SimulatedFiles = disk ?? this.files.crash(this.random);
    await this.directory.close().catch(() => {});
    this.files = after;
    await this.open();
  }
}

test("profiles that were acknowledged outlive failing disks and power failures, and others are there whole or not", async () => {
  let seals = 0;
  for (let seed = 0; seed < randomRuns(40); seed++) {
    const run = new Run(RANDOM_SEED + 7919 * seed);
    await run.open();
    for (let round = 0; round < ROUNDS; round++) {
      for (let step = run.draw(6); step > 0; step--) {
        if (run.draw(5) === 0) run.failSomething();
        await run.edit();
        if (run.draw(3) === 0) await Promise.all([run.seal(), run.editSome()]);
      }
      await run.crashDuring(async () => {
        await run.edit();
        await Promise.all([run.seal(), run.editSome()]);
        await run.edit();
      });
    }
    await run.directory.close();
    seals += run.seals;
  }
  expect(seals).toBeGreaterThan(randomRuns(40));
}, 120_000);
