import type { Timers } from "../../../lib/schedule/timers.ts";
import { FileError } from "../../../runtime/files.ts";
import type { Helper, StartHelper } from "../../../runtime/helper/helper.ts";
import { PulseWatch, STILL_MINUTES } from "../../../runtime/helper/pulse.ts";
import type { DatabaseOptions } from "../../duckdb/database.ts";
import { STAGED_FORMAT } from "../staged-rows.ts";
import {
  type Fault,
  type Message,
  type NumberedRequest,
  type Request,
  type Value,
  WORKING,
} from "./messages.ts";
import type { PartConnection, PartEngine } from "./part-engine.ts";

/** How to start a helper process. */
export interface PartProcessOptions {
  readonly startHelper: StartHelper;
  /** The script of the helper process, which calls `servePartEngine()`. */
  readonly script: URL;
  readonly timers: Timers;
  /** Called with a sentence for the operator. */
  readonly onNote: (note: string) => void;
}

/** Starts helper processes that make parts, one per seal. */
export interface PartProcesses {
  /**
   * An engine in a helper process whose threads have low priority: encoding rows and running DuckDB's statements in
   * this process would delay answers. Rejects if it can't start, or uses another format of staged rows, because its
   * files are of another version than this process. The signal stops it while it starts, so that a shutdown need not
   * wait.
   */
  start(database: DatabaseOptions, signal: AbortSignal): Promise<PartEngine>;
}

/** How long a helper may take to start on a busy machine. */
export const START_MS_MAX = 30_000;

/** A helper that was told to end but waits for a disk is given up after this time: a shutdown of the server has 5 s. */
export const END_MS_MAX = 2000;

/** Each stuck helper may hold the memory of a seal for as long as the disk hangs. */
const STUCK_MAX = 2;

export function createPartProcesses(options: PartProcessOptions): PartProcesses {
  /** Helpers that were told to end and have not. */
  const stuck = new Set<PartProcess>();

  return {
    async start(database, signal) {
      signal.throwIfAborted();
      if (stuck.size >= STUCK_MAX) throw new StuckProcessError();
      const process = new PartProcess(options, stuck);
      const breakOff = () => process.end(signal.reason);
      signal.addEventListener("abort", breakOff);
      const cancelLate = options.timers.after(START_MS_MAX, () =>
        process.end(new Error("The process that makes parts did not start in time")),
      );
      try {
        const format = await process.ask({ kind: "open", database });
        if (format !== STAGED_FORMAT)
          throw new Error(
            "The process that makes parts has another version than this server, until a restart",
          );
        return engineOf(process);
      } catch (error) {
        process.end(new Error("The process that makes parts did not start"));
        throw (await process.gone) ? error : new StuckProcessError();
      } finally {
        cancelLate();
        signal.removeEventListener("abort", breakOff);
      }
    },
  };
}

/** The helper hangs and can't be ended. A seal in this process would hang in the same way. */
export class StuckProcessError extends Error {
  constructor() {
    super("The process that makes parts hangs and can't be ended: its disk does not answer");
  }
}

function engineOf(process: PartProcess): PartEngine {
  let files = 0;
  let connections = 0;

  async function connect(): Promise<PartConnection> {
    const connection = ++connections;
    await process.ask({ kind: "connect", connection });
    return {
      async run(sql, values) {
        await process.ask({ kind: "run", connection, sql, values });
      },
      numbers: async (sql, values) =>
        (await process.ask({ kind: "numbers", connection, sql, values })) as Float64Array,
      counts: async (sql, values) =>
        (await process.ask({ kind: "counts", connection, sql, values })) as ReadonlyMap<string, number>,
      close: () => process.tell({ kind: "disconnect", connection }),
    };
  }

  return {
    async openRows(path) {
      const file = ++files;
      await process.ask({ kind: "open rows", file, path });
      return {
        async append(appId, batch) {
          await process.ask({ kind: "append", file, appId, batch });
        },
        async close() {
          await process.ask({ kind: "close rows", file });
        },
      };
    },
    connect,
    get isClosed() {
      return process.isEnding;
    },
    close() {
      process.end(new DOMException("The process that makes parts was ended", "AbortError"));
      return process.gone;
    },
  };
}

const STILL = `The process that makes parts did nothing for ${STILL_MINUTES} minutes, and was ended`;

interface PendingAnswer {
  resolve(value: Value): void;
  reject(error: Error): void;
}

class PartProcess {
  readonly #helper: Helper;
  readonly #options: PartProcessOptions;
  readonly #stuck: Set<PartProcess>;
  readonly #waiting = new Map<number, PendingAnswer>();
  #requests = 0;
  /** Why no more requests are sent. */
  #failure: Error | null = null;
  /** Whether it has ended, or was given up. */
  #isOver = false;
  readonly #end = Promise.withResolvers<boolean>();
  readonly #watch: PulseWatch;
  #cancelGivingUp: () => void = () => undefined;

  constructor(options: PartProcessOptions, stuck: Set<PartProcess>) {
    this.#options = options;
    this.#stuck = stuck;
    this.#watch = new PulseWatch(
      options.timers,
      () => this.#waiting.size > 0,
      () => this.end(new Error(STILL)),
    );
    this.#helper = options.startHelper(options.script, {
      onMessage: (message) => this.#take(message as Message),
      onEnd: (reason) => {
        this.#stuck.delete(this);
        this.#finish(new Error(`The process that makes parts ended: ${reason}`), true);
      },
    });
  }

  /** Resolves with true once the helper has ended, and with false if it was given up. */
  get gone(): Promise<boolean> {
    return this.#end.promise;
  }

  /** Whether no more requests are sent. */
  get isEnding(): boolean {
    return this.#failure !== null;
  }

  /** Requests made while the helper ends are rejected once it has ended. */
  ask(request: Request): Promise<Value> {
    return new Promise((resolve, reject) => {
      if (this.#isOver) reject(this.#failure);
      else this.#waiting.set(this.tell(request), { resolve, reject });
    });
  }

  /** Sends a request whose answer is ignored. */
  tell(request: Request): number {
    const id = ++this.#requests;
    if (this.#failure === null) this.#helper.send({ id, request } satisfies NumberedRequest);
    return id;
  }

  /** Ends the helper. Waiting requests are rejected once it is gone, so that it writes no more, or is given up. */
  end(reason: Error): void {
    if (this.#failure !== null) return;
    this.#failure = reason;
    this.#watch.stop();
    this.#cancelGivingUp = this.#options.timers.after(END_MS_MAX, () => this.#giveUp());
    this.#helper.end();
  }

  #giveUp(): void {
    this.#stuck.add(this);
    this.#options.onNote(
      "A process that makes parts can't be ended until its disk answers. Later seals start another process.",
    );
    this.#finish(new StuckProcessError(), false);
  }

  #finish(reason: Error, hasEnded: boolean): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#watch.stop();
    this.#cancelGivingUp();
    this.#failure ??= reason;
    for (const { reject } of this.#waiting.values()) reject(this.#failure);
    this.#waiting.clear();
    this.#end.resolve(hasEnded);
  }

  #take(message: Message): void {
    this.#watch.note();
    if (message === WORKING) return;
    const { id, result } = message;
    const pending = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (result.ok) pending?.resolve(result.value);
    else pending?.reject(errorOf(result.error));
  }
}

function errorOf({ message, disk }: Fault): Error {
  return disk === null
    ? new Error(message)
    : new FileError(disk.operation, disk.path, disk.code, new Error(message));
}
