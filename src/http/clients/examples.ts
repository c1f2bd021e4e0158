import type { ClientName } from "../../clients/client.ts";
import { EXAMPLE_REPORT } from "../shapes/record-schemas.ts";

/** A client's form of the report that the whole document uses as its example. */
export interface ClientExample {
  /** Null for clients that send only parameters. */
  readonly body: unknown;
  /** Null for clients that send only bodies. */
  readonly query: Readonly<Record<string, string>> | null;
}

const { latitude, longitude, timestamp: timestampMs } = EXAMPLE_REPORT as Readonly<Record<string, number>>;
const seconds = Math.trunc(timestampMs! / 1000);
const iso = new Date(seconds * 1000).toISOString();
const [lat, lon, timestamp] = [String(latitude), String(longitude), String(seconds)];
const query = { lat, lon, timestamp };

export const CLIENT_EXAMPLES: Readonly<Record<ClientName, ClientExample>> = {
  owntracks: {
    body: {
      _type: "location",
      topic: "owntracks/anna/pixel7",
      tid: "an",
      tst: seconds,
      lat: latitude,
      lon: longitude,
      acc: 12,
      vel: 36,
      cog: 90,
      batt: 80,
    },
    query: null,
  },
  overland: {
    body: {
      locations: [
        {
          type: "Feature",
          geometry: { type: "Point", coordinates: [longitude, latitude] },
          properties: {
            device_id: "pixel7",
            timestamp: iso,
            horizontal_accuracy: 12,
            speed: 10,
            course: 90,
            battery_level: 0.8,
            motion: ["driving"],
          },
        },
      ],
    },
    query: null,
  },
  traccar: {
    body: {
      device_id: "pixel7",
      location: { timestamp: iso, coords: { latitude, longitude, accuracy: 12, speed: 10, heading: 90 } },
    },
    query: { id: "pixel7", ...query, accuracy: "12.0", speed: "19.44", bearing: "90.0", batt: "80" },
  },
  osmand: {
    body: null,
    query: { ...query, hdop: "12.0", altitude: "30.0", speed: "10.0", bearing: "90.0" },
  },
  gpslogger: {
    body: null,
    query: { ...query, acc: "12.0", alt: "30.0", spd: "10.0", dir: "90.0", batt: "80.0", aid: "pixel7" },
  },
  opengts: {
    body: null,
    query: { dev: "pixel7", acct: "anna", gprmc: gprmc(), batt: "80" },
  },
  colota: {
    body: { lat: latitude, lon: longitude, acc: 12, vel: 10, batt: 80, bs: 1, tst: seconds, tid: "pixel7" },
    query: { lat, lon, acc: "12", vel: "10.0", batt: "80", bs: "1", tst: timestamp, tid: "pixel7" },
  },
  homeassistant: {
    body: {
      device_id: "pixel7",
      timestamp: iso,
      location: { latitude, longitude, accuracy: 12, speed: 10 },
      battery: { level: 80 },
    },
    query: null,
  },
  phonetrack: {
    body: null,
    query: { ...query, acc: "12", bat: "80", speed: "10", bearing: "90" },
  },
  "traccar-forward": {
    body: {
      position: {
        fixTime: iso,
        valid: true,
        latitude,
        longitude,
        altitude: 30,
        speed: 19.44,
        course: 90,
        accuracy: 12,
        attributes: { batteryLevel: 80, motion: true },
      },
      device: { uniqueId: "pixel7", name: "Anna's phone" },
    },
    query: null,
  },
};

/** In knots, degrees and minutes, without a checksum. */
function gprmc(): string {
  const [date, clock] = [
    iso.slice(2, 10).split("-").reverse().join(""),
    iso.slice(11, 19).replaceAll(":", ""),
  ];
  const [north, east] = [minutesOf(latitude!, "N", "S"), minutesOf(longitude!, "E", "W")];
  return `$GPRMC,${clock},A,${north},${east},19.44,90.0,${date},,`;
}

function minutesOf(degrees: number, positive: string, negative: string): string {
  const whole = Math.trunc(Math.abs(degrees));
  const minutes = ((Math.abs(degrees) - whole) * 60).toFixed(5).padStart(8, "0");
  return `${whole}${minutes},${degrees < 0 ? negative : positive}`;
}
