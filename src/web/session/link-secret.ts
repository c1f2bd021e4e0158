import type { PageKind } from "../api/api.ts";
import type { Credential } from "./session.ts";

/*
 * The code or key after the `#` of a link. It is removed from the address immediately and waits in the tab's
 * `sessionStorage` until the server has answered, so that a reload tries again. If the browser allows no storage, it
 * stays in the address until then.
 */

/** The used part of the browser's window. */
export interface LinkWindow {
  readonly location: { readonly hash: string; readonly pathname: string; readonly search: string };
  readonly history: Pick<History, "replaceState">;
  /** Reading this throws if the browser allows no storage. */
  readonly sessionStorage: Pick<Storage, "getItem" | "setItem" | "removeItem">;
}

const NAMES: Readonly<Record<PageKind, string>> = { map: "wherehouse-code", share: "wherehouse-share" };
const HASHES: Readonly<Record<PageKind, RegExp>> = { map: /^#code=(.+)$/, share: /^#(\w+)/ };

export class LinkSecret {
  readonly #window: LinkWindow;
  readonly #page: PageKind;

  constructor(window: LinkWindow, page: PageKind) {
    this.#window = window;
    this.#page = page;
  }

  /** Returns the credential of this link, or of the link before a reload; null if there is none. */
  take(): Credential | null {
    const text = HASHES[this.#page].exec(this.#window.location.hash)?.[1] ?? this.#stored();
    if (text === null) return null;
    if (this.#store(text)) this.#wipeAddress();
    return this.#page === "share" ? { share: text } : { code: text };
  }

  /** Removes the secret from the browser, once the server has answered. */
  forget(): void {
    this.#wipeAddress();
    try {
      this.#window.sessionStorage.removeItem(NAMES[this.#page]);
    } catch {
      // Without storage the secret was only in the address.
    }
  }

  #stored(): string | null {
    try {
      return this.#window.sessionStorage.getItem(NAMES[this.#page]);
    } catch {
      return null;
    }
  }

  #store(text: string): boolean {
    try {
      this.#window.sessionStorage.setItem(NAMES[this.#page], text);
      return true;
    } catch {
      return false;
    }
  }

  #wipeAddress(): void {
    const { history, location } = this.#window;
    if (location.hash !== "") history.replaceState(null, "", location.pathname + location.search);
  }
}
