import { fail, type Result } from "../../lib/result.ts";
import { Semaphore } from "../../lib/schedule/semaphore.ts";
import { type ServiceError, unavailable } from "../../model/errors.ts";
import type { AppId } from "../../model/ids.ts";

/** About ten seconds of work, if each reads an archived day. */
const WAITING_OF_APP_MAX = 64;

/** Who asks for a turn; the signal ends the wait. */
export interface TurnOwner {
  readonly appId: AppId;
  readonly keyId: string;
  readonly signal: AbortSignal;
}

/**
 * Gives the corrections of an app their turns, one at a time. Its keys take turns too, and if too many corrections of
 * the app wait, those of the key with the most give way. Apps don't wait for each other.
 */
export class Turns {
  readonly #waitingMax: number;
  readonly #byApp = new Map<AppId, Semaphore>();

  constructor(waitingMax = WAITING_OF_APP_MAX) {
    this.#waitingMax = waitingMax;
  }

  /** Corrections that wait, of all apps. */
  get waiting(): number {
    let waiting = 0;
    for (const turns of this.#byApp.values()) waiting += turns.waiting;
    return waiting;
  }

  /** Runs the work in its turn. Rejects with the signal's reason if the owner leaves before. */
  async run<Value>(
    { appId, keyId, signal }: TurnOwner,
    work: () => Promise<Result<Value, ServiceError>>,
  ): Promise<Result<Value, ServiceError>> {
    const turns = this.#byApp.get(appId) ?? new Semaphore(1, { waitingMax: this.#waitingMax });
    this.#byApp.set(appId, turns);
    signal.throwIfAborted();
    if ((await turns.enter(keyId, { signal })) === "refused")
      return fail(unavailable("too many corrections of the app wait for their turn", 5));
    try {
      return await work();
    } finally {
      turns.leave(keyId);
      if (turns.running === 0) this.#byApp.delete(appId);
    }
  }
}
