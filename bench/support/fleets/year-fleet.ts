import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import {
  type LocationField,
  NUMBER_FIELDS,
  numberIndex,
  PROFILE_FIELDS,
  STATE_FIELDS,
} from "../../../src/model/location-fields.ts";
import type { ReportBatch } from "../../../src/model/report-batch.ts";
import { type BostonReport, readBoston } from "./boston.ts";
import { createRandom, pick, type Random } from "./random.ts";

/*
 * A seeded fleet with full reports every minute along real tracks, for any duration. Any minute of any device can be
 * computed, for late reports and for checks.
 */
export interface YearFleet {
  readonly deviceIds: readonly string[];
  /** Reports of all or some devices for some minutes, in order of time. */
  batch(startMs: number, minutes: number, devices?: readonly number[]): ReportBatch;
}

export interface YearFleetOptions {
  readonly devices: number;
  readonly seed: number;
  /** The maximum number of track positions to read; defaults to all. */
  readonly positionsMax?: number;
}

const MS_PER_MINUTE = 60_000;
const METERS_PER_DEGREE = 111_195;
const LIVERPOOL = join(import.meta.dir, "../../../data/samples/bus_liverpool_route14_20260126.csv.gz");

const NUMBER = {
  latitude: numberIndex("latitude"),
  longitude: numberIndex("longitude"),
  horizontalAccuracy: numberIndex("horizontal_accuracy"),
  verticalAccuracy: numberIndex("vertical_accuracy"),
  altitude: numberIndex("altitude"),
  speed: numberIndex("speed"),
  bearing: numberIndex("bearing"),
  battery: numberIndex("battery_level"),
} as const;

export function createYearFleet({ devices, seed, positionsMax }: YearFleetOptions): YearFleet {
  const random = createRandom(seed);
  const paths = readPaths(positionsMax);
  const texts = createTexts();
  const fleet = Array.from({ length: devices }, (_, index) =>
    createMember(index, paths[index % paths.length]!, texts, random),
  );
  const states = createStates(texts);
  const profiles = Uint32Array.from(fleet.flatMap(({ profile }) => profile));
  const everybody = fleet.map((_, index) => index);

  return {
    deviceIds: fleet.map(({ id }) => id),
    batch(startMs, minutes, chosen = everybody) {
      const count = minutes * chosen.length;
      const columns = createColumns(count);
      let row = 0;
      for (let minute = startMs / MS_PER_MINUTE; row < count; minute++) {
        for (const index of chosen) writeReport(columns, row++, fleet[index]!, index, minute);
      }
      return { ...columns, count, texts: texts.all, profiles, states };
    },
  };
}

type Columns = ReturnType<typeof createColumns>;

function createColumns(count: number) {
  return {
    device: new Uint32Array(count),
    timestampMs: new Float64Array(count),
    numbers: NUMBER_FIELDS.map(() => new Float64Array(count)),
    profile: new Uint32Array(count),
    state: new Uint32Array(count),
  };
}

/** The constant properties of a device. */
interface Member {
  readonly id: string;
  readonly text: number;
  readonly profile: readonly number[];
  readonly path: Path;
  /** Its step on the path at minute 0 of Unix time, and its offset from the path in millionths of a degree. */
  readonly startStep: number;
  readonly northMicro: number;
  readonly eastMicro: number;
  readonly noise: number;
}

function createMember(index: number, path: Path, texts: Texts, random: Random): Member {
  const id = `device-${String(index).padStart(6, "0")}`;
  const [brand, model, os, osVersion] = pick(random, MODELS);
  const values: Readonly<Record<string, string>> = {
    user_id: `user-${String(index >> 1).padStart(6, "0")}`,
    tz_offset: "-300",
    brand,
    model,
    os,
    os_version: osVersion,
    sdk_version: "3.2.1",
    app_version_name: "5.4.0",
    app_version_code: "50400",
  };
  return {
    id,
    text: texts.add(id),
    profile: PROFILE_FIELDS.map(({ name }) => texts.add(values[name]!)),
    path,
    startStep: Math.floor(random() * path.count * 2),
    northMicro: Math.floor((random() - 0.5) * 20_000),
    eastMicro: Math.floor((random() - 0.5) * 20_000),
    noise: Math.floor(random() * 2 ** 32),
  };
}

const MODELS = [
  ["Google", "Pixel 8", "android", "15"],
  ["samsung", "SM-S921B", "android", "15"],
  ["Xiaomi", "23049PCD8G", "android", "14"],
  ["Apple", "iPhone15,2", "ios", "18.1"],
] as const;

/** Uses phones' decimals: six for degrees, one or two for the rest. */
function writeReport(columns: Columns, row: number, member: Member, index: number, minute: number): void {
  const { path, text, startStep, northMicro, eastMicro, noise } = member;
  const { numbers } = columns;
  const dice = mixed(noise + minute);
  const more = mixed(dice);
  // Follows the path back and forth, since a jump from its end to its start would not be a track.
  const round = (startStep + minute) % (path.count * 2);
  const isForth = round < path.count;
  const step = isForth ? round : path.count * 2 - 1 - round;
  const speed = path.speed[step]!;
  const battery = 100 - Math.floor(((minute + index * 37) % 950) / 10);

  columns.device[row] = text;
  columns.timestampMs[row] = minute * MS_PER_MINUTE + ((index * 37) % MS_PER_MINUTE);
  numbers[NUMBER.latitude]![row] = (path.northMicro[step]! + northMicro + (dice & 15)) / 1e6;
  numbers[NUMBER.longitude]![row] = (path.eastMicro[step]! + eastMicro + ((dice >>> 4) & 15)) / 1e6;
  numbers[NUMBER.horizontalAccuracy]![row] = (300 + ((dice >>> 8) % 2000)) / 100;
  numbers[NUMBER.verticalAccuracy]![row] = (200 + (more % 1000)) / 100;
  numbers[NUMBER.altitude]![row] = (50 + ((more >>> 10) % 400)) / 10;
  numbers[NUMBER.speed]![row] = speed;
  numbers[NUMBER.bearing]![row] = isForth ? path.bearing[step]! : (path.bearing[step]! + 180) % 360;
  numbers[NUMBER.battery]![row] = battery;
  columns.profile[row] = index;
  columns.state[row] = (speed > 0 ? 1 : 0) + (battery > 95 ? 2 : 0) + ((more >>> 20) % 20 > 0 ? 4 : 0);
}

/** The final mix of murmur3: neighbouring numbers give unlike results. Integers below 2^32. */
function mixed(value: number): number {
  let bits = value >>> 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}

/** All states, numbered by three bits: moving, charging, with a network. */
function createStates(texts: Texts): Uint32Array {
  const states = Array.from({ length: 8 }, (_, bits) => {
    const isMoving = (bits & 1) !== 0;
    const values: Readonly<Record<string, string>> = {
      type: isMoving ? "MOVING" : "STATIONARY",
      battery_status: (bits & 2) !== 0 ? "Charging" : "Not Charging",
      network_status: String((bits & 4) !== 0),
      location_permission: "true",
      is_mock: "false",
      tracking_mode: isMoving ? "PRECISE" : "BALANCED",
    };
    return STATE_FIELDS.map(({ name }: LocationField) => texts.add(values[name]!));
  });
  return Uint32Array.from(states.flat());
}

type Texts = ReturnType<typeof createTexts>;

function createTexts() {
  const all = [""]; // Index 0 means "not carried".
  const indexes = new Map<string, number>();
  return {
    all,
    add(text: string): number {
      const index = indexes.get(text) ?? all.push(text) - 1;
      indexes.set(text, index);
      return index;
    },
  };
}

/** A real vehicle's path, one position per step. */
interface Path {
  readonly count: number;
  /** Millionths of a degree. */
  readonly northMicro: Float64Array;
  readonly eastMicro: Float64Array;
  /** Changes from the step before: meters per second for steps of a minute, and degrees. */
  readonly speed: Float64Array;
  readonly bearing: Float64Array;
}

type Position = Pick<BostonReport, "device_id" | "latitude" | "longitude">;

/** The vehicles' tracks, the longest first. */
function readPaths(positionsMax?: number): Path[] {
  const positions: readonly Position[] = readBoston(positionsMax) ?? readLiverpool();
  const byDevice = Map.groupBy(positions, ({ device_id }) => device_id);
  return [...byDevice.values()].sort((a, b) => b.length - a.length).map(pathOf);
}

function readLiverpool(): Position[] {
  const lines = gunzipSync(readFileSync(LIVERPOOL)).toString("utf8").trimEnd().split("\n").slice(1);
  return lines.map((line) => {
    const [device_id, , latitude, longitude] = line.split(",");
    return { device_id: device_id!, latitude: Number(latitude), longitude: Number(longitude) };
  });
}

function pathOf(positions: readonly Position[]): Path {
  const count = positions.length;
  const path = {
    count,
    northMicro: Float64Array.from(positions, ({ latitude }) => Math.round(latitude * 1e6)),
    eastMicro: Float64Array.from(positions, ({ longitude }) => Math.round(longitude * 1e6)),
    speed: new Float64Array(count),
    bearing: new Float64Array(count),
  };
  for (let step = 1; step < count; step++) {
    const [from, to] = [positions[step - 1]!, positions[step]!];
    const north = (to.latitude - from.latitude) * METERS_PER_DEGREE;
    const east =
      (to.longitude - from.longitude) * METERS_PER_DEGREE * Math.cos((to.latitude * Math.PI) / 180);
    path.speed[step] = Math.round((Math.hypot(north, east) / 60) * 100) / 100;
    path.bearing[step] = (Math.round((Math.atan2(east, north) * 1800) / Math.PI + 3600) % 3600) / 10;
  }
  return path;
}
