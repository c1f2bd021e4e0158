/** A smaller input that still fails: cut, then made of zeros, as far as it goes within the time. */
export async function shrink(
  input: Uint8Array,
  fails: (input: Uint8Array) => Promise<boolean>,
  timeMsMax: number,
): Promise<Uint8Array> {
  const endMs = performance.now() + timeMsMax;
  let least = input;
  for (let length = Math.max(1, least.length >> 1); length >= 1; length >>= 1) {
    for (let at = 0; at < least.length && performance.now() < endMs; ) {
      const cut = Uint8Array.from([...least.subarray(0, at), ...least.subarray(at + length)]);
      if (await fails(cut)) least = cut;
      else at += length;
    }
  }
  for (let at = 0; at < least.length && performance.now() < endMs; at++) {
    if (least[at] === 0) continue;
    const zeroed = Uint8Array.from(least);
    zeroed[at] = 0;
    if (await fails(zeroed)) least = zeroed;
  }
  return least;
}
