/**
 * Makes the fixture of this version for the test of upgrades: `bun test/system/release/make-upgrade.ts` writes a data
 * directory, as a tar file, and what a server answers about it, to `test/data/upgrades/VERSION`. The directory has one
 * of each thing that lasts: archived and recent days, a profile, a correction, a fence with events, an alert, and a
 * webhook, which is paused so that nothing is ever sent. Refused messages expire, so it has none.
 *
 * Until 0.2.0 is tagged, a format may change without migration; this program then makes the fixture of 0.2.0 again.
 * From 0.2.0 on each release adds a fixture of its own, and no fixture is made again.
 */

import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import manifest from "../../../package.json" with { type: "json" };
import {
  closePlace,
  openPlace,
  type Place,
  RUNTIMES,
  readFirstKey,
  runCommand,
  startReady,
} from "../../support/server-process.ts";
import { until } from "../../support/until.ts";
import { type Client, get, store } from "../support/client.ts";
import { type Answers, askAll, DIRECTORY_FILE, UPGRADES, writeAnswers } from "./upgrade-answers.ts";

const BYTES_MAX = 50_000;
const DAY_MS = 86_400_000;
const OLD_DAYS = 20;

/** These belong to the process that ran. */
const LEFT_OUT = ["*.lock", "*.sqlite-shm", "./lock", "./first-key", "./serving.json"].map(
  (pattern) => `--exclude=${pattern}`,
);

const runtime = RUNTIMES[0]!;
const folder = join(UPGRADES, manifest.version);
const place = openPlace();
try {
  await make(place);
} finally {
  await closePlace(place);
}

async function make({ dataDir }: Place): Promise<void> {
  const startMs = Date.now();
  const first = await startReady(runtime, place);
  await putOldRecords({ url: first.url, key: readFirstKey(place) }, startMs);
  await first.stop();
  await runWell("settings", "set", "retention", "forever");
  await runWell("seal");
  const server = await startReady(runtime, place);
  const client = { url: server.url, key: readFirstKey(place) };
  const fenceId = await putWatches(client);
  await putRecentRecords(client, startMs);
  await until(async () => (await countEvents(client)) === 2);
  const bodies = await askAll(client, pathsOf(fenceId, startMs));
  await server.stop();
  writeFixture(dataDir, { key: client.key, bodies });
}

async function runWell(...args: readonly string[]): Promise<void> {
  const { code, error } = await runCommand(runtime, place, args);
  if (code !== 0) throw new Error(error);
}

function writeFixture(dataDir: string, answers: Answers): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const file = join(folder, DIRECTORY_FILE);
  const packed = spawnSync("tar", ["-czf", file, "-C", dataDir, ...LEFT_OUT, "."], { encoding: "utf8" });
  if (packed.status !== 0) throw new Error(packed.stderr);
  if (statSync(file).size > BYTES_MAX) throw new Error(`The fixture has ${statSync(file).size} bytes`);
  writeAnswers(folder, answers);
}

async function countEvents(client: Client): Promise<number> {
  const { events } = (await (await get(client, "/api/v1/events")).json()) as { events: readonly unknown[] };
  return events.length;
}

async function send({ url, key }: Client, method: string, path: string, body: object) {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const response = await fetch(url + path, { method, headers, body: JSON.stringify(body) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
  return JSON.parse(text) as Readonly<Record<string, unknown>>;
}

/** Returns the fence's id. */
async function putWatches(client: Client): Promise<string> {
  const { webhook } = await send(client, "POST", "/api/v1/webhooks", {
    url: "https://hooks.example.com/upgrade",
    types: ["enter"],
  });
  await send(client, "POST", `/api/v1/webhooks/${idOf(webhook)}/pause`, {});
  await send(client, "POST", "/api/v1/alerts", { name: "Speeding", speed_above: 36.1 });
  const { geofence } = await send(client, "POST", "/api/v1/geofences", {
    type: "Feature",
    geometry: { type: "Point", coordinates: [-2.98, 53.41] },
    properties: { name: "Depot", radius_meters: 200 },
  });
  return idOf(geofence);
}

function idOf(item: unknown): string {
  return (item as { readonly id: string }).id;
}

function reportOf(device_id: string, timestamp: number, latitude: number) {
  const other = { speed: 8.25, horizontal_accuracy: 5, battery_level: 81 };
  return { device_id, user_id: "ada", timestamp, latitude, longitude: -2.98, ...other };
}

/** Reports of a day, a minute apart. */
async function putDay(client: Client, dayMs: number): Promise<void> {
  const steps = Array.from({ length: 20 }, (_, step) => step);
  await store(
    client,
    steps.map((step) => reportOf("tram", dayMs + step * 60_000, 53 + step / 1000)),
  );
}

async function putOldRecords(client: Client, startMs: number): Promise<void> {
  for (const days of [OLD_DAYS, OLD_DAYS - 1]) await putDay(client, startMs - days * DAY_MS);
}

async function putRecentRecords(client: Client, startMs: number): Promise<void> {
  const dayMs = startMs - 2 * DAY_MS;
  await putDay(client, dayMs);
  // A late report, of an archived day.
  await store(client, [reportOf("tram", startMs - OLD_DAYS * DAY_MS + 30_000, 53.0005)]);
  // Into the fence and out of it, at times after its creation.
  for (const [index, latitude] of [53.5, 53.41, 53.5].entries())
    await store(client, [reportOf("van", startMs + 20_000 + index * 1000, latitude)]);
  const profile = { name: "Tram 7", tags: ["line-1"], color: "#aa3300" };
  await send(client, "PUT", "/api/v1/devices/tram/profile", profile);
  const hidden = { start: dayMs, end: dayMs + 5 * 60_000 };
  await send(client, "POST", "/api/v1/corrections", { action: "hide", device_id: "tram", ...hidden });
}

function pathsOf(fenceId: string, startMs: number): readonly string[] {
  const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  const range = `start_date=${day(startMs - OLD_DAYS * DAY_MS)}&end_date=${day(startMs + DAY_MS)}`;
  const span = `start=${startMs - OLD_DAYS * DAY_MS}&end=${startMs + DAY_MS}`;
  return [
    `/api/v1/devices/tram/locations/history?${range}&limit=1000`,
    `/api/v1/users/ada/locations/history?${range}&limit=1000&timezone=Europe/London`,
    `/api/v1/locations/history?${range}&limit=1000&order=desc`,
    `/api/v1/locations/current?places=true&names=true`,
    `/api/v1/devices/van/locations/current`,
    `/api/v1/devices/tram/stops?${span}`,
    `/api/v1/devices/tram/track?${span}`,
    `/api/v1/devices/tram/days?${range}`,
    `/api/v1/export?format=csv&${range}`,
    `/api/v1/devices`,
    `/api/v1/devices/tram/profile`,
    `/api/v1/corrections`,
    `/api/v1/geofences`,
    `/api/v1/geofences/${fenceId}/events`,
    `/api/v1/events?${span}`,
    `/api/v1/alerts`,
    `/api/v1/webhooks`,
  ];
}
