import type { PointDetails } from "../../../clients/point.ts";
import { readSpeedOrNaN, type SpeedUnit } from "../../../clients/reading/speed.ts";
import { readMagnitudeOrNaN, readNumberOrNaN } from "../../../clients/reading/values.ts";
import { GREATER, SLASH, SPACE } from "../../../lib/text/ascii.ts";
import { UTC } from "../../../model/time/zone.ts";
import type { PointSink } from "../file-point.ts";
import type { Format, ReadOptions } from "../format.ts";
import { type PushReader, readAfterScout, type Scout } from "../push-reader.ts";
import { createFileTimes, type FileTimes } from "../time/file-times.ts";
import type { Attributes } from "./start-tag.ts";
import { rootNameOf, type XmlElements, XmlReader } from "./xml-reader.ts";
import { XmlText } from "./xml-text.ts";

/** GPX tracks. */
export const gpx: Format = {
  name: "gpx",
  title: "GPX",
  extensions: [".gpx"],
  placeUnit: "line",
  recognise: (beginning) => (rootNameOf(beginning) === "gpx" ? "its outermost element is <gpx>" : null),
  read(content, sink, options) {
    const track = new OnlyTrack();
    return readAfterScout(content, track, new GpxReader(sink, options, () => track.isOnly));
  },
};

/** A `<trk>` tag with any prefix, but not `<trkpt>` or `<trkseg>`. */
const TRACK = /<(?:[^\s<>/:"']{1,32}:)?trk[\s/>]$/;
const TRACK_LENGTH_MAX = 40;

/** Whether a file has a single track, whose name is then the device. It only searches for `<trk>`. */
export class OnlyTrack implements Scout {
  readonly #text = new XmlText();
  #tracks = 0;
  #left = "";

  push(piece: Uint8Array): void {
    const text = this.#left + this.#text.decode(piece);
    let seen = 0;
    for (let at = text.indexOf("trk"); at >= 0; at = text.indexOf("trk", at + 3)) {
      const end = at + 4;
      if (
        !endsName(text.charCodeAt(at + 3)) ||
        !TRACK.test(text.slice(Math.max(0, end - TRACK_LENGTH_MAX), end))
      )
        continue;
      this.#tracks++;
      seen = end;
    }
    this.#left = text.slice(Math.max(seen, text.length - TRACK_LENGTH_MAX));
  }

  get isDone(): boolean {
    return this.#tracks > 1;
  }

  get isOnly(): boolean {
    return this.#tracks === 1;
  }
}

/** A cheap test before the expression, since nearly all matches are points. */
function endsName(unit: number): boolean {
  return unit <= SPACE || unit === SLASH || unit === GREATER;
}

/** Reads GPX 1.0 and 1.1, with and without namespaces. Track points are positions; route points are plans. */
class GpxReader implements PushReader, XmlElements {
  readonly #sink: PointSink;
  readonly #speedUnit: SpeedUnit;
  readonly #takesWaypoints: boolean;
  readonly #times: FileTimes;
  /** Whether the track's name is the device. */
  readonly #isNamedByTrack: () => boolean;
  readonly #xml = new XmlReader(this);
  #place = 1;
  /** OsmAnd writes meters into `hdop`, other programs a ratio. */
  #isOsmAnd = false;
  /** The name or id in the only track. The schema puts it before the points; a later one is ignored. */
  #device: string | null = null;
  #hasTrackBegun = false;
  /** `trkpt`, `wpt`, or "" outside a point. */
  #point = "";
  #attributes: Attributes = {};
  /** Texts of the open point by local name, the first of each. */
  readonly #texts = new Map<string, string>();

  constructor(sink: PointSink, options: ReadOptions, isNamedByTrack: () => boolean) {
    this.#sink = sink;
    this.#speedUnit = options.speedUnit ?? "mps";
    this.#takesWaypoints = options.waypoints;
    this.#times = createFileTimes(options.zone ?? UTC, sink);
    this.#isNamedByTrack = isNamedByTrack;
  }

  get place(): number {
    return this.#place;
  }

  push(piece: Uint8Array): void {
    this.#xml.push(piece);
  }

  end(): void {
    this.#xml.end();
  }

  open(name: string, attributes: Attributes, parent: string): boolean {
    switch (name) {
      case "trkpt":
        this.#hasTrackBegun = true;
        this.#beginPoint(name, attributes);
        return false;
      case "wpt":
        if (this.#takesWaypoints) this.#beginPoint(name, attributes);
        else this.#skip("waypoint");
        return false;
      case "rtept":
        this.#skip("route_point");
        return false;
      case "gpx":
        this.#isOsmAnd = attributes.creator?.startsWith("OsmAnd") === true;
        return false;
      case "name":
        return parent === "trk" && !this.#hasTrackBegun;
      case "deviceId":
        return parent === "extensions" && !this.#hasTrackBegun;
      default:
        return this.#point !== "" && this.#isWanted(name, parent);
    }
  }

  close(name: string, text: string): void {
    if (this.#point === "") {
      // Our own export has the device's id behind its name.
      if (name === "deviceId" && this.#isNamedByTrack()) this.#device = text.trim() || null;
      else if (name === "name" && this.#isNamedByTrack()) this.#device ??= text.trim() || null;
    } else if (name === this.#point) this.#addPoint();
    else if (text !== "" && !this.#texts.has(name)) this.#texts.set(name, text);
  }

  /** Values without an element in GPX 1.1 are in extensions at any depth, or beside them. */
  #isWanted(name: string, parent: string): boolean {
    switch (name) {
      case "ele":
      case "time":
      case "hdop":
        return parent === this.#point;
      case "speed":
      case "course":
      case "bearing":
      case "heading":
      case "hAcc":
      case "accuracy":
      case "vAcc":
        return true;
      default:
        return false;
    }
  }

  #beginPoint(name: string, attributes: Attributes): void {
    this.#place = this.#xml.line;
    this.#point = name;
    this.#attributes = attributes;
    this.#texts.clear();
  }

  #skip(reason: "waypoint" | "route_point"): void {
    this.#place = this.#xml.line;
    this.#sink.skip(reason);
  }

  #addPoint(): void {
    this.#sink.add({
      timestampMs: this.#times.readMs(this.#texts.get("time")),
      latitude: readNumberOrNaN(this.#attributes.lat),
      longitude: readNumberOrNaN(this.#attributes.lon),
      device: this.#point === "trkpt" ? this.#device : null,
      user: null,
      details: this.#details(),
    });
    this.#point = "";
  }

  /** Negative values mean "unknown". If two names mean the same, the more reliable one comes first. */
  #details(): PointDetails {
    const texts = this.#texts;
    const details: PointDetails = {};
    const altitude = readNumberOrNaN(texts.get("ele"));
    if (altitude !== null) details.altitude = altitude;
    const speed = readSpeedOrNaN(texts.get("speed"), this.#speedUnit);
    if (speed !== null) details.speed = speed;
    // OsmAnd's heading is the orientation of the phone, its bearing the direction of movement.
    const bearing = readMagnitudeOrNaN(texts.get("course") ?? texts.get("bearing") ?? texts.get("heading"));
    if (bearing !== null) details.bearing = bearing;
    const metersOfHdop = this.#isOsmAnd ? texts.get("hdop") : undefined;
    const accuracy = readMagnitudeOrNaN(texts.get("hAcc") ?? texts.get("accuracy") ?? metersOfHdop);
    if (accuracy !== null) details.horizontal_accuracy = accuracy;
    const verticalAccuracy = readMagnitudeOrNaN(texts.get("vAcc"));
    if (verticalAccuracy !== null) details.vertical_accuracy = verticalAccuracy;
    return details;
  }
}
