import { createRandom, pick, type Random } from "./random.ts";

/** A report with all fields. */
export type FullReport = Readonly<Record<string, string | number | boolean>>;

const MODELS = [
  ["Google", "Pixel 8", "android", "15"],
  ["Google", "Pixel 9 Pro", "android", "16"],
  ["samsung", "SM-S921B", "android", "15"],
  ["samsung", "SM-A546B", "android", "14"],
  ["Xiaomi", "23049PCD8G", "android", "14"],
  ["Apple", "iPhone15,2", "ios", "18.1"],
] as const;

export interface FleetOptions {
  readonly devices: number;
  readonly seed: number;
  /** The time of the first round of reports. */
  readonly startMs: number;
  readonly stepMs: number;
}

/**
 * A seeded fleet that walks around Boston: `next(round)` returns each device's report of that round, with all fields
 * and phones' decimals (six for degrees, one or two for the rest).
 */
export function createFleet({ devices, seed, startMs, stepMs }: FleetOptions) {
  const random = createRandom(seed);
  const walkers = Array.from({ length: devices }, (_, index) => createWalker(index, random));
  return {
    round(round: number): FullReport[] {
      return walkers.map((walker, index) => walker(startMs + round * stepMs + (index % stepMs)));
    },
  };
}

function createWalker(index: number, random: Random): (timestampMs: number) => FullReport {
  const [brand, model, os, osVersion] = pick(random, MODELS);
  const deviceId = `device-${String(index).padStart(6, "0")}`;
  let latitude = 42.36 + (random() - 0.5) * 0.3;
  let longitude = -71.06 + (random() - 0.5) * 0.3;
  let bearing = random() * 360;
  let battery = 30 + random() * 70;
  return (timestampMs) => {
    const isMoving = random() < 0.7;
    const speed = isMoving ? random() * 20 : 0;
    bearing = (bearing + (random() - 0.5) * 40 + 360) % 360;
    latitude += Math.cos((bearing * Math.PI) / 180) * speed * 1e-5;
    longitude += Math.sin((bearing * Math.PI) / 180) * speed * 1e-5;
    battery = battery < 5 ? 100 : battery - random() * 0.2;
    return {
      device_id: deviceId,
      user_id: `user-${String(index >> 1).padStart(6, "0")}`,
      timestamp: timestampMs,
      latitude: rounded(latitude, 6),
      longitude: rounded(longitude, 6),
      horizontal_accuracy: rounded(3 + random() * 20, 2),
      vertical_accuracy: rounded(2 + random() * 10, 2),
      altitude: rounded(5 + random() * 40, 1),
      speed: rounded(speed, 2),
      bearing: rounded(bearing, 1),
      type: isMoving ? "MOVING" : "STATIONARY",
      battery_level: Math.round(battery),
      battery_status: battery > 95 ? "Charging" : "Not Charging",
      network_status: random() < 0.95,
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
  };
}

function rounded(value: number, decimals: number): number {
  return Number(value.toFixed(decimals));
}
