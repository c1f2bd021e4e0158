import { knownDetails } from "../../../clients/point.ts";
import { readSpeedOrNaN } from "../../../clients/reading/speed.ts";
import {
  isJsonObject,
  type JsonObject,
  readMagnitudeOrNaN,
  readNumberOrNaN,
} from "../../../clients/reading/values.ts";
import type { FilePoint, PointSink } from "../file-point.ts";
import type { Format, ReadOptions } from "../format.ts";
import { firstThings, haveAny, readObjects } from "../json/read-json.ts";
import { createFileTimes, type FileTimes } from "../time/file-times.ts";
import { readCoordinates } from "./coordinates.ts";
import { readSegment, TIMELINE_DEVICE } from "./timeline-segment.ts";

const SEGMENT_MEMBERS = ["timelinePath", "visit", "activity", "timelineMemory"];
const SIGNAL_MEMBERS = ["position", "activityRecord", "wifiScan"];

/** The Timeline export of an Android phone: `{"semanticSegments":[…],"rawSignals":[…],"userLocationProfile":…}`. */
export const googleTimeline: Format = {
  name: "google-timeline",
  title: "Google Timeline of Android",
  extensions: [".json"],
  placeUnit: "byte",
  recognise(beginning) {
    const isTimeline =
      haveAny(firstThings(beginning, "semanticSegments"), SEGMENT_MEMBERS) ||
      haveAny(firstThings(beginning, "rawSignals"), SIGNAL_MEMBERS);
    return isTimeline ? 'it has "semanticSegments" or "rawSignals"' : null;
  },
  read(content, sink, options) {
    const times = createFileTimes(options.zone, sink);
    const selection = { lists: ["semanticSegments", "rawSignals"], members: ["userLocationProfile"] };
    return readObjects(content, sink, selection, (object, member) => {
      if (member === "semanticSegments") readSegment(object, times, sink);
      else if (member === "rawSignals") readSignal(object, times, sink, options);
      else if (Array.isArray(object.frequentPlaces))
        for (const _ of object.frequentPlaces) sink.skip("no_location");
    });
  },
};

function readSignal({ position }: JsonObject, times: FileTimes, sink: PointSink, options: ReadOptions): void {
  if (isJsonObject(position)) sink.add(pointOf(position, times, options));
  else sink.skip("no_location");
}

function pointOf(position: JsonObject, times: FileTimes, { speedUnit }: ReadOptions): FilePoint {
  const { latitude, longitude, altitude } = readCoordinates(position.LatLng ?? position.latLng);
  return {
    timestampMs: times.readMs(position.timestamp),
    latitude,
    longitude,
    device: TIMELINE_DEVICE,
    user: null,
    details: knownDetails({
      horizontal_accuracy: readMagnitudeOrNaN(position.accuracyMeters),
      altitude: readNumberOrNaN(position.altitudeMeters) ?? altitude,
      speed: readSpeedOrNaN(position.speedMetersPerSecond, speedUnit ?? "mps"),
    }),
  };
}

/** The Timeline export of an iPhone: a list of segments, with all numbers as texts. */
export const googleTimelineIos: Format = {
  name: "google-timeline-ios",
  title: "Google Timeline of an iPhone",
  extensions: [".json"],
  placeUnit: "byte",
  recognise(beginning) {
    const things = firstThings(beginning, null);
    return haveAny(things, ["startTime"]) && haveAny(things, SEGMENT_MEMBERS)
      ? 'it is a list of visits, activities and paths with a "startTime"'
      : null;
  },
  read(content, sink, options) {
    const times = createFileTimes(options.zone, sink);
    return readObjects(content, sink, { isList: true }, (segment) => readSegment(segment, times, sink));
  },
};
