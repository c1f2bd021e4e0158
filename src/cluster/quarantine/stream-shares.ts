import type { AppId } from "../../model/ids.ts";

/** The bytes of each app in a run of messages. */
interface Stretch {
  readonly firstMessage: number;
  readonly bytesByApp: Map<AppId, number>;
  bytes: number;
}

/** The number of stretches of a full stream: purges are known to a 64th of it. */
const STRETCHES_MAX = 64;

/**
 * The bytes of each app in the quarantine's stream that were not purged: messages stay there until every node has them,
 * even if their entries are deleted. Messages from before this process started don't count.
 */
export class StreamShares {
  readonly #stretchBytes: number;
  #stretches: Stretch[] = [];

  constructor(streamBytesMax: number) {
    this.#stretchBytes = streamBytesMax / STRETCHES_MAX;
  }

  note(message: number, appId: AppId, bytes: number): void {
    let last = this.#stretches.at(-1);
    if (last === undefined || (last.bytes >= this.#stretchBytes && message > last.firstMessage)) {
      last = { firstMessage: message, bytesByApp: new Map(), bytes: 0 };
      this.#stretches.push(last);
    }
    last.bytesByApp.set(appId, (last.bytesByApp.get(appId) ?? 0) + bytes);
    last.bytes += bytes;
  }

  /** The stream now begins with this message. */
  notePurged(firstMessage: number): void {
    const first = this.#stretches.findLastIndex((stretch) => stretch.firstMessage <= firstMessage);
    if (first > 0) this.#stretches = this.#stretches.slice(first);
  }

  bytesOf(appId: AppId): number {
    return this.#stretches.reduce((sum, { bytesByApp }) => sum + (bytesByApp.get(appId) ?? 0), 0);
  }
}
