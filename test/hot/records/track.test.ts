import { expect, test } from "bun:test";
import fc from "fast-check";
import { profileAt, setTuples, stateAt, timestampAt, writeRow } from "../../../src/hot/records/chunk.ts";
import { Track } from "../../../src/hot/records/track.ts";
import { NUMBER_FIELDS } from "../../../src/model/location-fields.ts";

/** Number columns of a batch with one row that carries nothing. */
const NOWHERE = NUMBER_FIELDS.map(() => new Float64Array(1));

function filled(timestamps: readonly number[]): Track {
  const track = new Track();
  for (const timestampMs of timestamps) {
    const { chunk, row } = track.insert(timestampMs, 0);
    writeRow(chunk, row, timestampMs, NOWHERE, 0);
    setTuples(chunk, row, timestampMs, timestampMs + 1);
  }
  return track;
}

function timestampsOf(track: Track): number[] {
  const seen: number[] = [];
  track.runs(0, track.count, (chunk, from, to) => {
    for (let row = from; row < to; row++) {
      expect(profileAt(chunk, row)).toBe(timestampAt(chunk, row));
      expect(stateAt(chunk, row)).toBe(timestampAt(chunk, row) + 1);
      seen.push(timestampAt(chunk, row));
    }
  });
  return seen;
}

const unorderedTimes = fc.uniqueArray(fc.nat(5000), { minLength: 1, maxLength: 1500, size: "max" });

test("Track keeps time order however records arrive, over many chunks", () => {
  fc.assert(
    fc.property(unorderedTimes, (timestamps) => {
      const track = filled(timestamps);
      const sorted = timestamps.toSorted((a, b) => a - b);
      expect(timestampsOf(track)).toEqual(sorted);
      expect(track.count).toBe(sorted.length);
      expect(track.newestMs).toBe(sorted.at(-1)!);
      for (const timestampMs of [-1, 0, 17, 2500, 4999, 5001, ...sorted.slice(0, 5)]) {
        expect(track.countBefore(timestampMs)).toBe(sorted.filter((each) => each < timestampMs).length);
        const found = track.find(timestampMs);
        expect(found === null ? null : timestampAt(found.chunk, found.row)).toBe(
          sorted.includes(timestampMs) ? timestampMs : null,
        );
      }
      const middle = sorted.length >> 1;
      const at = track.at(middle);
      expect(timestampAt(at.chunk, at.row)).toBe(sorted[middle]!);
    }),
    { numRuns: 40 },
  );
});

test("Track.widen() keeps the record and its neighbours while a field gets its column", () => {
  const track = filled(Array.from({ length: 300 }, (_, i) => i * 10));
  const widened = track.widen(track.find(1500)!, 0b100);
  expect(timestampAt(widened.chunk, widened.row)).toBe(1500);
  expect(widened.chunk.mask).toBe(0b100);
  expect(timestampsOf(track)).toHaveLength(300);
  expect(track.find(1500)!.chunk).toBe(widened.chunk);
});

test("Track.runs() visits nothing of an empty range", () => {
  const track = new Track();
  track.runs(0, 0, () => {
    throw new Error("nothing to visit");
  });
  expect(track.countBefore(0)).toBe(0);
});

test("Track.remove() leaves what lies outside the range or is kept, and takes records in as before", () => {
  const edges = fc.tuple(fc.nat(5000), fc.nat(5000)).map((pair) => pair.toSorted((a, b) => a - b));
  fc.assert(
    fc.property(unorderedTimes, edges, fc.integer({ min: 1, max: 50 }), (timestamps, edge, keepEvery) => {
      const track = filled(timestamps);
      const [startMs, endMs] = edge as [number, number];
      const isKept = (timestampMs: number) => timestampMs % keepEvery === 0 && keepEvery > 1;
      const isLeft = (each: number) => each < startMs || each >= endMs || isKept(each);
      track.remove({ startMs, endMs }, isKept);
      const left = timestamps.filter(isLeft).toSorted((a, b) => a - b);
      expect(timestampsOf(track)).toEqual(left);
      expect(track.newestMs).toBe(left.at(-1) ?? Number.NEGATIVE_INFINITY);
      expect(track.countBefore(2500)).toBe(left.filter((each) => each < 2500).length);

      for (const timestampMs of timestamps.filter((each) => !isLeft(each))) {
        const { chunk, row } = track.insert(timestampMs, 0);
        writeRow(chunk, row, timestampMs, NOWHERE, 0);
        setTuples(chunk, row, timestampMs, timestampMs + 1);
      }
      expect(timestampsOf(track)).toEqual(timestamps.toSorted((a, b) => a - b));
    }),
    { numRuns: 40 },
  );
});
