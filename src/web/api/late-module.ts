import type { Api } from "./api.ts";
import { ApiError } from "./api-error.ts";

/**
 * A module that is loaded when it is first needed. Browsers may cache a failed import as long as the page is open, so
 * each retry imports the module, and all that it imports in turn, under new addresses.
 */
export class LateModule<Module> {
  readonly #api: Pick<Api, "fetch">;
  readonly #path: string;
  readonly #first: () => Promise<Module>;
  #failures = 0;

  /** `first` is the module's `import()`, written out so that the server finds it; `path` is its path in `src/web`. */
  constructor(api: Pick<Api, "fetch">, path: string, first: () => Promise<Module>) {
    this.#api = api;
    this.#path = path;
    this.#first = first;
  }

  /** Throws an `ApiError`, which is a refusal if the server now has another version of the page. */
  async load(): Promise<Module> {
    try {
      return await (this.#failures === 0 ? this.#first() : import(this.#address()));
    } catch {
      this.#failures++;
    }
    await this.#api.fetch(this.#address()); // A failed import has no reason; this request has.
    throw new ApiError(0, "A part of the page can't be loaded.");
  }

  /** Every module lies one folder deep. */
  #address(): string {
    return new URL(`../${this.#path}?again=${this.#failures}`, import.meta.url).href;
  }
}
