import { FRAME_SALT_BYTES } from "../../src/lib/frames/frame.ts";

/** Repeatable numbers from 0 to below 1 (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Repeatable salts for segments of the log. */
export function seededSalts(seed: number): () => Uint8Array {
  const next = seededRandom(seed);
  return () => Uint8Array.from({ length: FRAME_SALT_BYTES }, () => next() * 256);
}
