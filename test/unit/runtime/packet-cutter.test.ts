import { expect, test } from "bun:test";
import { PACKET_BYTES_MAX, PacketCutter } from "../../../src/runtime/packet-cutter.ts";
import * as fc from "../../support/fast-check.ts";

const CUT_BYTES = 128 * 1024;

/** One packet: its first byte, the length in the shortest form, and bytes that count up. */
function packet(type: number, length: number): Uint8Array {
  const head = [type];
  for (let rest = length; ; rest >>>= 7) {
    head.push(rest < 128 ? rest : (rest & 127) | 128);
    if (rest < 128) break;
  }
  const bytes = new Uint8Array(head.length + length);
  bytes.set(head);
  for (let index = 0; index < length; index++) bytes[head.length + index] = index & 255;
  return bytes;
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(pieces));
}

/** The stream in pieces of these lengths, again and again. */
function cutInPieces(stream: Uint8Array, lengths: readonly number[]): Uint8Array {
  const cutter = new PacketCutter();
  const left: Uint8Array[] = [];
  for (let at = 0, turn = 0; at < stream.length; turn++) {
    const length = lengths[turn % lengths.length]!;
    left.push(...cutter.cut(stream.subarray(at, at + length)));
    at += length;
  }
  return joined(left);
}

test("PacketCutter passes packets on as they are, however their bytes come", () => {
  const packets = fc.record({
    type: fc.constantFrom(0x20, 0x30, 0x32, 0x40, 0xd0),
    length: fc.oneof(fc.nat(300), fc.constantFrom(127, 128, 16_383, 16_384, 20_000)),
  });
  const pieces = fc.array(fc.integer({ min: 1, max: 500 }), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(fc.array(packets, { maxLength: 8 }), pieces, (sent, lengths) => {
      const stream = joined(sent.map(({ type, length }) => packet(type, length)));
      expect(Buffer.compare(cutInPieces(stream, lengths), stream)).toBe(0);
    }),
  );
});

test("PacketCutter cuts the end off a message that is too long, and of nothing else", () => {
  const long = packet(0x32, PACKET_BYTES_MAX + 1);
  const stream = joined([packet(0x30, 5), long, packet(0x32, 3), packet(0x32, PACKET_BYTES_MAX)]);
  const cut = packet(0x32, CUT_BYTES);
  const expected = joined([packet(0x30, 5), cut, packet(0x32, 3), packet(0x32, PACKET_BYTES_MAX)]);
  for (const pieces of [[stream.length], [65_536], [1, 2, 3, 1_000_000], [7, 1, 5]]) {
    const some = pieces[0] === 7 ? stream.subarray(0, 200_000) : stream; // Tiny pieces of all take long.
    const left = cutInPieces(some, pieces);
    expect(Buffer.compare(left, expected.subarray(0, left.length))).toBe(0);
    if (some === stream) expect(left.length).toBe(expected.length);
  }
});

test("PacketCutter makes no copies of what it passes on", () => {
  const stream = joined(Array.from({ length: 100 }, () => packet(0x32, 200)));
  const left = new PacketCutter().cut(stream);
  expect(left).toHaveLength(1);
  expect(left[0]!.buffer).toBe(stream.buffer);
});
