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

/** Null until there is a secret. */
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
 * The secret that signs the sessions of a data directory: a file of random bytes, created if missing. A person who
 * reads it can sign in with every key, so backups leave the file out. All sessions end when the file is replaced.
 */
export class SessionSecret {
  readonly #file: SharedFile<Signer | null>;

  private constructor(file: SharedFile<Signer | null>) {
    this.#file = file;
  }

  static async open(dependencies: SharedFileDependencies): Promise<SessionSecret> {
    return new SessionSecret(await SharedFile.open(dependencies, SECRET_FILE));
  }

  /** While the file can't be read, no session is valid. */
  get state(): SharedFileState {
    return this.#file.state;
  }

  /** Null if there is no usable secret. */
  get signer(): Signer | null {
    return this.#file.value;
  }

  /** The signer; creates the secret if there is none. */
  async obtain(): Promise<Result<Signer, SharedFileError>> {
    const { signer } = this;
    if (signer !== null) return ok(signer);
    return this.#file.change<Signer, never>((existing) => {
      const value = existing ?? Signer.random();
      return ok({ value, answer: value });
    });
  }

  reload(): Promise<void> {
    return this.#file.reload();
  }

  /** Like `reload`, but asks the cluster's servers. */
  refresh(): Promise<void> {
    return this.#file.refresh();
  }
}

export const SECRET_BYTES = 32;

/** What a signature is for. A signature for one purpose is not valid for another. */
export type Purpose = "session" | "code" | "cookie name";

/** Signs texts and verifies its signatures: HMAC-SHA-256, in base64url. */
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

  /** Compares in constant time, so that the duration doesn't tell how many characters are right. */
  hasSigned(purpose: Purpose, text: string, signature: string): boolean {
    const expected = Buffer.from(this.sign(purpose, text));
    const actual = Buffer.from(signature);
    return actual.length === expected.length && timingSafeEqual(actual, expected);
  }
}
