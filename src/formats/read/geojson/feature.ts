import {
  isJsonObject,
  type JsonObject,
  objectOrEmpty,
  readNumberOrNaN,
} from "../../../clients/reading/values.ts";
import type { PointSink } from "../file-point.ts";
import type { FileTimes } from "../time/file-times.ts";
import { ALIASES, type Dialect, firstValueOf, readDetails, readNameOf } from "./properties.ts";

/** Values shared by the Features of a file. */
export interface FeatureContext {
  readonly sink: PointSink;
  readonly times: FileTimes;
  readonly dialect: Dialect;
  /** The device of Features that don't name one. */
  device: string | null;
}

/** Points per step: a Feature may be a line of a year. */
const POINTS_PER_STEP = 1000;

/** Adds the positions of a Feature: one for a Point, and one per coordinate of lines and MultiPoints. */
export function* readFeature(feature: JsonObject, context: FeatureContext): Generator<void> {
  const { sink, dialect } = context;
  const { geometry } = feature;
  const properties = objectOrEmpty(feature.properties);
  if (dialect.isOverland && isEvent(properties)) return sink.skip("no_location");
  if (!isJsonObject(geometry)) return sink.skip("no_position");
  const { coordinates } = geometry;
  switch (geometry.type) {
    case "Point":
      return addPoint(coordinates, properties, context);
    case "MultiPoint":
    case "LineString":
      return yield* readLine(listOf(coordinates), columnsOf(properties), properties, context);
    case "MultiLineString":
      return yield* readLines(listOf(coordinates), properties, context);
    default:
      return sink.skip("no_location");
  }
}

/** Overland writes events among its positions. */
function isEvent({ action, type }: JsonObject): boolean {
  return action !== undefined || type === "trip";
}

/** The properties are searched once for all lines, since both may be many. */
function* readLines(
  lines: readonly unknown[],
  properties: JsonObject,
  context: FeatureContext,
): Generator<void> {
  const columns = columnsOf(properties);
  let sinceStep = 0;
  for (const [index, line] of lines.entries()) {
    const points = listOf(line);
    if (points.length > 0) yield* readLine(points, columnsOfLine(columns, index), properties, context);
    sinceStep += points.length + 1; // A line without points takes time, too.
    if (sinceStep < POINTS_PER_STEP) continue;
    sinceStep = 0;
    yield;
  }
}

/** A single time or speed of a line belongs to none of its points; lists beside the coordinates do. */
function* readLine(
  line: readonly unknown[],
  columns: Columns,
  properties: JsonObject,
  context: FeatureContext,
): Generator<void> {
  const device = readNameOf(properties, ALIASES.device);
  const user = readNameOf(properties, ALIASES.user);
  for (const [index, coordinates] of line.entries()) {
    const pointProperties: Record<string, unknown> = { device_id: device, user_id: user };
    for (const [name, values] of columns) pointProperties[name] = values[index];
    addPoint(coordinates, pointProperties, context);
    if (index % POINTS_PER_STEP === POINTS_PER_STEP - 1) yield;
  }
}

function addPoint(coordinates: unknown, properties: JsonObject, context: FeatureContext): void {
  const [longitude, latitude, third, fourth] = listOf(coordinates);
  context.sink.add({
    timestampMs: context.times.readMs(firstValueOf(properties, ALIASES.time) ?? fourth),
    latitude: readNumberOrNaN(latitude),
    longitude: readNumberOrNaN(longitude),
    device: readNameOf(properties, ALIASES.device) ?? context.device,
    user: readNameOf(properties, ALIASES.user),
    details: readDetails(properties, third, context.dialect),
  });
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Lists of values, with the property name that a single Point would use. The last list of a name counts. */
type Columns = readonly (readonly [name: string, values: readonly unknown[]])[];

/** Names of lists: the singular, its plurals, and togeojson's `coordTimes`. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ...Object.entries(ALIASES).flatMap(([kind, names]) => {
    const isShared = kind === "device" || kind === "user";
    return isShared ? [] : names.flatMap((name) => spellingsOf(name).map((each) => [each, name] as const));
  }),
  ["coordTimes", "time"],
]);

function spellingsOf(name: string): readonly string[] {
  return [name, `${name}s`, name.replace(/y$/, "ies")];
}

/** The lists parallel to a Feature's coordinates. */
function columnsOf(properties: JsonObject): Columns {
  return [properties, objectOrEmpty(properties.coordinateProperties)].flatMap((source) =>
    Object.entries(source).flatMap(([spelling, values]) => {
      const name = NAMES.get(spelling);
      return name !== undefined && Array.isArray(values) ? [[name, values] as const] : [];
    }),
  );
}

/** The lists of one line of a MultiLineString. */
function columnsOfLine(columns: Columns, index: number): Columns {
  return columns.flatMap(([name, lines]) => {
    const values = lines[index];
    return Array.isArray(values) ? [[name, values] as const] : [];
  });
}
