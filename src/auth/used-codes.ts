import { fail, ok, type Result } from "../lib/result.ts";
import type { Clock } from "../model/time/clock.ts";
import { LINK_CODE_MS, type LinkCode } from "./link-codes.ts";

/** Only who has the secret makes codes, and nobody makes as many in ten minutes. */
const USED_MAX = 10_000;

export type CodeUseRefusal =
  | "used"
  | "old"
  /** Nobody can say now whether it was used. */
  | "unreachable";

/** Who sees that each code is used once. */
export interface CodeUses {
  /** Notes the code as used, if it may be. */
  use(code: LinkCode): Promise<Result<void, CodeUseRefusal>>;
}

/**
 * Sees that each code is used once by a process that is alone. Which were is kept in memory, so one of before the
 * start, which may have been used then, is none.
 */
export class UsedCodes implements CodeUses {
  readonly #clock: Clock;
  readonly #startedMs: number;
  /** The oldest use first. */
  readonly #nonces = new Set<string>();

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#startedMs = clock.nowMs();
  }

  async use({ madeMs, nonce }: LinkCode): Promise<Result<void, "used" | "old">> {
    const nowMs = this.#clock.nowMs();
    const isGood = madeMs >= this.#startedMs && madeMs <= nowMs && nowMs < madeMs + LINK_CODE_MS;
    if (this.#nonces.has(nonce)) return fail("used");
    if (!isGood) return fail("old");
    this.#nonces.add(nonce);
    if (this.#nonces.size > USED_MAX) this.#nonces.delete(this.#nonces.keys().next().value!);
    return ok(undefined);
  }
}
