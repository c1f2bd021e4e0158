/**
 * Another process of this program, which does what its script says and lets others have the processor first. It ends
 * with us, however we end. What is sent is copied: data alone, typed arrays among it.
 */
export interface Helper {
  send(message: unknown): void;
  /** Ends it at once, whatever it does; `onEnd` tells when it is gone. */
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
}
