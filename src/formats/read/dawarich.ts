import { knownDetails } from "../../clients/point.ts";
import { readSpeedOrNaN } from "../../clients/reading/speed.ts";
import { readBatteryStatus, unreadableOf } from "../../clients/reading/states.ts";
import {
  type JsonObject,
  readMagnitudeOrNaN,
  readNumberOrNaN,
  readText,
} from "../../clients/reading/values.ts";
import type { FilePoint, PointSink } from "./file-point.ts";
import type { Format, ReadOptions } from "./format.ts";
import { firstThings, haveAny, readObjects, readRecords } from "./json/read-json.ts";
import { createFileTimes } from "./time/file-times.ts";

/** Members that only Dawarich writes. */
const OWN_MEMBERS = ["lonlat", "tracker_id"];

/** A month of a Dawarich archive, with a point per line. */
export const dawarichLines: Format = {
  name: "dawarich",
  title: "Dawarich points",
  extensions: [".jsonl"],
  placeUnit: "line",
  recognise(beginning) {
    // Parses the lines as if they were a list.
    const lines = firstThings({ ...beginning, text: `[${beginning.text}` }, null);
    return beginning.text[0] === "{" && haveAny(lines, OWN_MEMBERS)
      ? 'its lines have "lonlat" or "tracker_id"'
      : null;
  },
  read(content, sink, options) {
    const read = pointReader(sink, options);
    return readRecords(content, sink, (point) => {
      read(point);
      return [];
    });
  },
};

/** The older archive, a single file: `{"points":[…], …}`. */
export const dawarichData: Format = {
  name: "dawarich-data",
  title: "Dawarich data.json",
  extensions: [".json"],
  placeUnit: "byte",
  recognise(beginning) {
    const isDawarich = haveAny(firstThings(beginning, "points"), OWN_MEMBERS);
    return isDawarich ? 'its "points" have "lonlat" or "tracker_id"' : null;
  },
  read(content, sink, options) {
    return readObjects(content, sink, { lists: ["points"] }, pointReader(sink, options));
  },
};

function pointReader(sink: PointSink, options: ReadOptions): (point: JsonObject) => void {
  const times = createFileTimes(options.zone, sink);
  return (point) => sink.add(pointOf(point, times.readMs(point.timestamp), options));
}

function pointOf(point: JsonObject, timestampMs: number | null, { speedUnit }: ReadOptions): FilePoint {
  const [longitude, latitude] = lonLatOf(point);
  const batteryStatus = readBatteryStatus(point.battery_status);
  return {
    ...unreadableOf({ battery_status: [point.battery_status, batteryStatus] }),
    timestampMs,
    latitude: readNumberOrNaN(latitude),
    longitude: readNumberOrNaN(longitude),
    device: readText(point.tracker_id),
    user: null,
    details: knownDetails({
      horizontal_accuracy: readMagnitudeOrNaN(point.accuracy),
      vertical_accuracy: readMagnitudeOrNaN(point.vertical_accuracy),
      altitude: readNumberOrNaN(point.altitude),
      speed: readSpeedOrNaN(point.velocity, speedUnit ?? "mps"),
      bearing: readMagnitudeOrNaN(point.course),
      battery_level: readMagnitudeOrNaN(point.battery),
      battery_status: batteryStatus,
    }),
  };
}

/** Reads columns of their own or PostGIS' `POINT (13.4 52.5)`, depending on the version. */
function lonLatOf({ longitude, latitude, lonlat }: JsonObject): readonly unknown[] {
  if ((longitude ?? null) !== null && (latitude ?? null) !== null) return [longitude, latitude];
  if ((lonlat ?? null) === null) return [longitude, latitude];
  const isShort = typeof lonlat === "string" && lonlat.length <= POINT_CHARACTERS_MAX;
  const [, lon, lat] = (isShort && POINT.exec(lonlat)) || [];
  return [lon ?? Number.NaN, lat ?? Number.NaN];
}

/** The expression backtracks over blanks: a text of 1 MiB would take hours. */
const POINT_CHARACTERS_MAX = 128;
const POINT = /POINT\s*Z?\s*\(\s*(\S+)\s+(\S+?)(?:\s[^)]*)?\s*\)/i;
