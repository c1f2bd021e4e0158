/**
 * A child process that runs one script at a low priority. It ends when this process ends, however that happens.
 * Messages are copied, so they may only hold data, including typed arrays.
 */
export interface Helper {
  send(message: unknown): void;
  /** Kills the process; `onEnd` reports when it is gone, which a disk that hangs may delay. */
  end(): void;
}

export interface HelperEvents {
  onMessage(message: unknown): void;
  /** The process has ended or could not start. Called once, and no message follows. */
  onEnd(reason: string): void;
}

export type StartHelper = (script: URL, events: HelperEvents) => Helper;

/** The helper's side of the connection to its parent process. */
export interface HelperPort {
  send(message: unknown): void;
  onMessage(take: (message: unknown) => void): void;
  /** The work done so far by threads other than the script's. */
  work(): NativeWork;
}

/** The work of library threads. Both counters only grow, and don't change while the process is stopped or stuck. */
export interface NativeWork {
  /** Processor time of all threads except the one that runs JavaScript. */
  readonly cpuMs: number;
  /** Blocks read from or written to disks. */
  readonly diskBlocks: number;
}
