import type { PointDetails } from "../../../clients/point.ts";
import { readSpeedOrNaN, type SpeedUnit } from "../../../clients/reading/speed.ts";
import { readNumberOrNaN } from "../../../clients/reading/values.ts";
import { UTC } from "../../../model/time/zone.ts";
import type { PointSink } from "../file-point.ts";
import { type Format, FormatError, type ReadOptions } from "../format.ts";
import { type PushReader, readAfterScout, type Scout } from "../push-reader.ts";
import { createFileTimes, type FileTimes } from "../time/file-times.ts";
import type { Attributes } from "./start-tag.ts";
import { rootNameOf, type XmlElements, XmlReader } from "./xml-reader.ts";

const ROOT = "TrainingCenterDatabase";

/** TCX, the format of Garmin's Training Center and many other programs. */
export const tcx: Format = {
  name: "tcx",
  title: "TCX",
  extensions: [".tcx"],
  placeUnit: "line",
  recognise: (beginning) => (rootNameOf(beginning) === ROOT ? `its outermost element is <${ROOT}>` : null),
  read(content, sink, options) {
    const creator = new OnlyCreator();
    return readAfterScout(content, creator, new TcxReader(sink, options, () => creator.device));
  },
};

/** The unit id that programs write for an unknown device. */
const NO_UNIT = "0";

/** Finds the single device of a file's activities, which each of them names after its points. */
class OnlyCreator implements Scout, XmlElements {
  readonly #xml = new XmlReader(this);
  readonly #texts = new Map<string, string>();
  #device: string | null = null;
  #isDone = false;

  /** Null if unknown or not unique. */
  get device(): string | null {
    return this.#device;
  }

  get isDone(): boolean {
    return this.#isDone;
  }

  push(piece: Uint8Array): void {
    try {
      this.#xml.push(piece);
    } catch (error) {
      if (!(error instanceof FormatError)) throw error;
      this.#isDone = true; // The reader of the points reports the fault.
    }
  }

  open(name: string, _attributes: Attributes, parent: string): boolean {
    if (name === "Creator") this.#texts.clear();
    return parent === "Creator" && (name === "Name" || name === "UnitId");
  }

  close(name: string, text: string): void {
    if (name === "Creator") this.#meet(deviceOf(this.#texts));
    else if (text !== "") this.#texts.set(name, text.trim());
  }

  #meet(device: string | null): void {
    if (this.#isDone) return;
    if (this.#device === null) this.#device = device;
    else if (device !== this.#device) {
      this.#device = null;
      this.#isDone = true;
    }
  }
}

/** The model and the unit id, which tells two devices of a model apart. */
function deviceOf(texts: ReadonlyMap<string, string>): string | null {
  const name = texts.get("Name") ?? "";
  const unit = texts.get("UnitId") ?? NO_UNIT;
  if (name === "") return null;
  return unit === NO_UNIT || unit === "" ? name : `${name}-${unit}`;
}

/** The parent element that makes a text part of a point, by the text's element. */
const PARENTS: ReadonlyMap<string, string> = new Map([
  ["Time", "Trackpoint"],
  ["LatitudeDegrees", "Position"],
  ["LongitudeDegrees", "Position"],
  ["AltitudeMeters", "Trackpoint"],
  ["Speed", "TPX"],
]);

/** Reads TCX. Laps are consecutive; the points of a course are a plan, not positions. */
class TcxReader implements PushReader, XmlElements {
  readonly #sink: PointSink;
  readonly #speedUnit: SpeedUnit;
  readonly #times: FileTimes;
  readonly #device: () => string | null;
  readonly #xml = new XmlReader(this);
  #place = 1;
  #isInCourse = false;
  #isInPoint = false;
  /** Texts of the open point, by element name. */
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
