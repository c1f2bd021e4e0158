import { expect, test } from "bun:test";
import { AskedCity } from "../../../bench/support/beside/asked-city.ts";
import { batchesOf } from "../../../bench/support/fleets/batches.ts";
import type { FullReport } from "../../../bench/support/fleets/fleet.ts";
import { createMetropolis } from "../../../bench/support/fleets/metropolis.ts";
import { MovingDevices } from "../../../bench/support/fleets/moving-devices.ts";
import { createManualClock } from "../../../src/model/time/clock.ts";

const NOW_MS = Date.UTC(2026, 10, 21);
const PATH = "/api/v1/devices/nearby?latitude=42.36&longitude=-71.06&radius_miles=50&limit=1000";
const metropolis = createMetropolis({ devices: 30, seed: 3, nowMs: NOW_MS });

function locationsOf(body: Uint8Array): FullReport[] {
  return (JSON.parse(new TextDecoder().decode(body)) as { locations: FullReport[] }).locations;
}

test("MovingDevices reports every device once before any comes again, close to where it was", () => {
  const devices = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29];
  const moving = new MovingDevices({ metropolis, devices, batchSize: 5, seed: 4 });
  const laps = [1, 2].map((lap) =>
    [moving.body(NOW_MS + lap), moving.body(NOW_MS + lap)].flatMap(locationsOf),
  );
  for (const [lap, reports] of laps.entries()) {
    expect(reports.map(({ device_id }) => device_id).sort()).toEqual(devices.map(metropolis.deviceId));
    for (const { device_id, timestamp, latitude, longitude, model, user_id } of reports) {
      const index = Number(String(device_id).slice("device-".length));
      expect(timestamp).toBe(NOW_MS + lap + 1);
      expect(Math.abs(Number(latitude) - metropolis.latitude[index]!)).toBeLessThan(0.001);
      expect(Math.abs(Number(longitude) - metropolis.longitude[index]!)).toBeLessThan(0.001);
      expect(metropolis.report(index)).toMatchObject({ model, user_id } as object);
    }
  }
  expect(laps[0]!.map(({ latitude }) => latitude)).not.toEqual(laps[1]!.map(({ latitude }) => latitude));
});

test("AskedCity answers with what was reported last", async () => {
  const clock = createManualClock(NOW_MS);
  const city = new AskedCity(clock);
  const ask = async () => {
    const body = JSON.parse(Buffer.from(await city.ask(PATH)).toString()) as {
      results: { location: FullReport }[];
    };
    return body.results.map(({ location }) => location);
  };
  const reports = Array.from({ length: 30 }, (_, index) => ({
    ...metropolis.report(index),
    timestamp: NOW_MS,
  }));
  for (const batch of batchesOf(reports, 10)) city.apply(batch);
  expect((await ask()).length).toBe(30);
  const moved: FullReport = { ...reports[4]!, timestamp: NOW_MS + 5, latitude: 42.5 };
  clock.advance(5);
  for (const batch of batchesOf([moved], 1)) city.apply(batch);
  const { app_id, ...location } = (await ask()).find(({ device_id }) => device_id === moved.device_id)!;
  const { timestamp, latitude, speed } = moved;
  expect(location).toMatchObject({ timestamp, latitude, speed } as object);
});
