import { Buffer } from "node:buffer";
import { createHmac, createSecretKey, type KeyObject, randomBytes, timingSafeEqual } from "node:crypto";
import {
  type FileFormat,
  SharedFile,
  type SharedFileDependencies,
  type SharedFileError,
  type SharedFileState,
} from "../directory/shared-file.ts";
import { assert } from "../lib/assert.ts";
import { fail, ok, type Result } from "../lib/result.ts";

/** Null before there is a secret. */
const SECRET_FILE: FileFormat<Signer | null> = {
  empty: null,
  encode(signer) {
    assert(signer !== null, "a secret is written once it is made");
    return signer.secret;
  },
  parse: (bytes) =>
    bytes.length === SECRET_BYTES ? ok(new Signer(bytes)) : fail(`it must have ${SECRET_BYTES} bytes`),
};

/**
 * The secret that signs the sessions of a data directory: random bytes in a file, made if there is none. A person who
 * reads them can sign in with each key, so no backup has the file. All sessions end when the file is replaced.
 */
export class SessionSecret {
  readonly #file: SharedFile<Signer | null>;

  private constructor(file: SharedFile<Signer | null>) {
    this.#file = file;
  }

  static async open(dependencies: SharedFileDependencies): Promise<SessionSecret> {
    return new SessionSecret(await SharedFile.open(dependencies, SECRET_FILE));
  }

  /** While the file can't be used, no session is good. */
  get state(): SharedFileState {
    return this.#file.state;
  }

  /** Null if there is no secret that can be used. */
  get signer(): Signer | null {
    return this.#file.value;
  }

  /** The signer, made if there is none. */
  async obtain(): Promise<Result<Signer, SharedFileError>> {
    const { signer } = this;
    if (signer !== null) return ok(signer);
    return this.#file.change<Signer, never>((found) => {
      const made = found ?? Signer.random();
      return ok({ value: made, answer: made });
    });
  }

  reload(): Promise<void> {
    return this.#file.reload();
  }

  /** Like `reload`, but a cluster's servers are asked. */
  refresh(): Promise<void> {
    return this.#file.refresh();
  }
}

export const SECRET_BYTES = 32;

/** What a signature is for: one that was made for another purpose is not good. */
export type Purpose = "session" | "code" | "cookie name";

/** Signs texts, and knows its own signatures again: HMAC-SHA-256, in base64url. */
export class Signer {
  /** Names the cookie of a session. It differs by signer: browsers send cookies to all ports of a host. */
  readonly cookieName: string;
  readonly #key: KeyObject;

  constructor(secret: Uint8Array) {
    this.#key = createSecretKey(secret);
    this.cookieName = `wherehouse_session_${this.sign("cookie name", "").slice(0, 8)}`;
  }

  static random(): Signer {
    return new Signer(randomBytes(SECRET_BYTES));
  }

  get secret(): Uint8Array {
    return this.#key.export();
  }

  sign(purpose: Purpose, text: string): string {
    return createHmac("sha256", this.#key).update(`${purpose}\n${text}`).digest("base64url");
  }

  /** Compares to the letter, in a time that says nothing of how many of them are right. */
  hasSigned(purpose: Purpose, text: string, signature: string): boolean {
    const expected = Buffer.from(this.sign(purpose, text));
    const given = Buffer.from(signature);
    return given.length === expected.length && timingSafeEqual(given, expected);
  }
}
