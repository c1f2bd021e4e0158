import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

/* The real track of Boston's buses and trains, if the data are installed. */

const DATA = process.env.WHEREHOUSE_TEST_DATA ?? join(import.meta.dir, "../../../../shared/data");
const FILE = join(DATA, "tracks/gtfsrt_mbta_20221122.csv.gz");
const MS_PER_DAY = 86_400_000;

export interface BostonReport {
  readonly device_id: string;
  readonly timestamp: number;
  readonly latitude: number;
  readonly longitude: number;
  readonly speed: number | null;
  readonly bearing: number | null;
}

/**
 * Reads the Boston track, shifted by whole days to end within the last day; null, after a line that says so, if it is
 * missing. `rowsMax` limits the rows.
 */
export function readBoston(rowsMax = Number.POSITIVE_INFINITY): readonly BostonReport[] | null {
  if (!existsSync(FILE)) {
    console.log(`  left out: the Boston track is not at ${FILE}`);
    return null;
  }
  const lines = gunzipSync(readFileSync(FILE))
    .toString("utf8")
    .trimEnd()
    .split("\n")
    .slice(1, rowsMax + 1);
  const reports = lines.map((line) => {
    const [device_id, timestamp, latitude, longitude, speed, bearing] = line.split(",");
    return {
      device_id: device_id!,
      timestamp: Number(timestamp),
      latitude: Number(latitude),
      longitude: Number(longitude),
      speed: speed === "" ? null : Number(speed),
      bearing: bearing === "" ? null : Number(bearing),
    };
  });
  const newestMs = reports.at(-1)!.timestamp;
  const shiftMs = Math.floor((Date.now() - newestMs) / MS_PER_DAY) * MS_PER_DAY;
  return reports.map((report) => ({ ...report, timestamp: report.timestamp + shiftMs }));
}
