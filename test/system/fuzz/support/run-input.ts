import process from "node:process";
import { unlessHung } from "../../../support/hang-guard.ts";
import type { Target } from "./target.ts";

/** Time and memory that one input may take: so much at once, and for each byte of it. */
const RUN_MS_MAX = 1000;
const RUN_MS_PER_BYTE_MAX = 0.01;
const HELD_BYTES_MAX = 48 * 1024 * 1024;
const HELD_PER_BYTE_MAX = 2048;
/** What is too slow or too large is tried again: another program or the collector may have been at work. */
const TRIES = 4;

/** What is wrong with what the target does with an input; null where nothing is. */
export async function faultOf(target: Target, input: Uint8Array): Promise<string | null> {
  for (let attempt = 1; ; attempt++) {
    const heldBefore = process.memoryUsage().external;
    const startedMs = performance.now();
    try {
      await settled(target.check(input));
    } catch (error) {
      return error instanceof Error ? (error.stack ?? error.message) : String(error);
    }
    const runMs = performance.now() - startedMs;
    const heldBytes = process.memoryUsage().external - heldBefore;
    const isSlow = runMs > RUN_MS_MAX + RUN_MS_PER_BYTE_MAX * input.length;
    const isLarge = heldBytes > HELD_BYTES_MAX + HELD_PER_BYTE_MAX * input.length;
    if (!isSlow && !isLarge) return null;
    if (attempt < TRIES) continue;
    if (isLarge) return `it allocates ${heldBytes} bytes for an input of ${input.length}`;
    return `it takes ${runMs.toFixed(0)} ms for an input of ${input.length} bytes`;
  }
}

/** Longer than any input may take on a busy machine. */
const SETTLE_MS_MAX = 10_000;

/** Fails the input under way. What it leaves uncaught would end the server. */
let onUncaught: ((error: unknown) => void) | null = null;
for (const event of ["uncaughtException", "unhandledRejection"] as const) {
  process.on(event, (error: unknown) => {
    if (onUncaught === null) throw error;
    onUncaught(error);
  });
}

/** Rejects where the work does, or leaves an error uncaught, or never ends. */
async function settled(work: void | Promise<void>): Promise<void> {
  if (work === undefined) return;
  const lost = new Promise<never>((_, reject) => {
    onUncaught = (error) => reject(new Error(`it leaves an error uncaught: ${error}`));
  });
  try {
    await unlessHung(Promise.race([work, lost]), "an input", SETTLE_MS_MAX);
  } finally {
    onUncaught = null;
  }
}
