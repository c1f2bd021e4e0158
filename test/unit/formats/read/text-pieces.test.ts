import { describe, expect, test } from "bun:test";
import { FormatError } from "../../../../src/formats/read/format.ts";
import { textPieces } from "../../../../src/formats/read/text-pieces.ts";
import * as fc from "../../../support/fast-check.ts";

const ENCODINGS = [
  "utf-8",
  "utf-16le",
  "utf-16be",
  "utf-16le without mark",
  "utf-16be without mark",
] as const;
type Encoding = (typeof ENCODINGS)[number];

function encode(text: string, encoding: Encoding): Buffer {
  if (encoding === "utf-8") return Buffer.from(text);
  const bytes = Buffer.from(encoding.includes("without") ? text : `\ufeff${text}`, "utf16le");
  return encoding.startsWith("utf-16be") ? bytes.swap16() : bytes;
}

async function decoded(bytes: Uint8Array, pieceBytes = 1 << 20, failure: Error | null = null) {
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.slice(at, at + pieceBytes);
    if (failure !== null) throw failure;
  }
  const read: Uint8Array[] = [];
  let error: unknown = null;
  try {
    for await (const piece of textPieces(pieces())) read.push(piece);
  } catch (cause) {
    error = cause;
  }
  return { text: Buffer.concat(read).toString(), error };
}

const line = fc
  .tuple(fc.stringMatching(/^[ -~]{4,40}$/), fc.constantFrom("", "ä", "€", "\u{1F68C}"))
  .map(([text, odd]) => text + odd);
const lines = fc.array(line, { minLength: 1, maxLength: 30 });
const pieceSizes = fc.constantFrom(1, 2, 3, 7, 64, 100_000);

describe("textPieces()", () => {
  test("gives the same text whatever its encoding, its line ends and its pieces", async () => {
    const ends = fc.constantFrom("\n", "\r\n", "\r");
    await fc.assert(
      fc.asyncProperty(
        lines,
        ends,
        fc.constantFrom(...ENCODINGS),
        pieceSizes,
        async (all, end, encoding, size) => {
          const text = all.map((line) => line + end).join("");
          const { text: found, error } = await decoded(encode(text, encoding), size);
          expect(error).toBeNull();
          expect(found).toBe(text.replaceAll(/\r(?!\n)/g, "\n"));
        },
      ),
    );
  });

  test("leaves bytes that are no text as they are", async () => {
    for (const bytes of [
      Buffer.from([14, 16, 13, 0, 0x2e, 0x46, 0x49, 0x54, 13, 65, 13]),
      Buffer.from([0xb5, 0x62, 1, 7, 0, 13, 65, 0, 0, 9, 13]),
      Buffer.from("a\rb\0"),
    ]) {
      const found: Uint8Array[] = [];
      for await (const piece of textPieces(only(bytes))) found.push(piece);
      expect(Buffer.concat(found)).toEqual(bytes);
    }
  });

  test("leaves what has no lone CR as it is, however its pieces fall", async () => {
    for (const text of ["a\r\nb\r\n", "a\r\r\nb\r\r\n", "", "\r\n"])
      for (const size of [1, 2, 3, 100]) expect((await decoded(Buffer.from(text), size)).text).toBe(text);
  });

  test("gives what came before a damage, and then the damage", async () => {
    for (const encoding of ENCODINGS) {
      const damage = new FormatError("damaged");
      expect(await decoded(encode("lat,lon\r52,13", encoding), 5, damage)).toEqual({
        text: "lat,lon\n52,13",
        error: damage,
      });
    }
  });

  test("says of UTF-32 what it is", async () => {
    const units = [0xfeff, 0x61, 0x62];
    for (const isLittle of [true, false]) {
      const view = new DataView(new ArrayBuffer(12));
      for (const [at, unit] of units.entries()) view.setUint32(at * 4, unit, isLittle);
      const { error } = await decoded(new Uint8Array(view.buffer));
      expect(error).toEqual(new FormatError("it is in UTF-32, which is not read here: save it as UTF-8"));
    }
  });
});

async function* only(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
