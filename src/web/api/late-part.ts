import type { Api } from "./api.ts";
import { type ApiError, retryingSentenceOf, sentenceOf } from "./api-error.ts";
import { LateModule } from "./late-module.ts";

/** Where the code of a part is, and what is made of it. */
export interface LatePartOptions<Module, Part> {
  readonly api: Pick<Api, "fetch" | "retries">;
  /** The module's path in `src/web`. */
  readonly path: string;
  /** The module's `import()`, written out so that the server finds it. */
  readonly load: () => Promise<Module>;
  readonly create: (module: Module) => Part;
  readonly changed: () => void;
}

/** A part of the page whose code is loaded when a user first needs it. */
export class LatePart<Module, Part extends { close(): void }> {
  readonly #options: LatePartOptions<Module, Part>;
  readonly #module: LateModule<Module>;
  #loaded: Part | null = null;
  #loading: Promise<Part> | null = null;
  #fault: string | null = null;
  /** What to do once the code is loaded. */
  #begin: (part: Part) => void = () => undefined;
  /** Aborted when the user signs out. */
  #session = new AbortController();

  constructor(options: LatePartOptions<Module, Part>) {
    const { api, path, load } = options;
    this.#options = options;
    this.#module = new LateModule(api, path, load);
  }

  /** Null until the code is loaded. */
  get loaded(): Part | null {
    return this.#loaded;
  }

  /** Why the code could not be loaded. */
  get fault(): string | null {
    return this.#fault;
  }

  /** Loads the code, and calls `begin` with the part. */
  async use(begin: (part: Part) => void = () => undefined): Promise<void> {
    const { signal } = this.#session;
    this.#begin = begin;
    try {
      this.#loading ??= this.#load(signal);
      const part = await this.#loading;
      if (signal.aborted) return; // That user has signed out.
      this.#loaded = part;
      this.#fault = null;
      begin(part);
    } catch (error) {
      if (signal.aborted) return;
      this.#loading = null;
      this.#fault = sentenceOf(error);
    }
    this.#options.changed();
  }

  /** Tries again at once after a failure. */
  retry(): void {
    if (this.#loading === null) void this.use(this.#begin);
    else this.#options.api.retries.wake();
  }

  /** Closes the part and forgets it at the end of a session. */
  close(): void {
    this.#session.abort();
    this.#session = new AbortController();
    this.#loaded?.close();
    this.#loaded = null;
    this.#loading = null;
    this.#fault = null;
  }

  async #load(signal: AbortSignal): Promise<Part> {
    const { api, create, changed } = this.#options;
    const onPause = (error: ApiError) => {
      this.#fault = retryingSentenceOf(error);
      changed();
    };
    return create(await api.retries.ask(() => this.#module.load(), { signal, onPause }));
  }
}
