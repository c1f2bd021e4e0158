import table from "moment-timezone/data/packed/latest.json" with { type: "json" };

/**
 * The IANA time zone database as one pinned file (the version is `TZDATA_VERSION`), so that every runtime uses the
 * same, whatever its ICU contains. The file lists changes up to the year 2499; after a zone's last change its last
 * offset stays in effect.
 *
 * A packed zone is `name|abbreviations|offsets|indexes|untils|population`. Offsets are minutes to subtract from local
 * time, and each period has an index into them. Untils are minutes: the first since 1970, each other since the previous
 * one. Numbers are in base 60.
 */
export interface ZoneHistory {
  /** When each period ends (excluded), in order; the last one is `Infinity`. */
  readonly untilMs: Float64Array;
  /** What to add to UTC in each period; fractions before the 20th century, when local mean time had seconds. */
  readonly offsetMinutes: Float64Array;
}

export const TZDATA_VERSION = table.version;

const packedZones = new Map(table.zones.map((packed) => [packed.slice(0, packed.indexOf("|")), packed]));
packedZones.set("Factory", "Factory|-00|0|0||"); // The only name of the database that the file doesn't contain.

/** The zone of each link; the file writes `zone|link`. */
const linkTargets = new Map(table.links.map((link) => link.split("|").reverse() as [string, string]));

/** Zones that requests have used, at most as many as the table contains. */
const unpacked = new Map<string, ZoneHistory>();

/** All names that `findZoneHistory` accepts, zones and links. */
export function zoneNames(): string[] {
  return [...packedZones.keys(), ...linkTargets.keys()];
}

/** The history of a zone or link, spelled exactly as in the database; null if there is no such name. */
export function findZoneHistory(name: string): ZoneHistory | null {
  const zoneName = linkTargets.get(name) ?? name;
  const known = unpacked.get(zoneName);
  if (known !== undefined) return known;
  const packed = packedZones.get(zoneName);
  if (packed === undefined) return null;
  const history = unpackZone(packed);
  unpacked.set(zoneName, history);
  return history;
}

function unpackZone(packed: string): ZoneHistory {
  const [, , offsetsText, indexesText, untilsText] = packed.split("|") as [
    string,
    string,
    string,
    string,
    string,
  ];
  const offsets = offsetsText.split(" ").map(wholeSeconds);
  const indexes = [...indexesText].map(parseBase60);
  const steps = untilsText === "" ? [] : untilsText.split(" ").map(wholeSeconds);
  let untilSeconds = 0;
  const untilMs = steps.map((step) => {
    untilSeconds += step;
    return untilSeconds * 1000;
  });
  return {
    untilMs: Float64Array.of(...untilMs, Infinity),
    offsetMinutes: Float64Array.from(indexes, (index) => (0 - offsets[index]!) / 60), // From 0, so never -0.
  };
}

/** Minutes in base 60 as whole seconds: fractions are seconds, and sums of fractions would drift. */
function wholeSeconds(minutes: string): number {
  return Math.round(parseBase60(minutes) * 60);
}

/** Base 60 with digits `0-9a-zA-X`, a sign and one fraction digit or more after a dot. */
function parseBase60(text: string): number {
  const negative = text.startsWith("-");
  const [whole, fraction = ""] = (negative ? text.slice(1) : text).split(".");
  let value = 0;
  for (let i = 0; i < whole!.length; i++) value = value * 60 + base60Digit(whole!.charCodeAt(i));
  let weight = 1;
  for (let i = 0; i < fraction.length; i++) {
    weight /= 60;
    value += base60Digit(fraction.charCodeAt(i)) * weight;
  }
  return negative ? -value : value;
}

function base60Digit(code: number): number {
  if (code >= 97) return code - 87; // a-z are 10 to 35.
  if (code >= 65) return code - 29; // A-X are 36 to 59.
  return code - 48;
}
