import type { FullReport } from "./fleet.ts";
import { createRandom, type Random } from "./random.ts";

/* A city of devices with only their newest positions. */

const CENTER_LATITUDE = 42.36;
const CENTER_LONGITUDE = -71.06;
const SIGMA_DEGREES = 0.15;
const AGE_MS_MAX = 7 * 86_400_000;

const MODELS = [
  ["Google", "Pixel 8", "android", "15"],
  ["Google", "Pixel 9 Pro", "android", "16"],
  ["samsung", "SM-S921B", "android", "15"],
  ["samsung", "SM-A546B", "android", "14"],
  ["Xiaomi", "23049PCD8G", "android", "14"],
  ["Apple", "iPhone15,2", "ios", "18.1"],
] as const;

export interface MetropolisOptions {
  readonly devices: number;
  readonly seed: number;
  /** The reference time of ages. */
  readonly nowMs: number;
}

/** The last position of each device of a city, in columns by device index. */
export interface Metropolis {
  readonly latitude: Float64Array;
  readonly longitude: Float64Array;
  readonly timestampMs: Float64Array;
  readonly accuracyMeters: Float64Array;
  deviceId(index: number): string;
  /** The device's report with all fields, and the values of the columns. */
  report(index: number): FullReport;
}

export interface Point {
  readonly latitude: number;
  readonly longitude: number;
}

/**
 * Seeded devices of one city: normally distributed in both degrees, with uniform ages of up to seven days. Degrees have
 * six decimals, as phones send them.
 */
export function createMetropolis({ devices, seed, nowMs }: MetropolisOptions): Metropolis {
  const random = createRandom(seed);
  const latitude = new Float64Array(devices);
  const longitude = new Float64Array(devices);
  const timestampMs = new Float64Array(devices);
  const accuracyMeters = new Float64Array(devices);
  for (let index = 0; index < devices; index++) {
    const point = drawPoint(random);
    latitude[index] = point.latitude;
    longitude[index] = point.longitude;
    timestampMs[index] = Math.floor(nowMs - random() * AGE_MS_MAX);
    accuracyMeters[index] = rounded(3 + random() * 20, 2);
  }
  const deviceId = (index: number) => `device-${String(index).padStart(6, "0")}`;
  return {
    latitude,
    longitude,
    timestampMs,
    accuracyMeters,
    deviceId,
    report(index) {
      // A separate seed per device, so that reports don't depend on their order.
      const own = createRandom(seed + index + 1);
      const [brand, model, os, osVersion] = MODELS[Math.floor(own() * MODELS.length)]!;
      const isMoving = own() < 0.7;
      const battery = Math.round(5 + own() * 95);
      return {
        device_id: deviceId(index),
        user_id: `user-${String(index >> 1).padStart(6, "0")}`,
        timestamp: timestampMs[index]!,
        latitude: latitude[index]!,
        longitude: longitude[index]!,
        horizontal_accuracy: accuracyMeters[index]!,
        vertical_accuracy: rounded(2 + own() * 10, 2),
        altitude: rounded(5 + own() * 40, 1),
        speed: isMoving ? rounded(own() * 20, 2) : 0,
        bearing: rounded(own() * 359, 1),
        type: isMoving ? "MOVING" : "STATIONARY",
        battery_level: battery,
        battery_status: battery > 95 ? "Charging" : "Not Charging",
        network_status: own() < 0.95,
        location_permission: true,
        is_mock: false,
        tracking_mode: isMoving ? "PRECISE" : "BALANCED",
        tz_offset: "-300",
        brand,
        model,
        os,
        os_version: osVersion,
        sdk_version: "3.2.1",
        app_version_name: "5.4.0",
        app_version_code: "50400",
      };
    },
  };
}

/** Points with the distribution of a metropolis' devices, such as query centers. */
export function drawPoints(count: number, seed: number): readonly Point[] {
  const random = createRandom(seed);
  return Array.from({ length: count }, () => drawPoint(random));
}

function drawPoint(random: Random): Point {
  return {
    latitude: rounded(CENTER_LATITUDE + normal(random) * SIGMA_DEGREES, 6),
    longitude: rounded(CENTER_LONGITUDE + normal(random) * SIGMA_DEGREES, 6),
  };
}

/** Box and Muller's method, one of its two numbers. */
function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

function rounded(value: number, decimals: number): number {
  return Number(value.toFixed(decimals));
}
