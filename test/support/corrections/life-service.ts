import { Scheduler } from "../../../src/lib/schedule/scheduler.ts";
import type { ManualClock } from "../../../src/model/time/clock.ts";
import type { Files } from "../../../src/runtime/files.ts";
import { SEGMENT_HEAD_BYTES } from "../../../src/wal/segment.ts";
import type { ReferenceCorrections } from "../../reference/corrections.ts";
import { createRunDisk, type RunDisk } from "../../unit/simulation/disk/disk.ts";
import type { Draws } from "../../unit/simulation/run/draws.ts";
import type { SimulationEngine } from "../../unit/simulation/run/engine.ts";
import { type ArchiveApp, createArchiveApp } from "../archive-app.ts";
import { SIMULATED_DATA_DIR } from "../disk/mirrored-disk.ts";
import { Agreement } from "./agreement.ts";
import { backedUpDisk } from "./backed-up.ts";
import { ErasedFiles } from "./erased-files.ts";
import type { LifeNode } from "./life-cluster.ts";
import type { Ending } from "./life-steps.ts";

/** Some entries fill a segment, so that seals have something to trim. */
const SEGMENT_BYTES_MAX = SEGMENT_HEAD_BYTES + 4000;

export interface LifeServiceOptions {
  readonly engine: SimulationEngine;
  readonly clock: ManualClock;
  readonly model: ReferenceCorrections;
  readonly draws: Draws;
  /** What makes it a node of a cluster; null for a single process. */
  readonly node: LifeNode | null;
}

/** A service over a simulated disk of its own, through all its ends and starts. */
export class LifeService {
  readonly agreement: Agreement;
  readonly erasedFiles: ErasedFiles;
  readonly #options: LifeServiceOptions;
  #disk: RunDisk;
  #files!: Files;
  #app: ArchiveApp | null = null;

  constructor(options: LifeServiceOptions) {
    const { engine, model, draws, clock } = options;
    this.#options = options;
    this.#disk = createRunDisk(engine);
    this.agreement = new Agreement(model, draws, clock);
    this.erasedFiles = new ErasedFiles(model, engine);
  }

  get isUp(): boolean {
    return this.#app !== null;
  }

  get app(): ArchiveApp {
    if (this.#app === null) throw new Error("the service is not up");
    return this.#app;
  }

  get disk(): RunDisk {
    return this.#disk;
  }

  get files(): Files {
    return this.#files;
  }

  async open(): Promise<void> {
    const { clock, node } = this.#options;
    const { files, archiveDisk, engine } = this.#disk.boot();
    this.#files = files;
    const disk = { files, archiveDisk, archiveEngine: engine };
    const create = async () =>
      createArchiveApp({
        clock,
        dataDir: SIMULATED_DATA_DIR,
        disk: node === null ? disk : { ...disk, stream: await node.connect(files) },
        scheduler: new Scheduler(() => 0), // Independent of the machine's speed, so that a seed repeats it.
        segmentBytesMax: SEGMENT_BYTES_MAX,
        lateWindow: { firstRows: 1, rowsMax: 3 },
      });
    this.#app = node === null ? await create() : node.timed(await node.until(create()));
  }

  async close(): Promise<void> {
    const { node } = this.#options;
    const { directory } = this.app;
    this.#app = null;
    if (this.#disk.isDead) await node?.disconnect();
    const closing = directory.close().catch(() => {});
    await (node === null ? closing : node.until(closing));
    directory.archive.close();
    await node?.disconnect();
  }

  /** The process ends; of a backup the next one has what was restored from it. */
  async end(how: Ending): Promise<void> {
    const { engine, clock, draws } = this.#options;
    let disk = this.#disk;
    if (how === "backup") disk = await backedUpDisk(this.#files, disk, engine, clock);
    else if (how !== "close") disk.die(how, draws.chance(0.7) ? draws.next : undefined);
    await this.close();
    this.replaceDisk(disk);
  }

  /** The next process has this disk. */
  replaceDisk(disk: RunDisk): void {
    if (disk !== this.#disk) this.#disk.close();
    this.#disk = disk;
  }

  /** Ends all, whether the service is up or not. */
  async dispose(): Promise<void> {
    if (this.isUp) await this.close();
    this.#disk.close();
  }
}
