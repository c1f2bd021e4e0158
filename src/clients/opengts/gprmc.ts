import { isDay } from "../reading/time.ts";
import { readMagnitude } from "../reading/values.ts";

/*
 * The one sentence of NMEA 0183 in which a position travels through URLs:
 *
 *     $GPRMC,024000,A,5231.20048,N,1324.29724,E,25.269972,271.4,020226,,*1C
 *            time   |  latitude    longitude    knots     course date    checksum
 *                   A where the fix is valid
 */

export interface GprmcFix {
  readonly isValid: boolean;
  readonly timestampMs: number | null;
  readonly latitude: number | null;
  readonly longitude: number | null;
  /** As sent: knots, unless somebody else writes these sentences. */
  readonly speed: number | null;
  readonly bearing: number | null;
}

/** The talker may be any: GN and others combine satellites of several systems. */
const SENTENCE = /^\$(?<text>[A-Z]{2}RMC,[^*]*)(?:\*(?<checksum>[0-9A-F]{2}))?$/i;
const SENTENCE_CHARACTERS_MAX = 256;

/** Null for what is no such sentence, or not as it was sent by its checksum, which may be missing. */
export function parseGprmc(sentence: string): GprmcFix | null {
  const text = sentence.trim();
  const groups = text.length <= SENTENCE_CHARACTERS_MAX ? SENTENCE.exec(text)?.groups : undefined;
  if (groups?.text === undefined) return null;
  if (groups.checksum !== undefined && Number.parseInt(groups.checksum, 16) !== checksumOf(groups.text))
    return null;
  const [, time, status, latitude, northOrSouth, longitude, eastOrWest, speed, bearing, date] =
    groups.text.split(",");
  return {
    isValid: status === "A",
    timestampMs: timeMsOf(time, date),
    latitude: degreesOf(latitude, northOrSouth, "N", "S"),
    longitude: degreesOf(longitude, eastOrWest, "E", "W"),
    speed: readMagnitude(speed),
    bearing: readMagnitude(bearing),
  };
}

/** All characters between the dollar and the star, one over the other. */
function checksumOf(text: string): number {
  let checksum = 0;
  for (let at = 0; at < text.length; at++) checksum ^= text.charCodeAt(at);
  return checksum;
}

/** `hhmmss`, maybe with a fraction, and `ddmmyy`, of this century. */
function timeMsOf(time = "", date = ""): number | null {
  const clock = /^(\d\d)(\d\d)(\d\d)(?:\.(\d{1,3})\d*)?$/.exec(time);
  const day = /^(\d\d)(\d\d)(\d\d)$/.exec(date);
  if (clock === null || day === null) return null;
  const [, hh, mm, ss, fraction = "0"] = clock;
  const iso = `20${day[3]}-${day[2]}-${day[1]}T${hh}:${mm}:${ss}.${fraction.padEnd(3, "0")}Z`;
  if (!isDay(2000 + Number(day[3]), Number(day[2]), Number(day[1]))) return null;
  const timeMs = Date.parse(iso);
  return Number.isNaN(timeMs) ? null : timeMs;
}

/**
 * Degrees of `ddmm.mmmm` or `dddmm.mmmm`. GPSLogger doesn't pad degrees, so minutes are what begins two digits before
 * the point, wherever that is. A ten-millionth of a degree is a centimeter.
 */
function degreesOf(text = "", hemisphere = "", positive: string, negative: string): number | null {
  const parts = /^(\d{0,3})(\d\d(?:\.\d*)?)$/.exec(text);
  if (parts === null || (hemisphere !== positive && hemisphere !== negative)) return null;
  if (Number(parts[2]) > 60) return null; // Rounded it may be 60.
  const degrees = Number(parts[1]) + Number(parts[2]) / 60;
  const rounded = Math.round(degrees * 1e8) / 1e8;
  return hemisphere === negative ? -rounded : rounded;
}
