import { knownDetails } from "../../../clients/point.ts";
import { readSpeedOrNaN } from "../../../clients/reading/speed.ts";
import {
  type JsonObject,
  objectOrEmpty,
  readMagnitudeOrNaN,
  readNumberOrNaN,
  readText,
} from "../../../clients/reading/values.ts";
import type { FilePoint } from "../file-point.ts";
import type { Format, ReadOptions } from "../format.ts";
import { firstThings, readObjects } from "../json/read-json.ts";
import { createFileTimes, type FileTimes } from "../time/file-times.ts";
import { latitudeOfE7, longitudeOfE7 } from "./coordinates.ts";
import { deviceOfTag } from "./records.ts";

/**
 * Google Takeout's `Timeline Edits.json`: besides edits it has raw positions of phones,
 * `{"timelineEdits":[{"deviceId":…,"rawSignal":{"signal":{"position":{"point":{"latE7":…,"lngE7":…},…}}}}…]}`.
 */
export const googleTimelineEdits: Format = {
  name: "google-timeline-edits",
  title: "Google Timeline edits",
  extensions: [".json"],
  placeUnit: "byte",
  recognise: (beginning) =>
    firstThings(beginning, "timelineEdits").length > 0 ? 'it has "timelineEdits"' : null,
  read(content, sink, options) {
    const times = createFileTimes(options.zone, sink);
    return readObjects(content, sink, { lists: ["timelineEdits"] }, ({ deviceId, rawSignal }) => {
      const { position } = objectOrEmpty(objectOrEmpty(rawSignal).signal);
      if (position === undefined) sink.skip("no_location");
      else sink.add(pointOf(objectOrEmpty(position), readText(deviceId), times, options));
    });
  },
};

const MILLIMETERS_PER_METER = 1000;

function pointOf(
  position: JsonObject,
  tag: string | null,
  times: FileTimes,
  { speedUnit, beside }: ReadOptions,
): FilePoint {
  const { latE7, lngE7 } = objectOrEmpty(position.point);
  const accuracyMm = readMagnitudeOrNaN(position.accuracyMm);
  return {
    timestampMs: times.readMs(position.timestamp),
    latitude: latitudeOfE7(latE7),
    longitude: longitudeOfE7(lngE7),
    device: deviceOfTag(tag, beside.googleDevices),
    user: null,
    details: knownDetails({
      horizontal_accuracy: accuracyMm === null ? null : accuracyMm / MILLIMETERS_PER_METER,
      altitude: readNumberOrNaN(position.altitudeMeters),
      speed: readSpeedOrNaN(position.speedMetersPerSecond, speedUnit ?? "mps"),
      bearing: readMagnitudeOrNaN(position.headingDegrees),
    }),
  };
}
