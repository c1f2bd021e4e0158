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

/** NMEA 0183, what receivers of satellites say line by line. */
export const nmea: Format = {
  name: "nmea",
  title: "NMEA 0183",
  extensions: [".nmea", ".nma", ".txt", ".log"],
  placeUnit: "line",
  recognise,
  // Binary messages of a receiver may stand between sentences, which are ASCII.
  read: (content, sink, options) =>
    readPieces(content, createLinePoints(new Fixes(sink, options.speedUnit), sink, LATIN_1)),
};

const LATIN_1 = "latin1";

/** Loggers may write a time before a sentence, or what kind of line it is. */
const LINE = /^[\w:., +-]{0,40}(\$[A-Z]{2}(?:RMC|GGA|GSA|GSV|GLL|VTG|ZDA)),/m;
/** Among binary messages, where no line need begin, a checksum makes it sure. */
const WHOLE = /(\$[A-Z]{2}(?:RMC|GGA|GSA|GSV|GLL|VTG|ZDA)),[\x20-\x7e]{0,80}\*[0-9A-F]{2}/;

function recognise({ text, bytes }: Beginning): string | null {
  const [, sentence] = LINE.exec(text) ?? [];
  if (sentence !== undefined) return `lines that begin with ${sentence}`;
  const [, among] = (text === "" && WHOLE.exec(new TextDecoder(LATIN_1).decode(bytes))) || [];
  return among === undefined ? null : `sentences such as ${among} among binary messages`;
}

type Place = Pick<Minimum, "latitude" | "longitude">;

/** What `GGA` says of the fix: its quality and altitude, and the position, but no date. */
interface Quality {
  readonly timeMs: number | null;
  readonly hasFix: boolean;
  readonly latitude: number | null;
  readonly longitude: number | null;
  readonly altitude: number | null;
}

/** Bytes that no sentence has, nor what loggers write before one; a byte order mark may begin a file. */
const NO_TEXT = /[\0-\x08\x0e-\x1f\x7f-\xff]/;
const BYTE_ORDER_MARK = /^\xef\xbb\xbf/;

/**
 * Makes points of a receiver's sentences, one for each `RMC`. The `GGA` of its second, before or behind it, knows the
 * altitude and whether there was a fix; one in whose second is no `RMC` is a point of its own, once the day is known.
 * A second is one of a day: logs of several days may go on at the second at which they broke off.
 */
class Fixes implements LineFormat {
  readonly #sink: PointSink;
  readonly #speedUnit: SpeedUnit;
  /** Waiting for what else is said of their second. */
  #minimum: Minimum | null = null;
  /** Whether another `RMC` of its instant said another position, as the second of two receivers does. */
  #hasRival = false;
  #quality: Quality | null = null;
  /** Whether a sentence with a date came behind the `GGA`, in its second. */
  #isQualityDated = false;
  /** A `GGA` of the same time as the one that is dated: it says the same again, or begins another day. */
  #laterQuality: Quality | null = null;
  /** The second of the day of the last `RMC`. */
  #minimumSecond: number | null = null;
  /** The last second for which a sentence said the day, and that day. */
  #datedSecond: number | null = null;
  #dayMs: number | null = null;
  /** The last instant whose day is known. */
  #datedMs: number | null = null;

  constructor(sink: PointSink, speedUnit: SpeedUnit | null) {
    this.#sink = sink;
    this.#speedUnit = speedUnit ?? "kn";
  }

  /** Loggers may write a time before a sentence, binary messages stand between them, and line ends get lost. */
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
    this.#takeLater();
    this.#settleMinimum();
    this.#settleQuality();
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
    // Receivers for several kinds of satellites say the same for each, or that of one kind they see too few.
    const isRival = isOfInstant && minimum.hasFix && !isSamePlace(waiting, minimum);
    this.#hasRival ||= isRival;
    if (!isOfInstant || isRival) this.#settleMinimum();
    this.#hasRival &&= isOfInstant;
    if (!isSameSecond(this.#quality, minimum)) this.#settleQuality();
    this.#minimumSecond = secondOf(minimum);
    if (minimum.hasFix) this.#minimum = minimum;
    else this.#sink.skip("no_fix");
  }

  #takeQuality(quality: Quality): void {
    if (this.#isQualityDated && this.#quality?.timeMs === quality.timeMs) {
      this.#laterQuality = quality;
      return;
    }
    this.#takeLater();
    const minimum = this.#minimum;
    // Ten times a second the next fix begins with its GGA, and the one before has had its own.
    const isOfNext = this.#quality?.timeMs === minimum?.timeMs && quality.timeMs !== minimum?.timeMs;
    if (minimum !== null && (isOfNext || !isSameSecond(quality, minimum))) this.#settleMinimum();
    if (this.#quality?.timeMs !== quality.timeMs) this.#settleQuality();
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
    // What waits is older, and dated by what was said before.
    if (this.#datedMs !== null && !isSameSecond(this.#minimum, { timeMs })) this.#settleMinimum();
    if (this.#datedMs !== null && !isSameSecond(this.#quality, { timeMs })) this.#settleQuality();
    this.#datedMs = instantMs;
  }

  /** A sentence says the day of its second: what waits for the same second of another day is complete. */
  #beginDay(at: Pick<Minimum, "timeMs" | "dayMs">): void {
    const second = secondOf(at);
    const dayMs = Number.isNaN(at.dayMs) ? null : at.dayMs;
    const isSecondDated = second !== null && second === this.#datedSecond;
    if (isSecondDated && dayMs !== null && this.#dayMs !== null && dayMs !== this.#dayMs) {
      const ofThisDay = this.#laterQuality;
      this.#laterQuality = null;
      this.#settleMinimum();
      this.#settleQuality();
      this.#minimumSecond = null;
      this.#quality = ofThisDay;
    } else this.#takeLater();
    this.#isQualityDated = isSameSecond(this.#quality, at) && (this.#isQualityDated || !isSecondDated);
    this.#datedSecond = second;
    this.#dayMs = dayMs ?? this.#dayMs;
  }

  /** It was of the same day as the one before it. */
  #takeLater(): void {
    this.#quality = this.#laterQuality ?? this.#quality;
    this.#laterQuality = null;
  }

  #settleMinimum(): void {
    const minimum = this.#minimum;
    if (minimum === null) return;
    this.#minimum = null;
    const ofSecond = isSameSecond(this.#quality, minimum) ? this.#quality : null;
    // Of two receivers each has its altitude.
    const quality = ofSecond !== null && this.#hasRival && !isSamePlace(ofSecond, minimum) ? null : ofSecond;
    const { timeMs, dayMs, speed, bearing } = minimum;
    const details = knownDetails({
      altitude: quality?.altitude ?? null,
      speed: speed === null ? null : metersPerSecond(speed, this.#speedUnit),
      bearing,
    });
    this.#settle(quality?.hasFix !== false, instantOf(dayMs, timeMs), minimum, details);
  }

  #settleQuality(): void {
    const quality = this.#quality;
    this.#quality = null;
    // With an RMC in its second it has said what it knows.
    if (quality === null || secondOf(quality) === this.#minimumSecond) return;
    const details = knownDetails({ altitude: quality.altitude });
    this.#settle(quality.hasFix, this.#instantOf(quality), quality, details);
  }

  #settle(hasFix: boolean, timestampMs: number | null, at: Minimum | Quality, details: PointDetails): void {
    if (timestampMs !== null && !Number.isNaN(timestampMs)) this.#datedMs = timestampMs;
    const { latitude, longitude } = at;
    if (!hasFix) this.#sink.skip("no_fix");
    else this.#sink.add({ timestampMs, latitude, longitude, device: null, user: null, details });
  }

  /** The time of day of the day that brings it closest to the last dated instant: past midnight it is the next one. */
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

function isSamePlace(a: Place, b: Place): boolean {
  return Object.is(a.latitude, b.latitude) && Object.is(a.longitude, b.longitude);
}

function isSameSecond(
  a: { readonly timeMs: number | null } | null,
  b: { readonly timeMs: number | null },
): boolean {
  return a !== null && secondOf(a) === secondOf(b);
}

/** Null where the time is missing or can't be read. */
function secondOf({ timeMs }: { readonly timeMs: number | null }): number | null {
  return timeMs === null || Number.isNaN(timeMs) ? null : Math.floor(timeMs / 1000);
}
