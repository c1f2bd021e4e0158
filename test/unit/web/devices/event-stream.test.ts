import { expect, test } from "bun:test";
import { SseParser } from "../../../../src/web/devices/event-stream.ts";
import * as fc from "../../../support/fast-check.ts";

/** Cut into pieces at these places. */
function cut(text: string, places: readonly number[]): string[] {
  const at = [...new Set(places.map((place) => place % (text.length + 1)))].sort((a, b) => a - b);
  return [0, ...at].map((start, index) => text.slice(start, at[index]));
}

const STREAM = [
  'retry: 2000\nid: 7\ndata: {"locations":[]}\n\n',
  ": nothing new\nid: 8\n\n",
  'event: reset\nid: 9\ndata: {"message":"read on"}\n\n',
  "data:no space\ndata: second line\n\n",
  "\n: a comment alone\n\n",
  "id:10\r\ndata: windows\r\n\r\n",
  'id: 11\ndata: {"locations":[{"device_id":"Zoë 🚌"}]}\n\n',
].join("");

const EVENTS = [
  { type: "message", data: '{"locations":[]}', id: "7" },
  { type: "message", data: null, id: "8" },
  { type: "reset", data: '{"message":"read on"}', id: "9" },
  { type: "message", data: "no space\nsecond line", id: null },
  { type: "message", data: "windows", id: "10" },
  { type: "message", data: '{"locations":[{"device_id":"Zoë 🚌"}]}', id: "11" },
];

test("push() finds the same events however the text is cut, and an event that is cut off is none", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(500)), fc.nat(40), (places, rest) => {
      const parser = new SseParser();
      const half = `id: 12\ndata: {"locations":[]}\n`.slice(0, rest);
      expect(cut(STREAM + half, places).flatMap((piece) => parser.push(piece))).toEqual(EVENTS);
    }),
  );
});
