import { type Client, send } from "./client.ts";

/* Devices that go in and out of a geofence, once a second. */

const CENTER = [30, 40] as const;

/** Makes a geofence around a longitude and latitude. A device whose first position is inside enters it. */
export function makeFence(client: Client, coordinates: readonly [number, number] = CENTER): Promise<unknown> {
  return send(client, "POST", "/api/v1/geofences", {
    type: "Feature",
    geometry: { type: "Point", coordinates },
    properties: { radius_meters: 100, initial: "event" },
  });
}

export const stepMs = (startMs: number, step: number) => startMs + step * 1000;

/** The reports of all devices at a step: inside the geofence at even steps, outside at odd ones. */
export function crossings(devices: number, startMs: number, step: number) {
  return Array.from({ length: devices }, (_, device) => ({
    device_id: `device-${device}`,
    timestamp: stepMs(startMs, step),
    latitude: step % 2 === 0 ? 40 : 41,
    longitude: 30,
  }));
}
