import type { Timers } from "../../lib/schedule/timers.ts";
import type { Helper, StartHelper } from "../../runtime/helper/helper.ts";
import type { EventStore } from "./event-store.ts";

/** How often it is looked whether there is something to do, after transactions. */
const LOOK_MS = 1000;
/** With fewer waiting pages than this, SQLite finds them in its index quickly. */
const PAGES_MIN = 1000;
/** SQLite checkpoints by itself, within a transaction, with as many waiting pages. */
const PAGES_ALONE = 1000;
/** While helpers do it, only if this many wait: 64 MiB. */
const PAGES_WITH_HELPERS = 16_384;
/**
 * While transactions follow each other, a helper always leaves some pages, and the file grows. From this length on we
 * move these few.
 */
const PAGES_MAX = 4096;

export interface CheckpointsOptions {
  readonly events: EventStore;
  /** The path of the database. */
  readonly path: string;
  readonly startHelper: StartHelper;
  /** The script of the helper, which checkpoints a database, and then answers. */
  readonly script: URL;
  readonly timers: Timers;
}

/**
 * Moves transactions into the database in a process of its own, since that waits for the disk. If no process can be
 * started, SQLite does it in ours.
 */
export class Checkpoints {
  readonly #options: CheckpointsOptions;
  #helper: Helper | null = null;
  #cancelLook: (() => void) | null = null;
  #isStopped = false;

  constructor(options: CheckpointsOptions) {
    this.#options = options;
  }

  start(): void {
    const { events } = this.#options;
    events.checkpointBy(this);
    events.checkpointAlone(PAGES_WITH_HELPERS);
  }

  noteCommit(): void {
    if (this.#cancelLook !== null || this.#isStopped) return;
    this.#cancelLook = this.#options.timers.after(LOOK_MS, () => {
      this.#cancelLook = null;
      if (this.#helper === null && this.#options.events.pages().waiting >= PAGES_MIN) this.#begin();
    });
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelLook?.();
    this.#helper?.end();
  }

  #begin(): void {
    const { events, path, startHelper, script } = this.#options;
    let isDone = false;
    const helper = startHelper(script, {
      onMessage() {
        isDone = true;
        helper.end();
      },
      onEnd: () => {
        this.#helper = null;
        if (this.#isStopped) return;
        events.checkpointAlone(isDone ? PAGES_WITH_HELPERS : PAGES_ALONE);
        const { written, waiting } = events.pages();
        if (isDone && written > PAGES_MAX && waiting < PAGES_MIN) events.moveWaiting();
        this.noteCommit();
      },
    });
    this.#helper = helper;
    helper.send(path);
  }
}
