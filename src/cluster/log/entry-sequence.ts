import { assert } from "../../lib/assert.ts";

/*
 * The sequence of an entry in a stream is made of the number of its message and its place in that: the same on every
 * node, and growing. Safe integers have room for 8 trillion messages, 280 years of a thousand a second.
 */

/** Entries that a message may have. */
export const MESSAGE_ENTRIES_MAX = 1024;

export function entrySequence(message: number, index: number): number {
  assert(index >= 0 && index < MESSAGE_ENTRIES_MAX, "an entry has its place in a message");
  return message * MESSAGE_ENTRIES_MAX + index;
}

/** The message that the entry of this sequence is in. */
export function messageNumberOf(sequence: number): number {
  return Math.floor(sequence / MESSAGE_ENTRIES_MAX);
}
