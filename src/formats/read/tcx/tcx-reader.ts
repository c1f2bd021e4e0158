import type { PointDetails } from "../../../clients/point.ts";
import { readSpeedOrNaN, type SpeedUnit } from "../../../clients/reading/speed.ts";
import { readNumberOrNaN } from "../../../clients/reading/values.ts";
import { UTC } from "../../../model/time/zone.ts";
import type { PointSink } from "../file-point.ts";
import type { ReadOptions } from "../format.ts";
import type { PushReader } from "../push-reader.ts";
import { createFileTimes, type FileTimes } from "../time/file-times.ts";
import type { Attributes } from "../xml/start-tag.ts";
import { type XmlElements, XmlReader } from "../xml/xml-reader.ts";

/** The element that a text must lie in to be one of a point, by its own name. */
const PARENTS: ReadonlyMap<string, string> = new Map([
  ["Time", "Trackpoint"],
  ["LatitudeDegrees", "Position"],
  ["LongitudeDegrees", "Position"],
  ["AltitudeMeters", "Trackpoint"],
  ["Speed", "TPX"],
]);

/** Reads TCX. Laps follow each other; the points of a course are a plan, with times that nobody was there. */
export class TcxReader implements PushReader, XmlElements {
  readonly #sink: PointSink;
  readonly #speedUnit: SpeedUnit;
  readonly #times: FileTimes;
  readonly #device: () => string | null;
  readonly #xml = new XmlReader(this);
  #place = 1;
  #isInCourse = false;
  #isInPoint = false;
  /** Of the open point, by the names of their elements. */
  readonly #texts = new Map<string, string>();

  constructor(sink: PointSink, options: ReadOptions, device: () => string | null) {
    this.#sink = sink;
    this.#speedUnit = options.speedUnit ?? "mps";
    this.#times = createFileTimes(options.zone ?? UTC, sink);
    this.#device = device;
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

  open(name: string, _attributes: Attributes, parent: string): boolean {
    if (name === "Course") this.#isInCourse = true;
    if (name !== "Trackpoint") return this.#isInPoint && PARENTS.get(name) === parent;
    this.#place = this.#xml.line;
    this.#isInPoint = !this.#isInCourse;
    this.#texts.clear();
    if (this.#isInCourse) this.#sink.skip("route_point");
    return false;
  }

  close(name: string, text: string): void {
    if (name === "Course") this.#isInCourse = false;
    if (!this.#isInPoint) return;
    if (name === "Trackpoint") this.#addPoint();
    else if (text !== "") this.#texts.set(name, text);
  }

  #addPoint(): void {
    const texts = this.#texts;
    const details: PointDetails = {};
    const altitude = readNumberOrNaN(texts.get("AltitudeMeters"));
    if (altitude !== null) details.altitude = altitude;
    const speed = readSpeedOrNaN(texts.get("Speed"), this.#speedUnit);
    if (speed !== null) details.speed = speed;
    this.#isInPoint = false;
    this.#sink.add({
      timestampMs: this.#times.readMs(texts.get("Time")),
      latitude: readNumberOrNaN(texts.get("LatitudeDegrees")),
      longitude: readNumberOrNaN(texts.get("LongitudeDegrees")),
      device: this.#device(),
      user: null,
      details,
    });
  }
}
