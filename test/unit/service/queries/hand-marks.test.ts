import { expect, test } from "bun:test";
import { haversineMeters } from "../../../../src/model/geo/distance.ts";
import type { Stop } from "../../../../src/service/queries/stops.ts";
import { csvRows, readTestData } from "../../../support/test-data.ts";
import handMarks from "./hand-marks.json";
import { findStops } from "./paths.ts";

/*
 * Real tracks, with stops that were marked by hand from the raw records. Every mark is found, its ends and its place
 * within these; nothing is found that isn't marked. What the eye can't decide may be found or not.
 *
 * Where the two differ most: y0875 reports often while it sets down 84 m from where it then stands silently, so that
 * the center lies towards the former, and a stop seems to begin 46 s later (02:13), or to end 76 s earlier (03:03),
 * than to the eye, which looks at where it stands.
 */

/** A record or two: buses report every half minute or minute where they stand. */
const TOLERANCE_MS = 90_000;
const TOLERANCE_METERS = 50;

interface Span {
  readonly start: string;
  readonly end: string;
}

interface Mark extends Span {
  readonly latitude: number;
  readonly longitude: number;
}

interface Marks {
  readonly stops: readonly Mark[];
  readonly borderline: readonly Span[];
}

function isAt(stop: Stop, { start, end }: Span, day: string): boolean {
  return (
    Math.abs(stop.start - Date.parse(`${day}T${start}Z`)) <= TOLERANCE_MS &&
    Math.abs(stop.end - Date.parse(`${day}T${end}Z`)) <= TOLERANCE_MS
  );
}

for (const { file, day, min_minutes, radius_meters, devices } of handMarks.tracks) {
  const text = readTestData(`tracks/${file}`);
  const rows = text === null ? [] : csvRows(text);
  for (const [device, marks] of Object.entries<Marks>(devices)) {
    const query = { durationMsMin: min_minutes * 60_000, radiusMeters: radius_meters };
    test.skipIf(text === null)(
      `${device} stops as marked, ${min_minutes} min within ${radius_meters} m`,
      () => {
        const positions = rows
          .filter(([id]) => id === device)
          .map(([, timestampMs, latitude, longitude]) => ({
            timestampMs: Number(timestampMs),
            latitude: Number(latitude),
            longitude: Number(longitude),
          }));
        const { stops } = findStops(positions, query);
        const found = (mark: Mark) =>
          stops.some(
            (stop) =>
              isAt(stop, mark, day) &&
              haversineMeters(stop.latitude, stop.longitude, mark.latitude, mark.longitude) <=
                TOLERANCE_METERS,
          );
        expect(marks.stops.filter((mark) => !found(mark))).toEqual([]);
        const marked = [...marks.stops, ...marks.borderline];
        expect(stops.filter((stop) => !marked.some((mark) => isAt(stop, mark, day)))).toEqual([]);
      },
    );
  }
}
