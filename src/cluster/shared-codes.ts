import { Buffer } from "node:buffer";
import { randomBytes } from "node:crypto";
import { type CodeUseRefusal, type CodeUses, LINK_CODE_MS, type LinkCode } from "../auth/link-codes.ts";
import { fail, ok, type Result } from "../lib/result.ts";
import type { Clock } from "../model/time/clock.ts";
import { type Bucket, StreamError } from "./stream/stream.ts";

/** How far the clocks of two nodes may be apart: one makes a code, and another one is asked a moment later. */
const CLOCKS_APART_MS_MAX = 60_000;

/** For so long the cluster remembers that a code was used: longer than any clock takes it for good. */
export const CODES_MS = 6 * LINK_CODE_MS;

/** Who signs in waits for the servers so long. */
const GIVE_UP_MS = 3000;
const RETRY_MS = 100;

/**
 * Sees that each code is used once on all nodes of a cluster together: whoever is first to write it down. What was used
 * is known to the cluster, so that a restart makes no code bad.
 */
export class SharedCodes implements CodeUses {
  readonly #bucket: Pick<Bucket, "get" | "update">;
  readonly #clock: Clock;
  readonly #giveUpMs: number;

  /** The bucket keeps each value for `CODES_MS`. */
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

  /** A try before this one may be there although no answer came: its mark says whose it is. */
  async #note(nonce: string, mark: Uint8Array): Promise<Result<void, "used">> {
    const bucket = this.#bucket;
    try {
      await bucket.update(nonce, mark, 0);
      return ok(undefined);
    } catch (error) {
      if (!(error instanceof StreamError) || error.kind !== "conflict") throw error;
      const found = await bucket.get(nonce);
      return found !== null && Buffer.compare(found.value, mark) === 0 ? ok(undefined) : fail("used");
    }
  }
}
