import { expect, test } from "bun:test";
import { Buffer } from "node:buffer";

/** The functions as another process has them: with a seed and a factor of its own. */
async function hashesOf(process: number): Promise<typeof import("../../../../src/lib/tables/hash.ts")> {
  return await import(`../../../../src/lib/tables/hash.ts?process=${process}`);
}

/** Among sums of powers of an odd number, that of this sequence and that of its opposite are often alike. */
const THUE_MORSE = Array.from(
  { length: 128 },
  (_, at) => (at.toString(2).replaceAll("0", "").length + 1) % 2,
);

test("what differs as Thue and Morse's sequence from its opposite does not meet, whatever the seed and factor", async () => {
  const [units, opposite] = [THUE_MORSE, THUE_MORSE.map((unit) => 1 - unit)] as const;
  const texts = [units.join(""), opposite.join("")] as const;
  for (let process = 0; process < 64; process++) {
    const { hashText, hashAscii, hashTuple } = await hashesOf(process);
    expect(hashText(texts[0])).not.toBe(hashText(texts[1]));
    const [a, b] = texts.map((text) => hashAscii(Buffer.from(text), 0, text.length));
    expect(a).not.toBe(b);
    expect(hashTuple(units, 0, units.length)).not.toBe(hashTuple(opposite, 0, opposite.length));
  }
});

test("a text has one hash, whether it lies in bytes or not", async () => {
  const { hashText, hashAscii } = await hashesOf(0);
  const bytes = Buffer.from("<bus-4836>");
  expect(hashAscii(bytes, 1, bytes.length - 1)).toBe(hashText("bus-4836"));
});

test("each number of 32 bits has a hash of its own, so a hash says which it is", async () => {
  for (let process = 0; process < 16; process++) {
    const { hashNumber } = await hashesOf(process);
    const numbers = new Set(
      [...new Array(10_000).keys()].flatMap((at) => [at, at * 2 ** 16, 2 ** 32 - 1 - at]),
    );
    expect(new Set([...numbers].map(hashNumber)).size).toBe(numbers.size);
  }
});
