import { crc32 } from "node:zlib";
import { seededRandom } from "../../../../support/seeded-random.ts";

/**
 * Decisions read from the fuzzer's bytes, so that any bytes are an input and a small change of them is a small change
 * of what is made from them. Where they are used up, more follow from them as from a seed: short inputs go deep too.
 */
export interface Draw {
  /** A whole number from 0 to `max`, which is included. */
  upTo(max: number): number;
  /** One of the numbers, or a neighbour that is not below 0: bounds are where mistakes are. */
  near(numbers: readonly number[]): number;
  chance(oneIn: number): boolean;
  pick<Item>(items: readonly Item[]): Item;
  bytes(lengthMax: number): Uint8Array<ArrayBuffer>;
  rest(): Uint8Array<ArrayBuffer>;
  text(charactersMax: number): string;
  /** Any double, readings of sensors more often than others. */
  double(): number;
  list<Item>(lengthMax: number, make: () => Item): Item[];
}

/** Texts that parsers and encodings trip over; no lone surrogates, which no door lets in. */
const ODD_TEXTS = [
  ...["", " ", '"', ",", "\r\n", "\\", "\uFEFF", "\uFEFFbus", "\u2028", "e\u0301", "\u00E9", "\u{1F68C}"],
  ...["NaN", "null", "true", "-0", "1e2", "0x10", "__proto__", "constructor", ".", "..", "%2E", "a/b"],
];
const ODD_NUMBERS = [0, -0, 1, -1, 0.1, 4.8, 53.409458, -180, 90, 255, 256, 65535, 65536, 2 ** 31, 2 ** 32];
const EXTREMES = [2 ** 53 - 1, -(2 ** 53), 2 ** 63, 1e21, 1e308, 5e-324, Number.NaN, Infinity, -Infinity];

export function createDraw(input: Uint8Array): Draw {
  let at = 0;

  const more = seededRandom(crc32(input));

  function byte(): number {
    return at < input.length ? input[at++]! : Math.floor(more() * 256);
  }

  function upTo(max: number): number {
    let value = byte();
    for (let reach = 0xff; reach < max; reach = reach * 256 + 255) value = value * 256 + byte();
    return value % (max + 1);
  }

  const pick = <Item>(items: readonly Item[]): Item => items[upTo(items.length - 1)]!;

  function bytes(lengthMax: number): Uint8Array<ArrayBuffer> {
    return Uint8Array.from({ length: upTo(lengthMax) }, byte);
  }

  return {
    upTo,
    near: (numbers) => Math.max(0, pick(numbers) + upTo(2) - 1),
    pick,
    bytes,
    chance: (oneIn) => upTo(oneIn - 1) === oneIn - 1,
    rest() {
      const taken = Uint8Array.from(input.subarray(at));
      at = input.length;
      return taken;
    },
    text(charactersMax) {
      const kind = upTo(3);
      if (kind === 0) return pick(ODD_TEXTS);
      if (kind === 1) return `bus-${upTo(9)}`;
      const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes(charactersMax));
      return kind === 2
        ? text
        : text
            .repeat(1 + upTo(4))
            .slice(0, charactersMax)
            .toWellFormed();
    },
    double() {
      switch (upTo(3)) {
        case 0:
          return pick(ODD_NUMBERS);
        case 1:
          return pick(EXTREMES);
        case 2:
          return (upTo(2 ** 24) - 2 ** 23) / 10 ** upTo(9);
        default: {
          const view = new DataView(new ArrayBuffer(8));
          for (let i = 0; i < 8; i++) view.setUint8(i, byte());
          return view.getFloat64(0);
        }
      }
    },
    list: (lengthMax, make) => Array.from({ length: upTo(lengthMax) }, make),
  };
}
