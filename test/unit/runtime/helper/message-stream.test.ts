import { expect, test } from "bun:test";
import { encodeMessage, MessageReader } from "../../../../src/runtime/helper/message-stream.ts";

const MESSAGES: readonly unknown[] = [
  { kind: "taken" },
  null,
  { id: 1, values: new Float64Array([1.5, -0]), counts: new Map([["ä", 2]]) },
  { bytes: new Uint8Array(100_000).map((_, index) => index) },
  "",
  { text: "\ufeffö\ud83d", nothing: undefined, list: [1n, true, null] },
];

test("messages arrive as they were sent, wherever the stream is cut", () => {
  const stream = Buffer.concat(MESSAGES.flatMap((message) => encodeMessage(message)));
  for (const pieceBytes of [1, 3, 4, 7, 65_536, stream.length]) {
    const messages: unknown[] = [];
    const reader = new MessageReader((message) => messages.push(message));
    for (let at = 0; at < stream.length; at += pieceBytes) reader.take(stream.subarray(at, at + pieceBytes));
    expect(messages).toEqual(MESSAGES as unknown[]);
  }
});

test("a message that is a part of a larger buffer brings that part alone", () => {
  const messages: unknown[] = [];
  const reader = new MessageReader((message) => messages.push(message));
  for (const bytes of encodeMessage(new Uint32Array(1000).fill(7).subarray(10, 12))) reader.take(bytes);
  expect(messages).toEqual([new Uint32Array([7, 7])]);
});
