import { createRandom, pick, type Random } from "../fleets/random.ts";
import type { History } from "./history.ts";

/*
 * Google's `Records.json` in Takeout's format since 2022: indented, two phones of one account, every other position
 * with guesses of an activity, every eighth with the Wi-Fi networks in range. Some 740 bytes a position.
 */

const LOCATIONS_PER_PIECE = 256;
const PHONES = [1234567890, -99887766];
const ACTIVITIES = ["STILL", "IN_VEHICLE", "ON_FOOT", "WALKING", "ON_BICYCLE", "UNKNOWN"];
/** Small enough that 2 GB of positions fit into a year. */
const STEP_MS_MAX = 10_000;
/** Less than the average position, so that the last one is not later than requested. */
const LOCATION_BYTES_MIN = 600;

const HEAD = '{\n  "locations": [';
const TAIL = "]\n}\n";

export const googleRecordsHistory: History = {
  format: "google-records",
  fileName: "Records.json",
  bytesMax: Infinity,
  *pieces({ seed, bytesMin, endMs }) {
    const random = createRandom(seed);
    let timestampMs = endMs - (bytesMin / LOCATION_BYTES_MIN) * STEP_MS_MAX;
    let bytes = 0;
    for (let isFirst = true; isFirst || bytes < bytesMin; isFirst = false) {
      const locations: string[] = [];
      for (let index = 0; index < LOCATIONS_PER_PIECE && (bytes < bytesMin || bytes === 0); index++) {
        const text = indented(locationOf(random, timestampMs));
        timestampMs += Math.ceil(random() * STEP_MS_MAX);
        bytes += text.length;
        locations.push(text);
      }
      yield `${isFirst ? HEAD : ", "}${locations.join(", ")}`;
    }
    yield TAIL;
  },
  parse(piece) {
    if (piece === TAIL) return 0;
    const list = piece.startsWith(HEAD) ? piece.slice(HEAD.length) : piece.slice(2);
    return (JSON.parse(`[${list}]`) as unknown[]).length;
  },
};

/** Indents a location inside the list of the object. */
function indented(location: object): string {
  return JSON.stringify(location, null, 2).replaceAll("\n", "\n  ");
}

function locationOf(random: Random, timestampMs: number): object {
  const time = (beforeMs: number) => new Date(timestampMs - Math.floor(beforeMs)).toISOString();
  const isGps = random() < 0.4;
  return {
    latitudeE7: 525_000_000 + Math.floor(random() * 400_000),
    longitudeE7: 134_000_000 + Math.floor(random() * 400_000),
    accuracy: 3 + Math.floor(random() * 60),
    ...(isGps ? { velocity: Math.floor(random() * 30), heading: Math.floor(random() * 360) } : {}),
    ...(isGps ? { altitude: 30 + Math.floor(random() * 20), verticalAccuracy: 2 } : {}),
    ...(random() < 0.5 ? { activity: [activityOf(random, time(random() * 4000))] } : {}),
    source: isGps ? "GPS" : "WIFI",
    deviceTag: pick(random, PHONES),
    platformType: "ANDROID",
    ...(random() < 0.125 ? { activeWifiScan: { accessPoints: accessPointsOf(random) } } : {}),
    osLevel: 31,
    serverTimestamp: time(-60_000),
    deviceTimestamp: time(-30_000),
    batteryCharging: random() < 0.2,
    formFactor: "PHONE",
    timestamp: time(0),
  };
}

function activityOf(random: Random, timestamp: string): object {
  const guesses = Array.from({ length: 1 + Math.floor(random() * 4) }, (_, index) => ({
    type: pick(random, ACTIVITIES),
    confidence: Math.floor(100 / (index + 1) ** 2),
  }));
  return { activity: guesses, timestamp };
}

function accessPointsOf(random: Random): object[] {
  return Array.from({ length: 4 + Math.floor(random() * 12) }, () => ({
    mac: String(Math.floor(random() * 2 ** 48)),
    strength: -40 - Math.floor(random() * 50),
    frequencyMhz: pick(random, [2412, 2437, 2462, 5180, 5500]),
  }));
}
