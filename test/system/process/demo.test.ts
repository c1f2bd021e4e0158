import { afterEach, beforeEach, describe, expect } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fetchKnownDevices } from "../../../src/cli/demo/run.ts";
import { parseCommand } from "../../../src/cli/parse-command.ts";
import {
  closePlace,
  openPlace,
  type Place,
  RUNTIMES,
  readFirstKey,
  runCommand,
  startDemo,
} from "../../support/server-process.ts";
import { until } from "../../support/until.ts";
import { test } from "../support/process-test.ts";

/*
 * Goal: the demo shows devices that move, and goes on where it was. Method: the real program, asked as anybody would.
 */

let place: Place;

beforeEach(() => {
  place = openPlace();
});

afterEach(() => closePlace(place));

describe.each(RUNTIMES)("demo on $name", (runtime) => {
  test("moves devices of all samples, stops, and goes on", async () => {
    const server = await startDemo(runtime, place, ["--speed", "30"]);
    const key = readFirstKey(place);
    const before = await fetchKnownDevices(server.url, key);
    const ids = new Set<string>();
    let last = before;
    await until(async () => {
      last = await fetchKnownDevices(server.url, key);
      for (const [id, { latitude, longitude }] of last) {
        const was = before.get(id);
        if (was?.latitude !== latitude || was.longitude !== longitude) ids.add(id);
      }
      return last.size >= 1_399 && ["4716", "limerick-304"].every((id) => ids.has(id));
    });
    const beside = await runCommand(runtime, place, ["demo"]);
    expect([beside.code, beside.error]).toEqual([
      1,
      `The data directory "${place.dataDir}" is in use by process ${server.pid} (demo), which listens at ${server.url}. ` +
        "Stop it with Ctrl-C, or give this demo another directory with --data-dir.\n",
    ]);
    expect((await server.stop()).code).toBe(0);

    const again = await startDemo(runtime, place, ["--speed", "1"]);
    expect(readFirstKey(place)).toBe(key);
    const next = await fetchKnownDevices(again.url, key);
    expect([...next.keys()].sort()).toEqual([...last.keys()].sort());
    for (const [id, { timestampMs }] of last)
      expect(next.get(id)!.timestampMs).toBeGreaterThanOrEqual(timestampMs);
    expect((await again.stop()).code).toBe(0);
  });

  test("plays a CSV of the operator's", async () => {
    const path = join(place.directory, "rides.csv");
    writeFileSync(
      path,
      "device,time,lat,lon\nann,1700000000,1,2\nann,1700000010,1.1,2\nann,1700000020,1.2,2\n",
    );
    const server = await startDemo(runtime, place, ["--file", path, "--speed", "1000"]);
    expect([...(await fetchKnownDevices(server.url, readFirstKey(place))).keys()]).toEqual(["ann"]);
    expect((await server.stop()).code).toBe(0);
  });

  test("says what can't be played, and begins no data directory", async () => {
    const path = join(place.directory, "empty.csv");
    writeFileSync(path, "device_id,timestamp,latitude,longitude\n");
    const { code, error } = await runCommand(runtime, place, ["demo", "--file", path]);
    expect([code, error]).toEqual([1, "The recording has no positions.\n"]);
    expect((await runCommand(runtime, place, ["demo", "--file", "nowhere.csv"])).error).toContain(
      "nowhere.csv",
    );
    expect(() => readFileSync(place.dataDir)).toThrow("ENOENT");
  });
});

test("demo never takes the data directory of the environment", () => {
  const parsed = parseCommand(["demo"], { WHEREHOUSE_DATA_DIR: "/srv/wherehouse" });
  expect(parsed).toMatchObject({
    ok: true,
    value: { options: { config: { dataDir: "data/demo", port: 0 }, speed: 20 } },
  });
});

test.each(["0", "0.5", "1001", "fast", "-3"])("demo refuses the speed %s", (speed) => {
  expect(parseCommand(["demo", "--speed", speed], {})).toMatchObject({ ok: false, error: { topic: "demo" } });
});
