import {
  isJsonObject,
  type JsonObject,
  objectOrEmpty,
  readMagnitudeOrNaN,
} from "../../../clients/reading/values.ts";
import type { PointSink } from "../file-point.ts";
import type { Format } from "../format.ts";
import { firstThings, haveAny, readObjects } from "../json/read-json.ts";
import { createFileTimes } from "../time/file-times.ts";
import { latitudeOfE7, longitudeOfE7 } from "./coordinates.ts";

/**
 * Google Takeout's activities and visits by month: `{"timelineObjects":[{"activitySegment":…} | {"placeVisit":…}…]}`.
 * Google derived them from the positions, and beside those they would make the track zigzag.
 */
export const googleSemantic: Format = {
  name: "google-semantic",
  title: "Google Semantic Location History",
  extensions: [".json"],
  placeUnit: "byte",
  recognise(beginning) {
    const things = firstThings(beginning, "timelineObjects");
    return haveAny(things, ["activitySegment", "placeVisit"])
      ? 'its "timelineObjects" are activities and visits'
      : null;
  },
  read(content, sink, options) {
    const isDerived = options.beside.hasGoogleRecords && !options.semantic;
    const times = createFileTimes(options.zone, sink);
    const object = new TimelineObject(sink, isDerived, (value) => times.readMs(value));
    return readObjects(content, sink, { lists: ["timelineObjects"] }, ({ activitySegment, placeVisit }) => {
      if (isJsonObject(activitySegment)) object.readSegment(activitySegment);
      else if (isJsonObject(placeVisit)) object.readVisit(placeVisit);
      else sink.skip("no_location");
    });
  },
};

class TimelineObject {
  readonly #sink: PointSink;
  readonly #isDerived: boolean;
  readonly #readMs: (value: unknown) => number | null;

  constructor(sink: PointSink, isDerived: boolean, readMs: (value: unknown) => number | null) {
    this.#sink = sink;
    this.#isDerived = isDerived;
    this.#readMs = readMs;
  }

  readSegment(segment: JsonObject): void {
    const { start, end } = durationOf(segment);
    this.#addE7(objectOrEmpty(segment.startLocation), start);
    this.#readPath(segment);
    for (const _ of listIn(segment.waypointPath, "waypoints")) this.#sink.skip("no_time");
    this.#addE7(objectOrEmpty(segment.endLocation), end);
  }

  readVisit(visit: JsonObject): void {
    const { start, end } = durationOf(visit);
    const location = objectOrEmpty(visit.location);
    const place =
      (location.latitudeE7 ?? null) === null
        ? { latitudeE7: visit.centerLatE7, longitudeE7: visit.centerLngE7 }
        : location;
    this.#addE7(place, start);
    this.#readPath(visit);
    this.#addE7(place, end);
  }

  #readPath(object: JsonObject): void {
    for (const point of listIn(object.simplifiedRawPath, "points")) {
      const { latE7, lngE7, timestamp, timestampMs, accuracyMeters } = objectOrEmpty(point);
      this.#add(latE7, lngE7, timestamp ?? timestampMs, readMagnitudeOrNaN(accuracyMeters));
    }
  }

  #addE7({ latitudeE7, longitudeE7 }: JsonObject, time: unknown): void {
    this.#add(latitudeE7, longitudeE7, time, null);
  }

  #add(latitudeE7: unknown, longitudeE7: unknown, time: unknown, accuracyMeters: number | null): void {
    if (this.#isDerived) {
      this.#sink.skip("derived");
      return;
    }
    this.#sink.add({
      timestampMs: this.#readMs(time),
      latitude: latitudeOfE7(latitudeE7),
      longitude: longitudeOfE7(longitudeE7),
      device: "google-semantic",
      user: null,
      details: accuracyMeters === null ? {} : { horizontal_accuracy: accuracyMeters },
    });
  }
}

function durationOf(object: JsonObject): { readonly start: unknown; readonly end: unknown } {
  const duration = objectOrEmpty(object.duration);
  return {
    start: duration.startTimestamp ?? duration.startTimestampMs,
    end: duration.endTimestamp ?? duration.endTimestampMs,
  };
}

function listIn(value: unknown, name: string): readonly unknown[] {
  const list = objectOrEmpty(value)[name];
  return Array.isArray(list) ? list : [];
}
