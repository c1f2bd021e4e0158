/**
 * Another process of this program, which does what its script says and lets others have the processor first. It ends
 * with us, however we end. What is sent is copied: data alone, typed arrays among it.
 */
export interface Helper {
  send(message: unknown): void;
  /**
   * Ends it at once, whatever it does; `onEnd` tells when it is gone. A process that waits for a disk in the kernel is
   * gone only when the disk answers, which may be never.
   */
  end(): void;
}

export interface HelperEvents {
  onMessage(message: unknown): void;
  /** It is gone, or could not begin, and does nothing any more. Comes once, and nothing after it. */
  onEnd(reason: string): void;
}

export type StartHelper = (script: URL, events: HelperEvents) => Helper;

/** What a helper's script has of the process that began it. */
export interface HelperPort {
  send(message: unknown): void;
  onMessage(take: (message: unknown) => void): void;
  /** What the helper has done so far, besides running its script. */
  work(): NativeWork;
}

/** What the threads of libraries have done. Both only grow, and stand still while the process is stopped or stuck. */
export interface NativeWork {
  /** Processor time of all threads but the one that runs JavaScript. */
  readonly cpuMs: number;
  /** Blocks that the process has read from disks or written to them. */
  readonly diskBlocks: number;
}
