import { Buffer } from "node:buffer";
import { createHmac, createSecretKey, type KeyObject, randomBytes, timingSafeEqual } from "node:crypto";

export const SECRET_BYTES = 32;

/** What a signature is for: one that was made for something else is as good as none. */
export type Purpose = "session" | "code" | "cookie name";

/** Signs texts, and knows its own signatures again: HMAC-SHA-256, in base64url. */
export class Signer {
  /** Of the cookie that holds a session. Each signer has another: browsers send cookies to all ports of a host. */
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
