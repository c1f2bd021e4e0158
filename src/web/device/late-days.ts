import { type ApiError, retryingSentenceOf, sentenceOf } from "../api/api-error.ts";
import { LateModule } from "../api/late-module.ts";
import type { Days, DaysParts } from "../days/days.ts";

/** The calendar and the statistics, whose code is loaded when a user first needs it. */
export class LateDays {
  readonly #parts: DaysParts;
  readonly #module: LateModule<typeof import("../days/days.ts")>;
  #loaded: Days | null = null;
  #loading: Promise<Days> | null = null;
  #session = new AbortController();
  #fault: string | null = null;

  constructor(parts: DaysParts) {
    this.#parts = parts;
    this.#module = new LateModule(parts.api, "days/days.ts", () => import("../days/days.ts"));
  }

  /** Null until the code is loaded. */
  get loaded(): Days | null {
    return this.#loaded;
  }

  /** Why the code could not be loaded. */
  get fault(): string | null {
    return this.#fault;
  }

  /** Loads the code, and calls `begin` with it. */
  async use(begin: (days: Days) => void = () => undefined): Promise<void> {
    const { signal } = this.#session;
    try {
      this.#loading ??= this.#load(signal);
      const days = await this.#loading;
      if (signal.aborted) return; // That user has signed out.
      this.#loaded = days;
      this.#fault = null;
      begin(days);
    } catch (error) {
      if (signal.aborted) return;
      this.#loading = null;
      this.#fault = sentenceOf(error);
    }
    this.#parts.changed();
  }

  /** Closes the dialogs and forgets everything at the end of a session. */
  close(): void {
    this.#session.abort();
    this.#session = new AbortController();
    this.#loaded?.close();
    this.#loaded = null;
    this.#loading = null;
    this.#fault = null;
  }

  async #load(signal: AbortSignal): Promise<Days> {
    const onPause = (error: ApiError) => {
      this.#fault = retryingSentenceOf(error);
      this.#parts.changed();
    };
    const { Days } = await this.#parts.api.retries.ask(() => this.#module.load(), { signal, onPause });
    return new Days(this.#parts);
  }
}
