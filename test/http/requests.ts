/** Every path that answers about data, for the user `driver` and the device `bus`. */
export const READ_PATHS = {
  userCurrent: "/api/v1/users/driver/locations/current",
  userHistory: "/api/v1/users/driver/locations/history",
  userDevices: "/api/v1/users/driver/devices",
  deviceCurrent: "/api/v1/devices/bus/locations/current",
  deviceHistory: "/api/v1/devices/bus/locations/history",
  appCurrent: "/api/v1/locations/current",
  appHistory: "/api/v1/locations/history",
  nearby: "/api/v1/devices/nearby?latitude=53.4&longitude=-2.9",
} as const;

export type ReadEndpoint = keyof typeof READ_PATHS;

export const READ_ENDPOINTS = Object.keys(READ_PATHS) as ReadEndpoint[];

/** Paths that need no key. */
export const OPEN_PATHS = ["/health", "/ready", "/docs"];

export const INGEST_PATH = "/ingest/v1/locations";

/** The endpoint's path with more parameters. */
export function withQuery(endpoint: ReadEndpoint, query: string): string {
  const path = READ_PATHS[endpoint];
  return `${path}${path.includes("?") ? "&" : "?"}${query}`;
}

/** A report that `READ_PATHS` find, to be spread and changed. */
export const BUS = { device_id: "bus", user_id: "driver", latitude: 53.4, longitude: -2.9 };

export const EARTH_RADIUS_METERS = 6_371_008.8;
export const METERS_PER_MILE = 1609.344;
/** One degree along a meridian, or along the equator. */
export const METERS_PER_DEGREE = (EARTH_RADIUS_METERS * Math.PI) / 180;
