import type { PointDetails } from "../../../clients/point.ts";
import { readSpeedOrNaN, type SpeedUnit } from "../../../clients/reading/speed.ts";
import {
  isJsonObject,
  type JsonObject,
  objectOrEmpty,
  readMagnitudeOrNaN,
  readNumberOrNaN,
  readText,
} from "../../../clients/reading/values.ts";
import { parseJson } from "../../../lib/text/long-json.ts";
import type { FilePoint } from "../file-point.ts";
import type { Format, ReadOptions } from "../format.ts";
import { firstThings, haveAny, readObjects } from "../json/read-json.ts";
import { createFileTimes, type FileTimes } from "../time/file-times.ts";
import { latitudeOfE7, longitudeOfE7 } from "./coordinates.ts";

/** Google Takeout's positions: `{"locations":[{"latitudeE7":…,"longitudeE7":…,"timestamp":…}…]}`. */
export const googleRecords: Format = {
  name: "google-records",
  title: "Google records",
  extensions: [".json"],
  placeUnit: "byte",
  recognise(beginning) {
    const isRecords = haveAny(firstThings(beginning, "locations"), [
      "latitudeE7",
      "timestampMs",
      "deviceTag",
    ]);
    return isRecords ? 'its "locations" have "latitudeE7", "timestampMs" or "deviceTag"' : null;
  },
  read(content, sink, options) {
    const times = createFileTimes(options.zone, sink);
    // Nested guesses of activities and Wi-Fi networks are most of a file, and not needed.
    return readObjects(content, sink, { lists: ["locations"], depth: 1 }, (location) =>
      sink.add(pointOf(location, times, options)),
    );
  },
};

function pointOf(location: JsonObject, times: FileTimes, { speedUnit, beside }: ReadOptions): FilePoint {
  return {
    timestampMs: times.readMs(location.timestamp ?? location.timestampMs),
    latitude: latitudeOfE7(location.latitudeE7),
    longitude: longitudeOfE7(location.longitudeE7),
    device: deviceOfTag(readText(location.deviceTag), beside.googleDevices),
    user: null,
    details: readDetails(location, speedUnit ?? "mps"),
  };
}

/** Written out member by member for speed: files have tens of millions of positions. */
function readDetails(location: JsonObject, speedUnit: SpeedUnit): PointDetails {
  const details: PointDetails = {};
  const accuracy = readMagnitudeOrNaN(location.accuracy);
  if (accuracy !== null) details.horizontal_accuracy = accuracy;
  const verticalAccuracy = readMagnitudeOrNaN(location.verticalAccuracy);
  if (verticalAccuracy !== null) details.vertical_accuracy = verticalAccuracy;
  const altitude = readNumberOrNaN(location.altitude);
  if (altitude !== null) details.altitude = altitude;
  const speed = readSpeedOrNaN(location.velocity, speedUnit);
  if (speed !== null) details.speed = speed;
  const bearing = readMagnitudeOrNaN(location.heading);
  if (bearing !== null) details.bearing = bearing;
  return details;
}

/** The phones of an account interleave, so each tag is a device of its own. */
export function deviceOfTag(tag: string | null, names: ReadonlyMap<string, string>): string {
  return tag === null ? "google" : (names.get(tag) ?? `google-${tag}`);
}

/** Reads device names by tag from Google's `Settings.json`. Phones with the same name get their tag appended. */
export function readGoogleDevices(text: string): Map<string, string> {
  const { deviceSettings } = objectOrEmpty(parseJson(text));
  const named = (Array.isArray(deviceSettings) ? deviceSettings : [])
    .filter(isJsonObject)
    .flatMap((device) => {
      const tag = readText(device.deviceTag);
      const name = readText(device.devicePrettyName)?.trim() ?? "";
      return tag === null || name === "" ? [] : [{ tag, name }];
    });
  const counts = new Map<string, number>();
  for (const { name } of named) counts.set(name, (counts.get(name) ?? 0) + 1);
  return new Map(named.map(({ tag, name }) => [tag, counts.get(name) === 1 ? name : `${name} ${tag}`]));
}
