import type { ClientMessage, ClientName } from "../../../src/clients/client.ts";
import type { Content } from "../../../src/clients/content.ts";

/* One fix in the format of each client, with its units and rounding. */

export interface Fix {
  readonly timestampMs: number;
  readonly latitude: number;
  readonly longitude: number;
  readonly speedMps: number;
}

export interface Dialect {
  readonly title: string;
  /** The path that the client's user configures. */
  readonly path: ClientName;
  /** The maximum error of the speed by the client's rounding. */
  readonly roundingMps: number;
  write(fix: Fix): Written;
}

type Written = Partial<ClientMessage> & { readonly content: Content };

const KMH_PER_MPS = 3.6;
const KNOTS_PER_MPS = 1 / 0.514444;

/** Our rounding of a converted speed, and a margin for the clients' conversion constants. */
const CONVERTED = 0.002;

function json(value: unknown): Written {
  return { content: { kind: "json", value } };
}

function query(parameters: Record<string, string | number>): Written {
  return { content: { kind: "empty" }, query: parametersOf(parameters) };
}

function form(parameters: Record<string, string | number>): Written {
  return { content: { kind: "text", text: parametersOf(parameters).toString() } };
}

function parametersOf(parameters: Record<string, string | number>): URLSearchParams {
  return new URLSearchParams(Object.entries(parameters).map(([name, value]) => [name, String(value)]));
}

function seconds({ timestampMs }: Fix): number {
  return timestampMs / 1000;
}

function iso({ timestampMs }: Fix): string {
  return new Date(timestampMs).toISOString().replace(".000Z", "Z");
}

function feature(fix: Fix, speed: number): unknown {
  return {
    type: "Feature",
    geometry: { type: "Point", coordinates: [fix.longitude, fix.latitude] },
    properties: { timestamp: iso(fix), speed, horizontal_accuracy: 5, device_id: "van" },
  };
}

function place({ latitude, longitude }: Fix) {
  return { lat: latitude, lon: longitude };
}

/** `dddmm.mmmmm` for degrees. */
function minutes(degrees: number): string {
  const whole = Math.trunc(degrees);
  return `${whole}${((degrees - whole) * 60).toFixed(5).padStart(8, "0")}`;
}

function gprmc(fix: Fix): string {
  const time = iso(fix);
  const clock = time.slice(11, 19).replaceAll(":", "");
  const date = `${time.slice(8, 10)}${time.slice(5, 7)}${time.slice(2, 4)}`;
  const position = `${minutes(fix.latitude)},N,${minutes(fix.longitude)},E`;
  return `$GPRMC,${clock},A,${position},${(fix.speedMps * KNOTS_PER_MPS).toFixed(6)},90,${date},,`;
}

const OWNTRACKS: readonly Dialect[] = [
  {
    title: "OwnTracks for Android: whole km/h, cut",
    path: "owntracks",
    roundingMps: 1 / KMH_PER_MPS + CONVERTED,
    write: (fix) =>
      json({
        _type: "location",
        topic: "owntracks/anna/van",
        ...place(fix),
        tst: seconds(fix),
        vel: Math.trunc(fix.speedMps * KMH_PER_MPS),
      }),
  },
  {
    title: "OwnTracks by a broker: whole km/h, cut",
    path: "owntracks",
    roundingMps: 1 / KMH_PER_MPS + CONVERTED,
    write: (fix) => ({
      ...json({
        _type: "location",
        ...place(fix),
        tst: seconds(fix),
        vel: Math.trunc(fix.speedMps * KMH_PER_MPS),
      }),
      topic: "owntracks/anna/van",
    }),
  },
  {
    title: "an imitator of OwnTracks: m/s",
    path: "owntracks",
    roundingMps: 0,
    write: (fix) =>
      json({ _type: "location", tid: "va", ...place(fix), tst: seconds(fix), vel: fix.speedMps }),
  },
];

const OVERLAND: readonly Dialect[] = [
  {
    title: "Overland: whole m/s",
    path: "overland",
    roundingMps: 0.5,
    write: (fix) => json({ locations: [feature(fix, Math.round(fix.speedMps))] }),
  },
  {
    title: "Colota in Overland's words: m/s with a decimal",
    path: "overland",
    roundingMps: 0.05,
    write: (fix) => json({ locations: [feature(fix, Number(fix.speedMps.toFixed(1)))], device_id: "van" }),
  },
];

const TRACCAR: readonly Dialect[] = [
  {
    title: "Traccar Client 8: knots in a query",
    path: "traccar",
    roundingMps: CONVERTED,
    write: (fix) =>
      query({
        id: "van",
        ...place(fix),
        timestamp: seconds(fix),
        speed: fix.speedMps * 1.943844,
        accuracy: 5,
      }),
  },
  {
    title: "Traccar Client 9: m/s in JSON",
    path: "traccar",
    roundingMps: 0,
    write: (fix) => {
      const coords = { latitude: fix.latitude, longitude: fix.longitude, speed: fix.speedMps, accuracy: 5 };
      return json({ location: { timestamp: iso(fix), coords }, device_id: "van" });
    },
  },
  {
    title: "Traccar Client 10: knots with two decimals in a form",
    path: "traccar",
    roundingMps: 0.005,
    write: (fix) =>
      form({
        id: "van",
        ...place(fix),
        timestamp: seconds(fix),
        speed: (fix.speedMps * KNOTS_PER_MPS).toFixed(2),
      }),
  },
  {
    title: "Dawarich's app: m/s",
    path: "traccar",
    roundingMps: 0,
    write: (fix) => {
      const { latitude, longitude, speedMps: speed } = fix;
      return json({ device_id: "van", location: { timestamp: iso(fix), latitude, longitude, speed } });
    },
  },
  {
    title: "a Traccar server: knots",
    path: "traccar-forward",
    roundingMps: CONVERTED,
    write: (fix) => {
      const { latitude, longitude } = fix;
      const speed = fix.speedMps * KNOTS_PER_MPS;
      const position = { fixTime: iso(fix), valid: true, latitude, longitude, speed };
      return json({ position, device: { uniqueId: "van" } });
    },
  },
];

const OSMAND: readonly Dialect[] = [
  {
    title: "OsmAnd: m/s",
    path: "osmand",
    roundingMps: 0,
    write: (fix) => query({ ...place(fix), timestamp: fix.timestampMs, hdop: 5, speed: fix.speedMps }),
  },
  {
    title: "Colota in Traccar's parameters: m/s with a decimal",
    path: "osmand",
    roundingMps: 0.05,
    write: (fix) =>
      query({ id: "van", ...place(fix), timestamp: seconds(fix), speed: fix.speedMps.toFixed(1) }),
  },
  {
    title: "Colota in Traccar's JSON: m/s",
    path: "osmand",
    roundingMps: 0,
    write: (fix) => {
      const coords = { latitude: fix.latitude, longitude: fix.longitude, speed: fix.speedMps };
      return json({ location: { timestamp: iso(fix), coords }, device_id: "van" });
    },
  },
];

const GPSLOGGER: readonly Dialect[] = [
  {
    title: "GPSLogger: m/s, and km/h beside them",
    path: "gpslogger",
    roundingMps: 0,
    write: (fix) =>
      query({
        ...place(fix),
        time: iso(fix),
        acc: 5,
        spd_kph: fix.speedMps * KMH_PER_MPS,
        spd: fix.speedMps,
      }),
  },
  {
    title: "GPSLogger with km/h alone",
    path: "gpslogger",
    roundingMps: CONVERTED,
    write: (fix) => query({ ...place(fix), timestamp: seconds(fix), spd_kph: fix.speedMps * KMH_PER_MPS }),
  },
  {
    title: "GPSLogger with the body that everybody copies: m/s in texts",
    path: "gpslogger",
    roundingMps: 0,
    write: (fix) =>
      json({
        _type: "location",
        t: "u",
        lat: String(fix.latitude),
        lon: String(fix.longitude),
        tst: String(seconds(fix)),
        vel: String(fix.speedMps),
      }),
  },
  {
    title: "GPSLogger in OpenGTS mode: knots in a sentence",
    path: "opengts",
    roundingMps: CONVERTED,
    write: (fix) => query({ id: "van", dev: "van", acct: "van", gprmc: gprmc(fix) }),
  },
];

const COLOTA: readonly Dialect[] = [
  {
    title: "Colota: m/s with a decimal",
    path: "colota",
    roundingMps: 0.05,
    write: (fix) => json({ ...place(fix), tst: seconds(fix), vel: Number(fix.speedMps.toFixed(1)) }),
  },
  {
    title: "Colota in OwnTracks' words: m/s with a decimal",
    path: "colota",
    roundingMps: 0.05,
    write: (fix) =>
      json({
        _type: "location",
        tid: "AA",
        ...place(fix),
        tst: seconds(fix),
        vel: Number(fix.speedMps.toFixed(1)),
      }),
  },
  {
    title: "Colota in PhoneTrack's words: m/s with a decimal",
    path: "colota",
    roundingMps: 0.05,
    write: (fix) =>
      json({
        useragent: "Colota",
        ...place(fix),
        timestamp: seconds(fix),
        speed: Number(fix.speedMps.toFixed(1)),
      }),
  },
];

const OTHERS: readonly Dialect[] = [
  {
    title: "a rest_command of Home Assistant: m/s",
    path: "homeassistant",
    roundingMps: 0,
    write: (fix) => {
      const { latitude, longitude, speedMps: speed } = fix;
      return json({ device_id: "van", timestamp: iso(fix), location: { latitude, longitude, speed } });
    },
  },
  {
    title: "PhoneTrack: m/s",
    path: "phonetrack",
    roundingMps: 0,
    write: (fix) => form({ ...place(fix), timestamp: seconds(fix), speed: fix.speedMps }),
  },
  {
    title: "PhoneTrack in rows: m/s",
    path: "phonetrack",
    roundingMps: 0,
    write: (fix) => {
      const row = [
        fix.latitude,
        fix.longitude,
        seconds(fix),
        null,
        5,
        81,
        12,
        "PhoneTrack",
        fix.speedMps,
        90,
      ];
      return json({ points: [row] });
    },
  },
];

export const DIALECTS: readonly Dialect[] = [
  ...OWNTRACKS,
  ...OVERLAND,
  ...TRACCAR,
  ...OSMAND,
  ...GPSLOGGER,
  ...COLOTA,
  ...OTHERS,
];
