/*
 * The line that small trackers send to save bytes: X0,542A46AA,k,30365854,7575769,26,4,7,5,872
 *
 *   tid, time in hex, trigger, latitude × 1e6, longitude × 1e6, course ÷ 10, km/h, altitude ÷ 10, distance, trip
 */

const LINE =
  /^([\p{L}\p{N}]{1,16}),([0-9a-f]{1,10}),[a-z0-9]?,(-?\d{1,9}),(-?\d{1,9}),(\d{1,6}),(\d{1,6}),(-?\d{1,6}),\d*,\d*$/iu;

/** The line as the message that it stands for; null where it is none. */
export function readCsvLine(text: string): Record<string, unknown> | null {
  const fields = LINE.exec(text.trim());
  if (fields === null) return null;
  const [, tid, time, latitude, longitude, course, velocity, altitude] = fields;
  return {
    _type: "location",
    tid,
    tst: Number.parseInt(time!, 16),
    lat: Number(latitude) / 1e6,
    lon: Number(longitude) / 1e6,
    cog: Number(course) * 10,
    vel: Number(velocity),
    alt: Number(altitude) * 10,
  };
}
