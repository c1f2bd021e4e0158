import type { AppId } from "../../model/ids.ts";

/** Some messages in a row, and what they have of each app. */
interface Stretch {
  readonly firstMessage: number;
  readonly bytesByApp: Map<AppId, number>;
  bytes: number;
}

/** A full stream has so many: what is purged is known to a 64th of it. */
const STRETCHES_MAX = 64;

/**
 * What each app has in the stream of the quarantine, as far as it was not purged: messages stay there until every node
 * has them, however soon their entries are deleted. What was there before this process began doesn't count.
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

  /** The stream begins with this message. */
  notePurged(firstMessage: number): void {
    const first = this.#stretches.findLastIndex((stretch) => stretch.firstMessage <= firstMessage);
    if (first > 0) this.#stretches = this.#stretches.slice(first);
  }

  bytesOf(appId: AppId): number {
    return this.#stretches.reduce((sum, { bytesByApp }) => sum + (bytesByApp.get(appId) ?? 0), 0);
  }
}
