import { expect, test } from "bun:test";
import {
  createSaltedFrames,
  FRAME_HEADER_BYTES,
  FRAME_SALT_BYTES,
} from "../../../../src/lib/frames/frame.ts";
import { FrameScanner } from "../../../../src/lib/frames/frame-scanner.ts";
import { viewsOf } from "../../../../src/lib/frames/views.ts";

const FRAMES = createSaltedFrames(new Uint8Array(FRAME_SALT_BYTES).fill(0xa5));
const SEQUENCE_END = 2 ** 53;

function frame(sequence: number, payload: string, frames = FRAMES): Uint8Array {
  const bytes = new Uint8Array(FRAME_HEADER_BYTES + Math.ceil(payload.length / 8) * 8);
  bytes.set(new TextEncoder().encode(payload), FRAME_HEADER_BYTES);
  frames.stamp(bytes, sequence);
  return bytes;
}

function scannerOf(views: ReturnType<typeof viewsOf>, sequenceEnd = SEQUENCE_END) {
  return new FrameScanner(views, FRAMES, { start: 0, damagedFrom: 0, sequenceBefore: 0, sequenceEnd });
}

function scan(...parts: readonly Uint8Array[]) {
  return scanBelow(SEQUENCE_END, ...parts);
}

function scanBelow(sequenceEnd: number, ...parts: readonly Uint8Array[]) {
  const views = viewsOf(new Uint8Array(Buffer.concat(parts)));
  const scanner = scannerOf(views, sequenceEnd);
  const frames: string[] = [];
  while (scanner.next()) {
    const payload = views.bytes.toString("latin1", scanner.payloadStart, scanner.payloadEnd);
    frames.push(`${scanner.sequence} ${payload.replaceAll("\0", "")}`);
  }
  return { frames, damage: scanner.damage };
}

const [one, two, three] = [frame(1, "one"), frame(2, "the second"), frame(3, "")];
const noise = new Uint8Array(13).fill(0xf7);

test("FrameScanner finds the frames that were sealed", () => {
  const large = 2 ** 53 - 1;
  expect(scan(one, two, three)).toEqual({ frames: ["1 one", "2 the second", "3 "], damage: [] });
  expect(scan(frame(2 ** 40 + 5, "x"), frame(large - 1, "y")).frames).toEqual([
    `${2 ** 40 + 5} x`,
    `${large - 1} y`,
  ]);
  expect(scan()).toEqual({ frames: [], damage: [] });
});

test("FrameScanner loses one frame to each flipped byte and finds the next", () => {
  for (let position = 0; position < two.length; position++) {
    for (const bit of [1, 0x80]) {
      const flipped = two.slice();
      flipped[position]! ^= bit;
      const damage = [{ offset: one.length, bytes: two.length }];
      expect(scan(one, flipped, three)).toEqual({ frames: ["1 one", "3 "], damage });
    }
  }
});

test("FrameScanner reports every range that is no frame, also at both ends", () => {
  const { frames, damage } = scan(new Uint8Array(16), one, new Uint8Array(8), two, noise);
  expect(frames).toEqual(["1 one", "2 the second"]);
  expect(damage).toEqual([
    { offset: 0, bytes: 16 },
    { offset: 16 + one.length, bytes: 8 },
    { offset: 24 + one.length + two.length, bytes: noise.length },
  ]);
});

test("FrameScanner takes bytes too few for a header as damage", () => {
  expect(scan(one, noise.subarray(0, 3)).damage).toEqual([{ offset: one.length, bytes: 3 }]);
  expect(scan(noise.subarray(0, 3)).damage).toEqual([{ offset: 0, bytes: 3 }]);
});

test("FrameScanner takes a sequence that does not rise, or jumps too far, as damage", () => {
  const { frames, damage } = scan(one, two, one, two, three);
  expect(frames).toEqual(["1 one", "2 the second", "3 "]);
  expect(damage).toEqual([{ offset: one.length + two.length, bytes: one.length + two.length }]);
  expect(scanBelow(3, one, two, three)).toEqual({
    frames: ["1 one", "2 the second"],
    damage: [{ offset: one.length + two.length, bytes: three.length }],
  });
});

test("FrameScanner takes frames of another salt as damage", () => {
  const other = createSaltedFrames(new Uint8Array(FRAME_SALT_BYTES).fill(0xa4));
  const stranger = frame(2, "stranger", other);
  expect(scan(one, stranger, three)).toEqual({
    frames: ["1 one", "3 "],
    damage: [{ offset: one.length, bytes: stranger.length }],
  });
  // The salt alone does not do: the checksum is over it too.
  const disguised = stranger.slice();
  disguised.set(one.subarray(0, FRAME_SALT_BYTES));
  expect(scan(one, disguised, three).frames).toEqual(["1 one", "3 "]);
});

test("FrameScanner takes all of a segment that lost its salt as damage, from where it begins", () => {
  const views = viewsOf(new Uint8Array(Buffer.concat([one, two])));
  for (const start of [0, 8]) {
    const range = { start, damagedFrom: 0, sequenceBefore: 0, sequenceEnd: SEQUENCE_END };
    const scanner = new FrameScanner(views, null, range);
    expect(scanner.next()).toBe(false);
    expect(scanner.damage).toEqual([{ offset: 0, bytes: views.bytes.length }]);
  }
});

test("FrameScanner tells a rejected frame from the damage on either side", () => {
  const scanner = scannerOf(
    viewsOf(new Uint8Array(Buffer.concat([new Uint8Array(8), one, new Uint8Array(8), two]))),
  );
  expect(scanner.next()).toBe(true);
  scanner.reject();
  expect(scanner.next()).toBe(true);
  expect(scanner.next()).toBe(false);
  expect(scanner.damage).toEqual([
    { offset: 0, bytes: 8 },
    { offset: 8, bytes: one.length, isWritten: true },
    { offset: 8 + one.length, bytes: 8 },
  ]);
});
