// Goal: what put() said is kept is there, and what delete() said is gone is not, whatever the disk does. Method: puts,
// deletes and seals from a seed, on a simulated disk that fills up, fails any step, and loses its power or its process
// at any operation; after each such end the quarantine is opened again and compared with a plain map.
import { expect, test } from "bun:test";
import { FileError, ignoreFileError } from "../../../../src/runtime/files.ts";
import {
  createSimulatedFiles,
  type FileOperation,
  type SimulatedFiles,
} from "../../../support/disk/simulated-files.ts";
import { RANDOM_SEED, randomRuns } from "../../../support/random-runs.ts";
import { seededRandom } from "../../../support/seeded-random.ts";
import { ANY, APP, openTestQuarantine, refused, type TestQuarantine } from "./fixture.ts";

/** What is known of a body: `maybe` where the last that was asked for it was not acknowledged. */
type Known = "kept" | "gone" | "maybe";

const FAULTS: readonly FileOperation[] = [
  "append",
  "sync",
  "truncate",
  "replace",
  "rename",
  "syncDirectory",
  "openAppend",
  "remove",
  "removeAll",
];
const CODES = ["EIO", "ENOSPC"];
const STEPS = 40;
const RUNS = randomRuns(300);

/** A quarantine, the disk it is on, and what is known of it. */
class Run {
  readonly #known = new Map<string, Known>();
  readonly #random: () => number;
  readonly #seed: number;
  #disk = createSimulatedFiles();
  #opened!: TestQuarantine;

  constructor(seed: number) {
    this.#seed = seed;
    this.#random = seededRandom(seed);
  }

  /** A start that the disk refuses is repeated. */
  async open(): Promise<void> {
    for (;;) {
      try {
        this.#opened = await openTestQuarantine(this.#disk, { entryBytesMax: 2048 });
        expect(this.#opened.damage).toEqual([]); // This disk loses data, but damages none.
        return;
      } catch (error) {
        if (!(error instanceof FileError)) throw error;
        this.#disk.capacityBytes = Number.POSITIVE_INFINITY;
      }
    }
  }

  /** Changes something, on a disk that may fail at it, and looks at what is there. */
  async step(at: number): Promise<void> {
    if (this.#draw(5) === 0) this.#disk.failNext(this.#pick(FAULTS), this.#pick(CODES), this.#draw(400));
    if (this.#draw(15) === 0)
      this.#disk.capacityBytes = this.#draw(3) === 0 ? Infinity : 4144 * (1 + this.#draw(8));
    const endsAfter = this.#draw(6) === 0 ? this.#planEnd() : null;
    const choice = this.#draw(8);
    if (choice < 5) await Promise.all(Array.from({ length: 1 + this.#draw(4) }, () => this.#put()));
    else if (choice < 7) await this.#delete();
    else await this.#opened.seal().catch(ignoreFileError);
    await this.#opened.messages.files.settle(); // Until a killed process does nothing any more.
    if (endsAfter !== null) this.#disk = endsAfter();
    if (endsAfter !== null || this.#opened.wal.state === "failed") await this.open();
    await this.#check(at);
  }

  /** The power fails after some operations, or the process is killed; returns the disk that is found after it. */
  #planEnd(): () => SimulatedFiles {
    const disk = this.#disk;
    const isKill = this.#draw(2) === 0;
    const random = this.#draw(3) === 0 ? undefined : this.#random;
    let left = this.#draw(8);
    let found: SimulatedFiles | null = null;
    disk.beforeOperation = (operation, path) => {
      if (left-- > 0) return;
      if (isKill) throw new FileError(operation, path, "EIO"); // It does nothing any more; the disk is as it was.
      found ??= disk.crash(random);
    };
    return () => {
      disk.beforeOperation = null;
      return isKill ? disk : (found ?? disk.crash(random));
    };
  }

  async #put(): Promise<void> {
    const body = this.#body();
    const before = this.#known.get(body) ?? "gone";
    if (before === "gone") this.#known.set(body, "maybe");
    const put = await this.#opened.quarantine.put([refused(body)]);
    if (put.ok) this.#known.set(body, "kept");
  }

  async #delete(): Promise<void> {
    const { quarantine } = this.#opened;
    const isAll = this.#draw(6) === 0;
    const listed = quarantine.list(APP, ANY, 0, 1000).entries.filter(() => isAll || this.#draw(3) === 0);
    const bodies = listed.map(({ deviceId }) => deviceId!);
    for (const body of bodies) this.#known.set(body, "maybe");
    const deleted = await quarantine.delete(
      APP,
      listed.map(({ id }) => id),
    );
    if (deleted.ok) for (const body of bodies) this.#known.set(body, "gone");
  }

  async #check(at: number): Promise<void> {
    const { quarantine } = this.#opened;
    const { entries } = quarantine.list(APP, ANY, 0, 1000);
    const listed = entries.map(({ deviceId }) => deviceId!);
    const wrong = [...this.#known].filter(
      ([body, known]) => known !== "maybe" && listed.includes(body) !== (known === "kept"),
    );
    expect({ seed: this.#seed, at, wrong }).toEqual({ seed: this.#seed, at, wrong: [] });
    expect(new Set(listed).size).toBe(listed.length);
    for (const { id, deviceId } of entries) {
      const found = await quarantine.find(APP, id);
      expect(new TextDecoder().decode(found!.message.body)).toBe(deviceId!);
    }
  }

  /** Mostly small, at times larger than a segment. Tests know an entry by it: it is the device's name too. */
  #body(): string {
    const number = this.#draw(24);
    return `body ${number} `.padEnd(number % 8 === 0 ? 3000 : 40, "x");
  }

  #pick<Item>(items: readonly Item[]): Item {
    return items[this.#draw(items.length)]!;
  }

  #draw(below: number): number {
    return Math.floor(this.#random() * below);
  }
}

test("put() and delete() keep to what they say, through full and failing disks and lost power", async () => {
  for (let seed = RANDOM_SEED; seed < RANDOM_SEED + RUNS; seed++) {
    const run = new Run(seed);
    await run.open();
    for (let at = 0; at < STEPS; at++) await run.step(at);
  }
});
