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

/** What it takes to begin such processes. */
export interface PartProcessOptions {
  readonly startHelper: StartHelper;
  /** It calls `servePartEngine`. */
  readonly script: URL;
  readonly timers: Timers;
  /** Something an operator should know, in a sentence. */
  readonly onNote: (note: string) => void;
}

/** Makes parts in processes of their own, one for each seal. */
export interface PartProcesses {
  /**
   * An engine in a process of its own, whose threads all stand back if others want the processor: encoding rows and
   * running DuckDB's statements here would keep answers waiting. Rejects if it can't begin, or doesn't write rows as
   * we have DuckDB read them: then its files are of another version than what runs here. The signal ends it while it
   * begins: a stop must not wait for what may be late.
   */
  start(database: DatabaseOptions, signal: AbortSignal): Promise<PartEngine>;
}

/** How long a process may take to begin on a machine that has much else to do. */
export const START_MS_MAX = 30_000;

/** A process that is told to end and waits for a disk in the kernel is given up: a stop of the server has 5 s. */
export const END_MS_MAX = 2000;

/** Each may hold the memory of a seal for as long as the disk hangs. */
const STUCK_MAX = 2;

export function createPartProcesses(options: PartProcessOptions): PartProcesses {
  /** Processes that were told to end and did not. */
  const stuck = new Set<PartProcess>();

  return {
    async start(database, signal) {
      signal.throwIfAborted();
      if (stuck.size >= STUCK_MAX) throw new StuckProcessError();
      const process = new PartProcess(options, stuck);
      const breakOff = () => process.end(signal.reason);
      signal.addEventListener("abort", breakOff);
      const cancelLate = options.timers.after(START_MS_MAX, () =>
        process.end(new Error("The process that makes parts did not begin in time")),
      );
      try {
        const format = await process.ask({ kind: "open", database });
        if (format !== STAGED_FORMAT)
          throw new Error("The process that makes parts is of another version, until we start again");
        return engineOf(process);
      } catch (error) {
        process.end(new Error("The process that makes parts did not begin"));
        throw (await process.gone) ? error : new StuckProcessError();
      } finally {
        cancelLate();
        signal.removeEventListener("abort", breakOff);
      }
    },
  };
}

/** What made parts hangs and can't be ended. A seal in our own process would hang as it does. */
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
      async run(sql) {
        await process.ask({ kind: "run", connection, sql });
      },
      numbers: async (sql) => (await process.ask({ kind: "numbers", connection, sql })) as Float64Array,
      counts: async (sql) =>
        (await process.ask({ kind: "counts", connection, sql })) as ReadonlyMap<string, number>,
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

const STILL = `The process that makes parts had done nothing for ${STILL_MINUTES} minutes, and was ended`;

/** Who waits for an answer. */
interface Waiting {
  resolve(value: Value): void;
  reject(error: Error): void;
}

class PartProcess {
  readonly #helper: Helper;
  readonly #options: PartProcessOptions;
  readonly #stuck: Set<PartProcess>;
  readonly #waiting = new Map<number, Waiting>();
  #requests = 0;
  /** Why nothing is asked any more. */
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

  /** Resolves with true once the process has ended, and with false if it is given up. */
  get gone(): Promise<boolean> {
    return this.#end.promise;
  }

  /** Whether nothing is asked any more. */
  get isEnding(): boolean {
    return this.#failure !== null;
  }

  /** Once it is to end, all are refused when it has. */
  ask(request: Request): Promise<Value> {
    return new Promise((resolve, reject) => {
      if (this.#isOver) reject(this.#failure);
      else this.#waiting.set(this.tell(request), { resolve, reject });
    });
  }

  /** Nobody waits for the answer. */
  tell(request: Request): number {
    const id = ++this.#requests;
    if (this.#failure === null) this.#helper.send({ id, request } satisfies NumberedRequest);
    return id;
  }

  /** What waits is refused once the process is gone, and writes no file any more, or is given up. */
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
      "A process that makes parts can't be ended, and hangs until its disk answers. Later seals take another.",
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
    const who = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (result.ok) who?.resolve(result.value);
    else who?.reject(errorOf(result.error));
  }
}

function errorOf({ message, disk }: Fault): Error {
  return disk === null
    ? new Error(message)
    : new FileError(disk.operation, disk.path, disk.code, new Error(message));
}
