import { CsvReader } from "../../../src/lib/text/csv-reader.ts";
import { MS_PER_DAY } from "../../../src/model/time/units.ts";
import { readTestData } from "../../../test/support/test-data.ts";
import { createMetropolis, drawPoints, type Point } from "../fleets/metropolis.ts";
import { createRandom, type Random } from "../fleets/random.ts";

/** The latest position of each device, by device number; an unknown accuracy is NaN. */
export interface PositionColumns {
  readonly latitude: Float64Array;
  readonly longitude: Float64Array;
  readonly timestampMs: Float64Array;
  readonly accuracyMeters: Float64Array;
}

export interface Positions extends PositionColumns {
  readonly name: string;
  /** Query centers with the density of the devices; all different. */
  centers(count: number): readonly Point[];
}

/** The fixed time of all queries, so that matches don't depend on the clock. */
export const NOW_MS = Date.UTC(2026, 10, 21);

export const AGE_DAYS_MAX = 7;

const CENTERS_SEED = 1000;

/** The maximum distance of a query center from a position, in degrees: about five miles. */
const NEARBY_DEGREES = 0.07;

/** Devices crowded around one centre. */
export function metropolisPositions(devices: number, seed: number): Positions {
  return {
    name: "metropolis",
    ...createMetropolis({ devices, seed, nowMs: NOW_MS }),
    centers: (count) => drawPoints(count, seed + CENTERS_SEED),
  };
}

/** A device in each town of the world; null if the list is missing. */
export function cityPositions(devicesMax: number, seed: number): Positions | null {
  const points = readPoints("points/cities_geonames.csv.gz", "id", devicesMax);
  return points === null ? null : positionsOf("cities of the world", points, seed);
}

/** The last positions of ships around Denmark, within half a minute; null if the track is missing. */
export function vesselPositions(devicesMax: number, seed: number): Positions | null {
  const points = readPoints("tracks/ais_denmark_20100611.csv.gz", "device_id", devicesMax);
  if (points === null) return null;
  const vessels = positionsOf("vessels", points, seed);
  return { ...vessels, timestampMs: vessels.timestampMs.fill(NOW_MS) };
}

/** Devices spread evenly over the sphere, poles and oceans included. */
export function spherePositions(devices: number, seed: number): Positions {
  const random = createRandom(seed);
  const points = Array.from({ length: devices }, () => drawOnSphere(random));
  const centersRandom = createRandom(seed + CENTERS_SEED);
  return {
    ...positionsOf("all over the earth", points, seed),
    centers: (count) => Array.from({ length: count }, () => drawOnSphere(centersRandom)),
  };
}

/** Points with seeded ages and no accuracy, and query centers near some of them. */
function positionsOf(name: string, points: readonly Point[], seed: number): Positions {
  const random = createRandom(seed);
  const ageMsMax = AGE_DAYS_MAX * MS_PER_DAY;
  return {
    name,
    latitude: Float64Array.from(points, ({ latitude }) => latitude),
    longitude: Float64Array.from(points, ({ longitude }) => longitude),
    timestampMs: Float64Array.from(points, () => Math.floor(NOW_MS - random() * ageMsMax)),
    accuracyMeters: new Float64Array(points.length).fill(Number.NaN),
    centers(count) {
      const centerRandom = createRandom(seed + CENTERS_SEED);
      return Array.from({ length: count }, () =>
        stepFrom(points[Math.floor(centerRandom() * points.length)]!, NEARBY_DEGREES, centerRandom),
      );
    },
  };
}

/** A point up to `degreesMax` away in each direction, on the earth. */
export function stepFrom({ latitude, longitude }: Point, degreesMax: number, random: Random): Point {
  const north = latitude + (random() * 2 - 1) * degreesMax;
  const east = longitude + (random() * 2 - 1) * degreesMax;
  return {
    latitude: Math.max(-90, Math.min(90, north)),
    longitude: east > 180 ? east - 360 : east < -180 ? east + 360 : east,
  };
}

function drawOnSphere(random: Random): Point {
  const latitude = (Math.asin(2 * random() - 1) * 180) / Math.PI;
  return { latitude, longitude: random() * 360 - 180 };
}

/** The last point of up to `idsMax` ids in a reference file; null if it is missing. */
function readPoints(path: string, idColumn: string, idsMax: number): Point[] | null {
  const text = readTestData(path);
  if (text === null) return null;
  const csv = new CsvReader();
  csv.push(new TextEncoder().encode(text));
  csv.end();
  csv.next();
  const header = Array.from({ length: csv.fieldCount }, (_, field) => csv.text(field));
  const [id, latitude, longitude] = [idColumn, "latitude", "longitude"].map((name) => header.indexOf(name));
  const points = new Map<string, Point>();
  while (csv.next()) {
    const name = csv.text(id!)!;
    if (points.size === idsMax && !points.has(name)) continue;
    points.set(name, { latitude: Number(csv.text(latitude!)), longitude: Number(csv.text(longitude!)) });
  }
  return [...points.values()];
}
