import { Track } from "../../../../src/web/history/track.ts";

/** At the equator, each position 0.001° (111 m) east of the one before, at these seconds. */
export function trackOf(
  seconds: readonly number[],
  { gaps = [] as readonly number[], toleranceMeters = 0 } = {},
): Track {
  return new Track({
    total: seconds.length,
    tolerance_meters: toleranceMeters,
    gaps,
    timestamp: seconds.map((second) => second * 1000),
    latitude: seconds.map(() => 0),
    longitude: seconds.map((_, index) => index / 1000),
  });
}
