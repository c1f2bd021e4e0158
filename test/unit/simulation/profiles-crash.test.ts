import { expect, test } from "bun:test";
import type { AppId, DeviceId } from "../../../src/model/ids.ts";
import { profileOf } from "../../reference/profiles.ts";
import { RANDOM_SEED, randomRuns } from "../../support/random-runs.ts";
import { CrashRun } from "./crash-run.ts";

/**
 * Goal: a profile that was acknowledged outlives whatever the disk does, and one that was not is there whole or not at
 * all. Method: random profiles and deletions, seals that trim the log, operations that fail, and power failures that
 * keep what they like of what was not synced; after each start every device has what was acknowledged last, or one of
 * the values that were sent since and refused. The model holds the values that are possible, by device.
 */

const APP = "app" as AppId;
const DEVICES = ["a", "b", "c", "d"] as DeviceId[];
const ROUNDS = 8;

type Value = string | null;

class Run extends CrashRun {
  /** What each device may have: the first is what was acknowledged last. */
  readonly possible = new Map<DeviceId, Value[]>(DEVICES.map((device) => [device, [null]]));
  #names = 0;

  constructor(seed: number) {
    super(seed, 400);
  }

  protected disk() {
    return { files: this.files };
  }

  /** Each device has one of its possible values, which from then on is the only one. */
  protected async expectPossible(): Promise<void> {
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
