import { readSpeedOrNaN, type SpeedUnit } from "../../../clients/reading/speed.ts";
import { readMagnitudeOrNaN, readNumberOrNaN } from "../../../clients/reading/values.ts";
import { UTC } from "../../../model/time/zone.ts";
import type { PointSink } from "../file-point.ts";
import type { Content, Format, FormatReader, ReadOptions } from "../format.ts";
import { createFileTimes, type FileTimes } from "../time/file-times.ts";
import { KmlPoints } from "./kml-points.ts";
import {
  ACCURACY,
  ALTITUDE,
  BEARING,
  encodeValue,
  LATITUDE,
  LONGITUDE,
  SPEED,
  TIME,
} from "./pending-points.ts";
import type { Attributes } from "./start-tag.ts";
import { rootNameOf, type XmlElements, XmlReader } from "./xml-reader.ts";

/** KML, the format of Google Earth, and formerly of Google's Timeline. */
export const kml: Format = {
  name: "kml",
  title: "KML",
  extensions: [".kml"],
  placeUnit: "line",
  recognise: (beginning) => (rootNameOf(beginning) === "kml" ? "its outermost element is <kml>" : null),
  read: (content, sink, options) => readKml(content, new KmlReader(sink, options)),
};

function readKml(content: Content, reader: KmlReader): FormatReader {
  const { points } = reader;
  async function* read(): AsyncGenerator<void> {
    try {
      for await (const piece of content.pieces()) {
        reader.push(piece);
        yield* points.deliver();
        yield;
      }
      reader.end();
    } catch (error) {
      points.breakOff();
      yield* points.deliver();
      yield;
      throw error;
    }
  }
  return {
    get place() {
      return points.place;
    },
    [Symbol.asyncIterator]: read,
  };
}

/** Arrays of a track, by the names that programs agree on. */
const ARRAYS: ReadonlyMap<string | undefined, number> = new Map([
  ["speed", SPEED],
  ["bearing", BEARING],
  ["accuracy", ACCURACY],
]);

/** The mode with altitudes above the sea, and modes in which 0 means that there is none. */
const ABSOLUTE = "absolute";
const ON_THE_GROUND: readonly string[] = ["", "clampToGround"];

/** Reads KML: tracks, whose k-th `when` belongs to the k-th `gx:coord`, and Points of Placemarks with a `TimeStamp`. */
class KmlReader implements XmlElements {
  readonly points: KmlPoints;
  readonly #times: FileTimes;
  readonly #speedUnit: SpeedUnit;
  readonly #xml = new XmlReader(this);
  #isInTrack = false;
  #isInTimeStamp = false;
  /** The altitude mode of a MultiTrack's tracks, and of the open track or Point. */
  #commonMode = "";
  #mode = "";
  /** The column of the open array, and the index of its next value. */
  #column: number | null = null;
  #valueIndex = 0;

  constructor(sink: PointSink, options: ReadOptions) {
    this.points = new KmlPoints(sink);
    this.#times = createFileTimes(options.zone ?? UTC, sink);
    this.#speedUnit = options.speedUnit ?? "mps";
  }

  push(piece: Uint8Array): void {
    this.#xml.push(piece);
  }

  end(): void {
    this.#xml.end();
  }

  open(name: string, attributes: Attributes, parent: string): boolean {
    switch (name) {
      case "Track":
        this.#isInTrack = true;
        this.#mode = parent === "MultiTrack" ? this.#commonMode : "";
        this.points.beginTrack();
        return false;
      case "MultiTrack":
        this.#commonMode = "";
        return false;
      case "Point":
        this.#mode = "";
        return false;
      case "LineString":
        this.points.skip("untimed_line", this.#xml.line);
        return false;
      case "Polygon":
      case "NetworkLink":
        this.points.skip("no_location", this.#xml.line);
        return false;
      case "TimeStamp":
        this.#isInTimeStamp = parent === "Placemark"; // Other time stamps belong to views and folders.
        return false;
      case "SimpleArrayData":
        this.#column = this.#isInTrack ? (ARRAYS.get(attributes.name) ?? null) : null;
        this.#valueIndex = 0;
        return false;
      default:
        return this.#isWanted(name, parent);
    }
  }

  close(name: string, text: string): void {
    switch (name) {
      case "when":
        this.#endWhen(text);
        break;
      case "coord":
        if (this.#isInTrack)
          this.#locate(this.points.nextPosition(this.#xml.line), text.trim().split(/[\s,]+/));
        break;
      case "value":
        this.#endValue(text);
        break;
      case "coordinates":
        if (text !== "") this.#locate(this.points.addPoint(this.#xml.line), text.trim().split(","));
        break;
      case "altitudeMode":
        this.#endMode(text.trim());
        break;
      case "SimpleArrayData":
        this.#column = null;
        break;
      case "TimeStamp":
        this.#isInTimeStamp = false;
        break;
      case "Track":
        this.#isInTrack = false;
        this.points.endTrack();
        break;
      case "Placemark":
        this.points.endPlacemark();
    }
  }

  #isWanted(name: string, parent: string): boolean {
    switch (name) {
      case "when":
        return parent === "Track" || (parent === "TimeStamp" && this.#isInTimeStamp);
      case "coord":
        return parent === "Track";
      case "coordinates":
        return parent === "Point";
      case "value":
        return this.#column !== null && parent === "SimpleArrayData";
      case "altitudeMode":
        return parent === "Track" || parent === "MultiTrack" || parent === "Point";
      default:
        return false;
    }
  }

  /** An empty `when` counts, so that later ones match their `gx:coord`. */
  #endWhen(text: string): void {
    if (!this.#isInTrack && !this.#isInTimeStamp) return;
    const timestampMs = encodeValue(this.#times.readMs(text));
    if (this.#isInTrack) this.points.set(this.points.nextTime(this.#xml.line), TIME, timestampMs);
    else this.points.setPlacemarkTime(timestampMs);
  }

  #locate(point: number, [longitude, latitude, altitude]: readonly string[]): void {
    this.points.set(point, LONGITUDE, encodeValue(readNumberOrNaN(longitude)));
    this.points.set(point, LATITUDE, encodeValue(readNumberOrNaN(latitude)));
    this.points.set(point, ALTITUDE, this.#altitudeOf(encodeValue(readNumberOrNaN(altitude))));
  }

  #altitudeOf(meters: number): number {
    const isKnown = this.#mode === ABSOLUTE || (ON_THE_GROUND.includes(this.#mode) && meters !== 0);
    return isKnown ? meters : Number.NaN;
  }

  #endValue(text: string): void {
    if (this.#column === null) return;
    const value = this.#column === SPEED ? readSpeedOrNaN(text, this.#speedUnit) : readMagnitudeOrNaN(text);
    if (value !== null) this.points.setOfTrack(this.#valueIndex, this.#column, encodeValue(value));
    this.#valueIndex++;
  }

  #endMode(mode: string): void {
    if (mode === "") return;
    this.#mode = mode;
    if (!this.#isInTrack) this.#commonMode = mode;
  }
}
