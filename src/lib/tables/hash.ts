// Hashes with a random seed and factor per process: no client can send values that collide in a table, even if it knows
// in which order numbers are assigned.
//
// Each step folds upper bits into the lower ones, which multiplication does not do. Without that, differences of texts
// are multiples of powers of two, and thousands of texts can be made that collide for any seed and many factors. The
// folding is repeated inline, because Bun does not inline a function for it: reports with long texts took a third
// longer.
const [SEED, FACTOR] = crypto.getRandomValues(new Uint32Array(2)).map((word) => word | 1) as unknown as [
  number,
  number,
];

/** FNV-1a over `width` integers from `start` on, with mixing at each step and at the end: a signed 32-bit number. */
export function hashTuple(tuple: ArrayLike<number>, start: number, width: number): number {
  let hash = SEED;
  for (let m = 0; m < width; m++) {
    hash = Math.imul(hash ^ tuple[start + m]!, FACTOR);
    hash ^= hash >>> 15;
  }
  return mixed(hash);
}

/** The hash of one integer. No two 32-bit integers have the same hash. */
export function hashNumber(number: number): number {
  return mixed(Math.imul(SEED ^ number, FACTOR));
}

/** The hash of a text's UTF-16 units, like `hashTuple()`. */
export function hashText(text: string): number {
  let hash = SEED;
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), FACTOR);
    hash ^= hash >>> 15;
  }
  return mixed(hash);
}

/** The hash of an ASCII text in bytes, equal to `hashText()` of that text. */
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
