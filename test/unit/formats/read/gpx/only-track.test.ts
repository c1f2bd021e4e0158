import { expect, test } from "bun:test";
import { OnlyTrack } from "../../../../../src/formats/read/gpx/only-track.ts";
import * as fc from "../../../../support/fast-check.ts";

function look(text: string, pieceBytes = text.length) {
  const track = new OnlyTrack();
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length; at += pieceBytes) track.push(bytes.subarray(at, at + pieceBytes));
  return track;
}

test("OnlyTrack counts tracks, and nothing whose name begins or ends alike", () => {
  expect(look("<gpx><trk ><trkseg><trkpt/></trkseg></trk></gpx>").isOnly).toBe(true);
  expect(look("<gpx><trkseg/><strk/><trk-x/></trk></gpx>").isOnly).toBe(false);
  expect(look("<gpx><a:trk/>").isOnly).toBe(true);
  expect(look("<gpx><trk/><trk>")).toMatchObject({ isOnly: false, isDone: true });
});

test("OnlyTrack counts the same in any chunking", () => {
  const part = fc.constantFrom(
    "<trk>",
    "<trk/>",
    "<b:trk\n",
    "<trkpt>",
    "</trk>",
    "trk ",
    "<",
    ":",
    " x",
    "<trkseg>",
  );
  fc.assert(
    fc.property(fc.array(part), fc.integer({ min: 1, max: 50 }), (parts, pieceBytes) => {
      const text = parts.join("");
      const count = [...text.matchAll(/<(?:[^\s<>/:"']{1,32}:)?trk[\s/>]/g)].length;
      const track = look(text, pieceBytes);
      expect([track.isOnly, track.isDone]).toEqual([count === 1, count > 1]);
    }),
  );
});
