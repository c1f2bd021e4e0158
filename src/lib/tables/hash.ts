/*
 * Hashes over a seed and a factor that each process draws anew: nobody can send what meets in one place of a table,
 * even who knows in which order numbers are handed out.
 *
 * With each unit, upper bits are folded into the lower ones, which no product does: else differences of texts are
 * multiples of powers of two, and thousands of texts can be made that have one hash whatever the seed, and with many
 * factors. Not in a function of its own, which Bun calls: reports of long texts took a third longer.
 */
const [SEED, FACTOR] = crypto.getRandomValues(new Uint32Array(2)).map((word) => word | 1) as unknown as [
  number,
  number,
];

/**
 * FNV-1a over `width` whole numbers from `start` on, mixed on the way and at the end, so that neighbours spread: 32
 * bits, with a sign.
 */
export function hashTuple(tuple: ArrayLike<number>, start: number, width: number): number {
  let hash = SEED;
  for (let m = 0; m < width; m++) {
    hash = Math.imul(hash ^ tuple[start + m]!, FACTOR);
    hash ^= hash >>> 15;
  }
  return mixed(hash);
}

/** The hash of one whole number. No two numbers of 32 bits have the same one. */
export function hashNumber(number: number): number {
  return mixed(Math.imul(SEED ^ number, FACTOR));
}

/** The same over the UTF-16 units of a text. */
export function hashText(text: string): number {
  let hash = SEED;
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), FACTOR);
    hash ^= hash >>> 15;
  }
  return mixed(hash);
}

/** The same over bytes of ASCII, which are the units of their text. */
export function hashAscii(bytes: Uint8Array, start: number, end: number): number {
  let hash = SEED;
  for (let i = start; i < end; i++) {
    hash = Math.imul(hash ^ bytes[i]!, FACTOR);
    hash ^= hash >>> 15;
  }
  return mixed(hash);
}

function mixed(hash: number): number {
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0x2c1b3c6d);
  return hash ^ (hash >>> 12);
}
