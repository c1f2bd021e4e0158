import type { PointDetails } from "../../../clients/point.ts";
import { knownDetails } from "../../../clients/reading/details.ts";
import { readSpeed, type SpeedUnit } from "../../../clients/reading/speed.ts";
import { isDay } from "../../../clients/reading/time.ts";
import { readMagnitude, readNumber } from "../../../clients/reading/values.ts";
import { MS_PER_DAY } from "../../../time/retention.ts";
import type { PointSink } from "../file-point.ts";
import type { LineFormat } from "../line-points.ts";
import { parseSentence, readDegrees, readTimeOfDayMs } from "./sentence.ts";

/** What `RMC` says, the recommended minimum: all but the altitude. */
interface Minimum {
  readonly timeMs: number | null;
  readonly dayMs: number | null;
  readonly hasFix: boolean;
  readonly latitude: number | null;
  readonly longitude: number | null;
  readonly speed: number | null;
  readonly bearing: number | null;
}

/** What `GGA` says of the fix: its quality and altitude, and the position, but no date. */
interface Quality {
  readonly timeMs: number | null;
  readonly hasFix: boolean;
  readonly latitude: number | null;
  readonly longitude: number | null;
  readonly altitude: number | null;
}

/**
 * Makes points of a receiver's sentences, one for each `RMC`. The `GGA` of its second, before or behind it, knows the
 * altitude and whether there was a fix; one in whose second is no `RMC` is a point of its own, once the day is known.
 */
export class Fixes implements LineFormat {
  readonly #sink: PointSink;
  readonly #speedUnit: SpeedUnit;
  /** Waiting for what else is said of their second. */
  #minimum: Minimum | null = null;
  #quality: Quality | null = null;
  /** The second of the day of the last `RMC`. */
  #minimumSecond: number | null = null;
  /** The last instant whose day is known. */
  #datedMs: number | null = null;

  constructor(sink: PointSink, speedUnit: SpeedUnit | null) {
    this.#sink = sink;
    this.#speedUnit = speedUnit ?? "kn";
  }

  readLine(text: string): void {
    const sentence = parseSentence(text);
    if (sentence === null) return;
    if ("fault" in sentence) this.#sink.skip(sentence.fault);
    else if (sentence.kind === "RMC") this.#takeMinimum(readMinimum(sentence.fields, this.#speedUnit));
    else if (sentence.kind === "GGA") this.#takeQuality(readQuality(sentence.fields));
    else if (sentence.kind === "ZDA") this.#takeDate(sentence.fields);
  }

  end(): void {
    this.#settleMinimum();
    this.#settleQuality();
  }

  #takeMinimum(minimum: Minimum): void {
    // Receivers for several kinds of satellites say the same for each, or that of one kind they see too few.
    if (this.#minimum?.timeMs !== minimum.timeMs) this.#settleMinimum();
    if (!isSameSecond(this.#quality, minimum)) this.#settleQuality();
    this.#minimumSecond = secondOf(minimum);
    if (minimum.hasFix) this.#minimum = minimum;
    else this.#sink.skip("no_fix");
  }

  #takeQuality(quality: Quality): void {
    const minimum = this.#minimum;
    // Ten times a second the next fix begins with its GGA, and the one before has had its own.
    const isOfNext = this.#quality?.timeMs === minimum?.timeMs && quality.timeMs !== minimum?.timeMs;
    if (minimum !== null && (isOfNext || !isSameSecond(quality, minimum))) this.#settleMinimum();
    if (this.#quality?.timeMs !== quality.timeMs) this.#settleQuality();
    this.#quality = quality;
  }

  #takeDate([time, day, month, year]: readonly string[]): void {
    const timeMs = readTimeOfDayMs(time);
    const isYear = /^\d{4}$/.test(year ?? "");
    const dayMs = isYear ? dayStartMs(Number(year), Number(month), Number(day)) : null;
    if (timeMs !== null && dayMs !== null) this.#datedMs = dayMs + timeMs;
  }

  #settleMinimum(): void {
    const minimum = this.#minimum;
    if (minimum === null) return;
    this.#minimum = null;
    const quality = isSameSecond(this.#quality, minimum) ? this.#quality : null;
    const { timeMs, dayMs, speed, bearing } = minimum;
    const timestampMs = timeMs === null || dayMs === null ? null : dayMs + timeMs;
    const details = knownDetails({ altitude: quality?.altitude ?? null, speed, bearing });
    this.#settle(quality?.hasFix !== false, timestampMs, minimum, details);
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
    this.#datedMs = timestampMs ?? this.#datedMs;
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

function readMinimum(fields: readonly string[], speedUnit: SpeedUnit): Minimum {
  const [time, status, latitude, northSouth, longitude, eastWest, speed, course, date] = fields;
  return {
    timeMs: readTimeOfDayMs(time),
    dayMs: readDateMs(date),
    hasFix: status === "A",
    latitude: readDegrees(latitude, northSouth),
    longitude: readDegrees(longitude, eastWest),
    speed: readSpeed(speed, speedUnit),
    bearing: readMagnitude(course),
  };
}

function readQuality(fields: readonly string[]): Quality {
  const [time, latitude, northSouth, longitude, eastWest, quality, , , altitude] = fields;
  return {
    timeMs: readTimeOfDayMs(time),
    hasFix: quality !== "0" && quality !== "" && quality !== undefined,
    latitude: readDegrees(latitude, northSouth),
    longitude: readDegrees(longitude, eastWest),
    altitude: readNumber(altitude),
  };
}

/** Midnight of `ddmmyy`; years before 80 are of this century. */
function readDateMs(text: string | undefined): number | null {
  const [, day, month, year] = /^(\d{2})(\d{2})(\d{2})$/.exec(text ?? "") ?? [];
  return dayStartMs(Number(year) + (Number(year) < 80 ? 2000 : 1900), Number(month), Number(day));
}

function dayStartMs(year: number, month: number, day: number): number | null {
  return isDay(year, month, day) ? Date.UTC(year, month - 1, day) : null;
}

function isSameSecond(
  a: { readonly timeMs: number | null } | null,
  b: { readonly timeMs: number | null },
): boolean {
  return a !== null && secondOf(a) === secondOf(b);
}

function secondOf({ timeMs }: { readonly timeMs: number | null }): number | null {
  return timeMs === null ? null : Math.floor(timeMs / 1000);
}
