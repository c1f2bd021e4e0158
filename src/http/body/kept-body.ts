import { createHash } from "node:crypto";
import type { MaybePromise } from "../../lib/schedule/maybe-promise.ts";
import { type Coding, compressSmall } from "./coding.ts";

/** Bytes as they are sent, and the entity tag that tells them from others. */
export interface KeptBytes {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly tag: string;
}

/** A body that is the same for everybody: read when it is first asked for, packed once for each coding, and kept. */
export class KeptBody {
  readonly #read: () => Promise<Uint8Array<ArrayBuffer>>;
  readonly #made = new Map<Coding | null, KeptBytes>();
  readonly #making = new Map<Coding | null, Promise<KeptBytes>>();

  constructor(read: () => Promise<Uint8Array<ArrayBuffer>>) {
    this.#read = read;
  }

  /** The body in a coding, or plain; there at once but for the first time. */
  in(coding: Coding | null): MaybePromise<KeptBytes> {
    const made = this.#made.get(coding);
    if (made !== undefined) return made;
    let making = this.#making.get(coding);
    if (making === undefined) {
      making = this.#make(coding).finally(() => this.#making.delete(coding)); // What failed is tried again.
      this.#making.set(coding, making);
    }
    return making;
  }

  async #make(coding: Coding | null): Promise<KeptBytes> {
    const made = coding === null ? await this.#readPlain() : await this.#pack(coding);
    this.#made.set(coding, made);
    return made;
  }

  async #readPlain(): Promise<KeptBytes> {
    const bytes = await this.#read();
    return { bytes, tag: `"${createHash("sha256").update(bytes).digest("base64url")}"` };
  }

  async #pack(coding: Coding): Promise<KeptBytes> {
    const { bytes, tag } = await this.in(null);
    return { bytes: await compressSmall(coding, bytes), tag: `${tag.slice(0, -1)}-${coding}"` };
  }
}
