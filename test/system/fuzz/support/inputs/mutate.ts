/** An input that differs a little from one of the corpus: one to four small changes, as libFuzzer makes them. */
export function mutate(
  random: () => number,
  input: Uint8Array,
  pickOther: () => Uint8Array,
  bytesMax: number,
): Uint8Array {
  let bytes = [...input];
  for (let changes = 1 + below(random, 4); changes > 0; changes--) bytes = change(random, bytes, pickOther);
  return Uint8Array.from(bytes.slice(0, bytesMax));
}

const ODD_BYTES = [
  0, 1, 7, 8, 0x0a, 0x0d, 0x20, 0x22, 0x2c, 0x5b, 0x5c, 0x7b, 0x7f, 0x80, 0xbf, 0xc0, 0xf7, 0xff,
];
const CHUNK_MAX = 32;

function change(random: () => number, bytes: number[], pickOther: () => Uint8Array): number[] {
  const at = below(random, bytes.length + 1);
  const length = 1 + below(random, CHUNK_MAX);
  const byte = random() < 0.5 ? below(random, 256) : ODD_BYTES[below(random, ODD_BYTES.length)]!;
  switch (below(random, 8)) {
    case 0:
      return bytes.toSpliced(at, 1, (bytes[at] ?? 0) ^ (1 << below(random, 8)));
    case 1:
      return bytes.toSpliced(at, 1, byte);
    case 2:
      return bytes.toSpliced(at, 1, ((bytes[at] ?? 0) + below(random, 17) + 248) & 0xff);
    case 3:
      return bytes.toSpliced(at, 0, byte);
    case 4:
      return bytes.toSpliced(at, length);
    case 5: // Doubled, here or elsewhere.
      return bytes.toSpliced(below(random, bytes.length + 1), 0, ...bytes.slice(at, at + length));
    case 6: // Written over with what lies elsewhere.
      return bytes.toSpliced(below(random, bytes.length + 1), length, ...bytes.slice(at, at + length));
    default: {
      const other = pickOther();
      const from = below(random, other.length + 1);
      return bytes.toSpliced(at, random() < 0.5 ? length : 0, ...other.subarray(from, from + length));
    }
  }
}

function below(random: () => number, end: number): number {
  return Math.floor(random() * end);
}
