import type { NatsLink } from "./nats-link.ts";
import { StreamError } from "./stream.ts";

/** A server that was away, or settings that somebody changes, are found this often; after a reconnect at once. */
const CHECK_MS = 5 * 60_000;

/**
 * Whether the servers still keep what they acknowledge. While they don't nothing is given to them: whoever would report
 * is told so, and questions go on.
 */
export class NatsTrust {
  readonly #link: NatsLink;
  readonly #check: () => Promise<void>;
  readonly #onNote: (note: string) => void;
  readonly #forgetFind: () => void;
  readonly #timer: NodeJS.Timeout;
  #checking: Promise<void> = Promise.resolve();
  #refusal: StreamError | null = null;

  /** `check` rejects with a `StreamError`, `refused` where they don't; it has been called once already. */
  constructor(link: NatsLink, check: () => Promise<void>, onNote: (note: string) => void) {
    this.#link = link;
    this.#check = check;
    this.#onNote = onNote;
    this.#forgetFind = link.onFind(() => this.#checkAgain());
    this.#timer = setInterval(() => this.#checkAgain(), CHECK_MS);
    this.#timer.unref();
  }

  /** Rejects with a `StreamError` where they don't, as far as they tell. */
  async confirm(): Promise<void> {
    await this.#checking;
    if (this.#refusal !== null) throw this.#refusal;
  }

  close(): void {
    this.#forgetFind();
    clearInterval(this.#timer);
  }

  #checkAgain(): void {
    if (!this.#link.isClosed) this.#checking = this.#checking.then(() => this.#look());
  }

  async #look(): Promise<void> {
    try {
      await this.#check();
      if (this.#refusal !== null) this.#onNote("The NATS servers keep what they acknowledge again.");
      this.#refusal = null;
    } catch (error) {
      if (!(error instanceof StreamError)) throw error;
      if (error.kind !== "refused") return; // Nobody can say; what was known stays.
      if (this.#refusal?.message !== error.message)
        this.#onNote(`${error.message} No reports are taken until then.`);
      this.#refusal = error;
    }
  }
}
