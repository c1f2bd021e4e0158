import {
  dayStartMs,
  instantOf,
  type Minimum,
  parseSentence,
  readLatitude,
  readLongitude,
  readMinimum,
  readTimeOfDayMs,
} from "../../clients/nmea-sentence.ts";
import { knownDetails, type PointDetails } from "../../clients/point.ts";
import { metersPerSecond, type SpeedUnit } from "../../clients/reading/speed.ts";
import { readNumberOrNaN } from "../../clients/reading/values.ts";
import { MS_PER_DAY } from "../../model/time/units.ts";
import type { PointSink } from "./file-point.ts";
import type { Beginning, Format } from "./format.ts";
import { createLinePoints, type LineFormat, readPieces } from "./push-reader.ts";

/** NMEA 0183, the sentences of satellite receivers. */
export const nmea: Format = {
  name: "nmea",
  title: "NMEA 0183",
  extensions: [".nmea", ".nma", ".txt", ".log"],
  placeUnit: "line",
  recognise,
  // Binary messages of a receiver may be mixed with the sentences, which are ASCII.
  read: (content, sink, options) =>
    readPieces(content, createLinePoints(new Fixes(sink, options.speedUnit), sink, LATIN_1)),
};

const LATIN_1 = "latin1";

/** Loggers may write a time or a label before a sentence. */
const LINE = /^[\w:., +-]{0,40}(\$[A-Z]{2}(?:RMC|GGA|GSA|GSV|GLL|VTG|ZDA)),/m;
/** Among binary messages there may be no line starts, so the checksum identifies a sentence. */
const WHOLE = /(\$[A-Z]{2}(?:RMC|GGA|GSA|GSV|GLL|VTG|ZDA)),[\x20-\x7e]{0,80}\*[0-9A-F]{2}/;

function recognise({ text, bytes }: Beginning): string | null {
  const [, sentence] = LINE.exec(text) ?? [];
  if (sentence !== undefined) return `lines that begin with ${sentence}`;
  const [, among] = (text === "" && WHOLE.exec(new TextDecoder(LATIN_1).decode(bytes))) || [];
  return among === undefined ? null : `sentences such as ${among} among binary messages`;
}

type Position = Pick<Minimum, "latitude" | "longitude">;

/** The content of a `GGA`: quality, altitude and position of the fix, but no date. */
interface Quality {
  readonly timeMs: number | null;
  readonly hasFix: boolean;
  readonly latitude: number | null;
  readonly longitude: number | null;
  readonly altitude: number | null;
}

/** Bytes that neither a sentence nor a logger's prefix has; a byte order mark may begin a file. */
const NO_TEXT = /[\0-\x08\x0e-\x1f\x7f-\xff]/;
const BYTE_ORDER_MARK = /^\xef\xbb\xbf/;

/**
 * Makes a point of each `RMC` sentence. The `GGA` of the same second, before or after it, adds the altitude and the
 * quality. A `GGA` without an `RMC` in its second becomes a point of its own once the day is known. Seconds are
 * compared with their day: a log may continue on another day at the second at which it broke off.
 */
class Fixes implements LineFormat {
  readonly #sink: PointSink;
  readonly #speedUnit: SpeedUnit;
  /** Waits for other sentences of its second. */
  #minimum: Minimum | null = null;
  /** Whether another `RMC` of the same instant had another position, as with two receivers. */
  #hasRival = false;
  #quality: Quality | null = null;
  /** Whether a sentence with a date followed the `GGA` in its second. */
  #isQualityDated = false;
  /** A `GGA` with the same time as a dated one: either a repetition, or the start of another day. */
  #laterQuality: Quality | null = null;
  /** The second of the last `RMC`. */
  #minimumSecond: number | null = null;
  /** The last second whose day is known, and that day. */
  #datedSecond: number | null = null;
  #dayMs: number | null = null;
  /** The last instant with a known day. */
  #datedMs: number | null = null;

  constructor(sink: PointSink, speedUnit: SpeedUnit | null) {
    this.#sink = sink;
    this.#speedUnit = speedUnit ?? "kn";
  }

  /** A line may have a logger's prefix, binary messages, or several sentences whose line ends were lost. */
  readLine(text: string): void {
    const [before, ...bodies] = text.split("$");
    const head = before!.replace(BYTE_ORDER_MARK, "");
    let isUnreadable = NO_TEXT.test(head) || (bodies.length === 0 && !head.includes("!AI"));
    for (const body of bodies) {
      const sentence = parseSentence(`$${body}`);
      if (sentence === null) continue;
      if (!("fault" in sentence)) this.#take(sentence.kind, sentence.fields);
      else if (sentence.fault === "unreadable") isUnreadable = true;
      else this.#sink.skip(sentence.fault);
    }
    if (isUnreadable) this.#sink.skip("unreadable");
  }

  end(): void {
    this.#useLaterQuality();
    this.#finishMinimum();
    this.#finishQuality();
  }

  #take(kind: string, fields: readonly string[]): void {
    if (kind === "RMC") this.#takeMinimum(readMinimum(fields));
    else if (kind === "GGA") this.#takeQuality(readQuality(fields));
    else if (kind === "ZDA") this.#takeDate(fields);
  }

  #takeMinimum(minimum: Minimum): void {
    this.#beginDay(minimum);
    const waiting = this.#minimum;
    const isOfInstant = waiting?.timeMs === minimum.timeMs;
    // Receivers for several satellite systems repeat the position for each, or report no fix for one.
    const isRival = isOfInstant && minimum.hasFix && !isSamePosition(waiting, minimum);
    this.#hasRival ||= isRival;
    if (!isOfInstant || isRival) this.#finishMinimum();
    this.#hasRival &&= isOfInstant;
    if (!isSameSecond(this.#quality, minimum)) this.#finishQuality();
    this.#minimumSecond = secondOf(minimum);
    if (minimum.hasFix) this.#minimum = minimum;
    else this.#sink.skip("no_fix");
  }

  #takeQuality(quality: Quality): void {
    if (this.#isQualityDated && this.#quality?.timeMs === quality.timeMs) {
      this.#laterQuality = quality;
      return;
    }
    this.#useLaterQuality();
    const minimum = this.#minimum;
    // At ten fixes a second, the next fix begins with its GGA, and the last one has its own already.
    const isOfNext = this.#quality?.timeMs === minimum?.timeMs && quality.timeMs !== minimum?.timeMs;
    if (minimum !== null && (isOfNext || !isSameSecond(quality, minimum))) this.#finishMinimum();
    if (this.#quality?.timeMs !== quality.timeMs) this.#finishQuality();
    this.#quality = quality;
    this.#isQualityDated = false;
  }

  #takeDate([time, day, month, year]: readonly string[]): void {
    const timeMs = readTimeOfDayMs(time);
    const isYear = /^\d{4}$/.test(year ?? "");
    const dayMs = isYear ? dayStartMs(Number(year), Number(month), Number(day)) : null;
    const instantMs = instantOf(dayMs, timeMs);
    if (instantMs === null || Number.isNaN(instantMs)) return;
    this.#beginDay({ timeMs, dayMs });
    // Waiting sentences are older and belong to the former date.
    if (this.#datedMs !== null && !isSameSecond(this.#minimum, { timeMs })) this.#finishMinimum();
    if (this.#datedMs !== null && !isSameSecond(this.#quality, { timeMs })) this.#finishQuality();
    this.#datedMs = instantMs;
  }

  /** A sentence has a date. Sentences that wait for the same second of another day are complete. */
  #beginDay(at: Pick<Minimum, "timeMs" | "dayMs">): void {
    const second = secondOf(at);
    const dayMs = Number.isNaN(at.dayMs) ? null : at.dayMs;
    const isSecondDated = second !== null && second === this.#datedSecond;
    if (isSecondDated && dayMs !== null && this.#dayMs !== null && dayMs !== this.#dayMs) {
      const ofThisDay = this.#laterQuality;
      this.#laterQuality = null;
      this.#finishMinimum();
      this.#finishQuality();
      this.#minimumSecond = null;
      this.#quality = ofThisDay;
    } else this.#useLaterQuality();
    this.#isQualityDated = isSameSecond(this.#quality, at) && (this.#isQualityDated || !isSecondDated);
    this.#datedSecond = second;
    this.#dayMs = dayMs ?? this.#dayMs;
  }

  /** The later `GGA` was a repetition on the same day. */
  #useLaterQuality(): void {
    this.#quality = this.#laterQuality ?? this.#quality;
    this.#laterQuality = null;
  }

  #finishMinimum(): void {
    const minimum = this.#minimum;
    if (minimum === null) return;
    this.#minimum = null;
    const ofSecond = isSameSecond(this.#quality, minimum) ? this.#quality : null;
    // Each of two receivers has its own altitude.
    const quality =
      ofSecond !== null && this.#hasRival && !isSamePosition(ofSecond, minimum) ? null : ofSecond;
    const { timeMs, dayMs, speed, bearing } = minimum;
    const details = knownDetails({
      altitude: quality?.altitude ?? null,
      speed: speed === null ? null : metersPerSecond(speed, this.#speedUnit),
      bearing,
    });
    this.#addFix(quality?.hasFix !== false, instantOf(dayMs, timeMs), minimum, details);
  }

  #finishQuality(): void {
    const quality = this.#quality;
    this.#quality = null;
    // It was used with the RMC of its second.
    if (quality === null || secondOf(quality) === this.#minimumSecond) return;
    const details = knownDetails({ altitude: quality.altitude });
    this.#addFix(quality.hasFix, this.#instantOf(quality), quality, details);
  }

  #addFix(hasFix: boolean, timestampMs: number | null, at: Minimum | Quality, details: PointDetails): void {
    if (timestampMs !== null && !Number.isNaN(timestampMs)) this.#datedMs = timestampMs;
    const { latitude, longitude } = at;
    if (!hasFix) this.#sink.skip("no_fix");
    else this.#sink.add({ timestampMs, latitude, longitude, device: null, user: null, details });
  }

  /** The time of day on the day closest to the last dated instant, so after midnight it is the next day. */
  #instantOf({ timeMs }: Quality): number | null {
    const datedMs = this.#datedMs;
    if (timeMs === null || datedMs === null) return null;
    const sameDayMs = Math.floor(datedMs / MS_PER_DAY) * MS_PER_DAY + timeMs;
    return sameDayMs + Math.round((datedMs - sameDayMs) / MS_PER_DAY) * MS_PER_DAY;
  }
}

function readQuality(fields: readonly string[]): Quality {
  const [time, latitude, northOrSouth, longitude, eastOrWest, quality, , , altitude] = fields;
  return {
    timeMs: readTimeOfDayMs(time),
    hasFix: quality !== "0" && quality !== "" && quality !== undefined,
    latitude: readLatitude(latitude, northOrSouth),
    longitude: readLongitude(longitude, eastOrWest),
    altitude: readNumberOrNaN(altitude),
  };
}

function isSamePosition(a: Position, b: Position): boolean {
  return Object.is(a.latitude, b.latitude) && Object.is(a.longitude, b.longitude);
}

function isSameSecond(
  a: { readonly timeMs: number | null } | null,
  b: { readonly timeMs: number | null },
): boolean {
  return a !== null && secondOf(a) === secondOf(b);
}

/** Null if the time is missing or unreadable. */
function secondOf({ timeMs }: { readonly timeMs: number | null }): number | null {
  return timeMs === null || Number.isNaN(timeMs) ? null : Math.floor(timeMs / 1000);
}
