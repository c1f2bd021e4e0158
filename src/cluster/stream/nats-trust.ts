import type { NatsLink } from "./nats-link.ts";
import { StreamError } from "./stream.ts";

/** A server that was away, or settings that somebody changes, are found this often; after a reconnect at once. */
const CHECK_MS = 5 * 60_000;

/** What is looked at. Each rejects with a `StreamError`, `refused` where what is acknowledged would not be kept. */
export interface TrustChecks {
  /** Answered within two seconds by any server. After a reconnect nothing is published before. */
  servers(): Promise<unknown>;
  /** Answered by a leader, which there may be none of for a while. */
  settings(): Promise<unknown>;
}

/**
 * Whether the servers still keep what they acknowledge. While they don't nothing is given to them: whoever would report
 * is told so, and questions go on.
 */
export class NatsTrust {
  readonly #link: NatsLink;
  readonly #checks: TrustChecks;
  readonly #onNote: (note: string) => void;
  readonly #forgetFind: () => void;
  readonly #timer: NodeJS.Timeout;
  readonly #refusals = new Map<keyof TrustChecks, StreamError>();
  #checking: Promise<void> = Promise.resolve();
  #checkingLater: Promise<void> = Promise.resolve();

  /** Both checks have been made once already. */
  constructor(link: NatsLink, checks: TrustChecks, onNote: (note: string) => void) {
    this.#link = link;
    this.#checks = checks;
    this.#onNote = onNote;
    this.#forgetFind = link.onFind(() => this.#checkAgain());
    this.#timer = setInterval(() => this.#checkAgain(), CHECK_MS);
    this.#timer.unref();
  }

  /** Rejects with a `StreamError` where they don't, as far as they tell. */
  async confirm(): Promise<void> {
    await this.#checking;
    for (const refusal of this.#refusals.values()) throw refusal;
  }

  close(): void {
    this.#forgetFind();
    clearInterval(this.#timer);
  }

  #checkAgain(): void {
    if (this.#link.isClosed) return;
    this.#checking = this.#checking.then(() => this.#look("servers"));
    this.#checkingLater = this.#checkingLater.then(() => this.#look("settings"));
  }

  async #look(check: keyof TrustChecks): Promise<void> {
    const before = this.#refusals.get(check);
    try {
      await this.#checks[check]();
      this.#refusals.delete(check);
      if (before !== undefined) this.#onNote("The NATS servers keep what they acknowledge again.");
    } catch (error) {
      if (!(error instanceof StreamError)) throw error;
      if (error.kind !== "refused") return; // Nobody can say; what was known stays.
      if (before?.message !== error.message)
        this.#onNote(`${error.message} No reports are taken until then.`);
      this.#refusals.set(check, error);
    }
  }
}
