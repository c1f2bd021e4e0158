import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ReferenceReport } from "../../reference/records.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import { csvRows, readTestData, testDataPath } from "../../support/test-data.ts";

/** Real positions as CSV files, for the program to import and for the tests to know by heart. */
export interface Track {
  readonly path: string;
  /** In the order of the file. */
  readonly reports: readonly ReferenceReport[];
}

const BOSTON = "tracks/gtfsrt_mbta_20221122.csv.gz";
const VESSELS = "tracks/ais_denmark_20100611.csv.gz";

const COLUMNS = "device_id,timestamp_ms,latitude,longitude,speed_mps,bearing";
const SEEDED_ROWS = 100_000; // A replay of so many takes long enough to be seen on its way.
const SEEDED_DEVICES = 300;

/** Looked up once, so that a missing file is said once. */
const bostonPath = testDataPath(BOSTON);
const vesselsPath = testDataPath(VESSELS);

let boston: Track | null = null;

/** The Boston day, or where it is absent a seeded fleet, written to a file in the directory. */
export function bostonTrack(directory: string): Track {
  if (bostonPath === null) return seededTrack(directory);
  boston ??= { path: bostonPath, reports: parseTrack(readTestData(BOSTON)!) };
  return boston;
}

/** The track's first rows, in a file of their own in the directory. */
export function firstRowsOf(track: Track, rows: number, directory: string): Track {
  const reports = track.reports.slice(0, rows);
  const lines = reports.map(({ device_id, timestamp, latitude, longitude, speed, bearing }) =>
    [device_id, timestamp, latitude, longitude, speed, bearing].join(","),
  );
  const path = join(directory, "first-rows.csv");
  writeFileSync(path, `${[COLUMNS, ...lines].join("\n")}\n`);
  return { path, reports };
}

/** Vessels from the Caribbean to the Arabian Sea; none where the file is absent. */
export function vesselReports(): readonly ReferenceReport[] {
  return vesselsPath === null ? [] : parseTrack(readTestData(VESSELS)!);
}

function parseTrack(csv: string): readonly ReferenceReport[] {
  return csvRows(csv).map(([deviceId, timestamp, latitude, longitude, speed, bearing]) => ({
    device_id: deviceId!,
    timestamp: Number(timestamp),
    latitude: Number(latitude),
    longitude: Number(longitude),
    ...(speed === "" ? {} : { speed: Number(speed) }),
    ...(bearing === "" ? {} : { bearing: Number(bearing) }),
  }));
}

function seededTrack(directory: string): Track {
  const random = seededRandom(1);
  const lines = [COLUMNS];
  const startMs = Date.UTC(2022, 10, 22, 1);
  for (let row = 0; row < SEEDED_ROWS; row++) {
    const timestampMs = startMs + Math.floor(row / SEEDED_DEVICES) * 6000;
    const [latitude, longitude] = [42.36, -71.06].map((middle) => (middle + (random() - 0.5) / 2).toFixed(5));
    const bearing = random() < 0.1 ? "" : Math.floor(random() * 360);
    lines.push(`bus-${row % SEEDED_DEVICES},${timestampMs},${latitude},${longitude},,${bearing}`);
  }
  const path = join(directory, "seeded.csv");
  const csv = `${lines.join("\n")}\n`;
  writeFileSync(path, csv);
  return { path, reports: parseTrack(csv) };
}
