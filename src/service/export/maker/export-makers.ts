import { STAGED_FORMAT } from "../../../archive/write/staged-rows.ts";
import { assert } from "../../../lib/assert.ts";
import { systemTimers, type Timers } from "../../../lib/schedule/timers.ts";
import type { Helper, StartHelper } from "../../../runtime/helper/helper.ts";
import { PulseWatch } from "../../../runtime/helper/pulse.ts";
import { doneWithin } from "../../../runtime/listen.ts";
import { startThread } from "./maker-thread.ts";
import {
  type Command,
  type ExportSettings,
  type FromMaker,
  type Outcome,
  PIECES_MAX,
  type ToMaker,
} from "./messages.ts";

/** Makes one export outside our event loop: reads the archive, and writes records of archive and memory. */
export interface ExportMaker {
  /** Runs a command after those before it. */
  run(command: Command): Promise<Outcome>;
  /** Reports that the client took a piece: the maker stays only a few pieces ahead. */
  taken(): void;
  /** Aborts the export; pending calls reject. Resolves when all its work has ended. */
  close(): Promise<void>;
}

export interface MakerEvents {
  onPiece(bytes: Uint8Array<ArrayBuffer>): void;
}

export interface ExportMakersOptions {
  /** Starts the process of a maker; null if makers are threads. */
  readonly startHelper: StartHelper | null;
  /** Called with a sentence for the operator. */
  readonly onNote: (note: string) => void;
  /** An aborted export may take this long before its process is killed; two seconds by default. */
  readonly closeMsMax?: number;
  /** An unused maker waits this long for the next export; ten seconds by default. */
  readonly idleMs?: number;
  /** Defaults to the system's timers. */
  readonly timers?: Timers;
}

/** An aborted statement ends within tens of milliseconds, unless the machine is busy. */
const CLOSE_MS_MAX = 2000;

/** Starting a process takes 0.1 s of a core, so one process makes several files in a row. */
const IDLE_MS = 10_000;

/** A process ends after this many exports, which frees memory that its libraries have leaked. */
const EXPORTS_MAX = 100;

/** The script that calls `serveExports`. */
const SCRIPT = new URL("../../../app/export-maker.ts", import.meta.url);

/**
 * The processes that make exports, each one after the other. A process that does not abort in time is killed, which is
 * safe whatever DuckDB is doing. If no process can be started, a thread makes the export; a thread is never terminated
 * from outside, because a native call that completes in it afterwards would crash the whole process.
 */
export class ExportMakers {
  readonly #options: ExportMakersOptions;
  readonly #all = new Set<MakerHelper>();
  /** Unused makers, with the timers that end them. */
  readonly #idle = new Map<MakerHelper, ReturnType<typeof setTimeout>>();
  #isStopped = false;
  #hasNoted = false;

  constructor(options: ExportMakersOptions) {
    this.#options = options;
  }

  open(settings: ExportSettings, { onPiece }: MakerEvents): ExportMaker {
    const helper = this.#takeIdle() ?? this.#begin();
    let failure: Error | null = null;
    /** The pending result of the current command. */
    let waiting: PromiseWithResolvers<Outcome> | null = null;
    let closing: Promise<void> | null = null;
    let untakenPieces = 0;
    const closed = Promise.withResolvers<void>();

    function stop(error: Error): void {
      failure ??= error;
      waiting?.reject(failure);
      waiting = null;
    }

    const close = async () => {
      stop(new Error("The export is over"));
      helper.send({ kind: "close" });
      const isClosed = await doneWithin(closed.promise, this.#options.closeMsMax ?? CLOSE_MS_MAX);
      if (isClosed && this.#keep(helper)) return;
      helper.end();
      await helper.gone;
    };

    helper.use({
      onMessage(message) {
        if (message.kind === "closed") closed.resolve();
        else if (failure !== null) return;
        else if (message.kind === "piece") {
          untakenPieces++;
          onPiece(message.bytes);
        } else if (message.kind === "outcome") {
          waiting?.resolve(message);
          waiting = null;
        }
      },
      onGone(reason) {
        stop(new Error(`What makes the export ended: ${reason}`));
        closed.resolve();
      },
      isWaiting: () => waiting !== null && untakenPieces < PIECES_MAX,
    });
    helper.send({ kind: "open", settings });

    return {
      run(command) {
        if (failure !== null) return Promise.reject(failure);
        assert(waiting === null, "a maker is told one command at a time");
        waiting = Promise.withResolvers();
        helper.send(command);
        return waiting.promise;
      },
      taken() {
        if (closing !== null) return; // The piece is of the former export, not of the process's next one.
        untakenPieces--;
        helper.send({ kind: "taken" });
      },
      close() {
        closing ??= close();
        return closing;
      },
    };
  }

  /** Ends all makers, whatever they do, and those that would be started later. */
  stop(): void {
    this.#isStopped = true;
    for (const timer of this.#idle.values()) clearTimeout(timer);
    this.#idle.clear();
    for (const helper of this.#all) helper.end();
  }

  #takeIdle(): MakerHelper | null {
    const [first] = this.#idle;
    if (first === undefined) return null;
    clearTimeout(first[1]);
    this.#idle.delete(first[0]);
    return first[0];
  }

  #begin(): MakerHelper {
    const { startHelper, onNote, timers = systemTimers } = this.#options;
    const helper = new MakerHelper(startHelper, timers, (reason) => {
      if (!this.#hasNoted)
        onNote(`Exports are made in this process, and may keep answers waiting. ${reason}.`);
      this.#hasNoted = true;
    });
    this.#all.add(helper);
    void helper.gone.then(() => this.#forget(helper));
    if (this.#isStopped) helper.end();
    return helper;
  }

  /** Whether the maker may make another export. */
  #keep(helper: MakerHelper): boolean {
    if (this.#isStopped || helper.exports >= EXPORTS_MAX || !this.#all.has(helper)) return false;
    this.#idle.set(
      helper,
      setTimeout(() => {
        this.#idle.delete(helper);
        helper.end();
      }, this.#options.idleMs ?? IDLE_MS),
    );
    return true;
  }

  #forget(helper: MakerHelper): void {
    this.#all.delete(helper);
    clearTimeout(this.#idle.get(helper));
    this.#idle.delete(helper);
  }
}

/** The export that uses a helper. */
interface HelperUser {
  onMessage(message: FromMaker): void;
  onGone(reason: string): void;
  /** Whether the export waits for the helper. */
  isWaiting(): boolean;
}

/** The process or thread of a maker. */
class MakerHelper {
  /** How many exports it has started. */
  exports = 0;
  readonly #timers: Timers;
  readonly #onThread: (reason: string) => void;
  readonly #gone = Promise.withResolvers<void>();
  #helper: Helper;
  #user: HelperUser | null = null;
  /** Messages from before the maker was ready; null afterwards. */
  #unsent: ToMaker[] | null = [];
  #isEnding = false;
  /** Why we ended it; null if we did not, or only because it was unused. */
  #fault: string | null = null;
  /** Null for a thread, which is never terminated from outside. */
  #watch: PulseWatch | null = null;

  /** Calls `onThread` with the reason if no process can be started. */
  constructor(startHelper: StartHelper | null, timers: Timers, onThread: (reason: string) => void) {
    this.#timers = timers;
    this.#onThread = onThread;
    this.#helper = this.#start(startHelper ?? startThread, startHelper !== null);
  }

  /** Resolves once all its resources are released. */
  get gone(): Promise<void> {
    return this.#gone.promise;
  }

  use(user: HelperUser): void {
    this.exports++;
    this.#user = user;
  }

  send(message: ToMaker): void {
    if (this.#unsent === null) this.#helper.send(message);
    else this.#unsent.push(message);
  }

  /** Kills a process. A thread ends when its native call has returned. */
  end(): void {
    this.#isEnding = true;
    this.#helper.end();
  }

  #start(startHelper: StartHelper, isProcess: boolean): Helper {
    this.#watch = isProcess ? this.#startWatch() : null;
    return startHelper(SCRIPT, {
      onMessage: (message) => this.#take(message as FromMaker),
      onEnd: (reason) => {
        this.#watch?.stop();
        if (isProcess && this.#unsent !== null && !this.#isEnding) {
          this.#onThread(reason);
          this.#helper = this.#start(startThread, false);
          return;
        }
        this.#gone.resolve();
        this.#user?.onGone(this.#fault ?? reason);
      },
    });
  }

  #startWatch(): PulseWatch {
    return new PulseWatch(
      this.#timers,
      () => this.#user?.isWaiting() === true,
      () => this.#giveUp("it had done nothing for three minutes"),
    );
  }

  #giveUp(fault: string): void {
    this.#fault = fault;
    this.end();
  }

  #take(message: FromMaker): void {
    this.#watch?.note();
    if (message.kind !== "ready") this.#user?.onMessage(message);
    else if (message.format !== STAGED_FORMAT) {
      // The program's files were replaced during the run; its messages may mean something else.
      this.#giveUp("it is of another version, until the server starts again");
    } else {
      for (const unsent of this.#unsent ?? []) this.#helper.send(unsent);
      this.#unsent = null;
    }
  }
}
