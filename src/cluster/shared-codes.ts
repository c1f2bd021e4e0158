import { Buffer } from "node:buffer";
import { randomBytes } from "node:crypto";
import { type CodeUseRefusal, type CodeUses, LINK_CODE_MS, type LinkCode } from "../auth/link-codes.ts";
import { fail, ok, type Result } from "../lib/result.ts";
import type { Clock } from "../model/time/clock.ts";
import { type Bucket, StreamError } from "./stream/stream.ts";

/** The maximum difference between the clocks of the node that creates a code and the one that checks it. */
const CLOCKS_APART_MS_MAX = 60_000;

/** How long the cluster remembers a used code: longer than any node's clock accepts it. */
export const CODES_MS = 6 * LINK_CODE_MS;

/** How long a sign-in waits for the servers. */
const GIVE_UP_MS = 3000;
const RETRY_MS = 100;

/** Ensures that each code is used once in the whole cluster: the first node to record it wins. */
export class SharedCodes implements CodeUses {
  readonly #bucket: Pick<Bucket, "get" | "update">;
  readonly #clock: Clock;
  readonly #giveUpMs: number;

  /** The bucket must retain each value for `CODES_MS`. */
  constructor(bucket: Pick<Bucket, "get" | "update">, clock: Clock, giveUpMs = GIVE_UP_MS) {
    this.#bucket = bucket;
    this.#clock = clock;
    this.#giveUpMs = giveUpMs;
  }

  async use({ madeMs, nonce }: LinkCode): Promise<Result<void, CodeUseRefusal>> {
    const nowMs = this.#clock.nowMs();
    const isGood = madeMs <= nowMs + CLOCKS_APART_MS_MAX && nowMs < madeMs + LINK_CODE_MS;
    if (!isGood) return fail("old");
    const mark = randomBytes(16);
    const giveUpAt = performance.now() + this.#giveUpMs;
    for (;;) {
      try {
        return await this.#note(nonce, mark);
      } catch (error) {
        if (!(error instanceof StreamError)) throw error;
        if (error.kind !== "unreachable" || performance.now() >= giveUpAt) return fail("unreachable");
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }

  /** An earlier attempt may be stored although no answer came: its random mark tells. */
  async #note(nonce: string, mark: Uint8Array): Promise<Result<void, "used">> {
    const bucket = this.#bucket;
    try {
      await bucket.update(nonce, mark, 0);
      return ok(undefined);
    } catch (error) {
      if (!(error instanceof StreamError) || error.kind !== "conflict") throw error;
      const entry = await bucket.get(nonce);
      return entry !== null && Buffer.compare(entry.value, mark) === 0 ? ok(undefined) : fail("used");
    }
  }
}
