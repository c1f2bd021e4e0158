import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { jetstreamManager } from "@nats-io/jetstream";
import { type NatsCluster, startNatsCluster } from "../../support/nats/nats-cluster.ts";
import { hasNatsServer } from "../../support/nats/nats-server.ts";
import {
  closePlace,
  type Ended,
  openPlace,
  type Place,
  RUNTIMES,
  type Runtime,
  readFirstKey,
  runCommand,
  type ServerProcess,
  startCommand,
  startReady,
} from "../../support/server-process.ts";

/*
 * The directory of a single process moves into a cluster of real NATS servers, also where that is killed on its way:
 * what answers and exports say is the same before and after.
 */

const DAY_MS = 86_400_000;
const DEVICES = 20;
/** Of the last days: so many that the log takes several messages. */
const RECENT = 60_000;

const HAS_NATS = hasNatsServer("tests of cluster init");
const RUN = { count: 0 };

let nats: NatsCluster;
let place: Place;
let stream: string;

beforeAll(async () => {
  if (HAS_NATS) nats = await startNatsCluster({ count: 1 });
});
afterAll(() => nats?.close());
beforeEach(() => {
  place = openPlace();
  stream = `fleet${RUN.count++}`;
});
afterEach(() => closePlace(place));

const initArgs = () => [
  "cluster",
  "init",
  "--log",
  `nats://${nats.servers.join(",")}`,
  "--stream",
  stream,
  "--log-size",
  "200MB",
];
const nodeArgs = () => ["--log", `nats://${nats.servers.join(",")}`, "--stream", stream];

/** Reports of devices every few seconds, from a time on. */
function csvOf(fromMs: number, count: number, stepMs: number): string {
  const lines = ["device_id,timestamp_ms,latitude,longitude,speed"];
  for (let i = 0; i < count; i++) {
    const device = i % DEVICES;
    const at = fromMs + Math.floor(i / DEVICES) * stepMs;
    lines.push(
      `van${device},${at},${(53 + device / 100 + i / 1e6).toFixed(6)},${(-2.9 + i / 1e6).toFixed(6)},${i % 30}`,
    );
  }
  return `${lines.join("\n")}\n`;
}

async function post(server: ServerProcess, key: string, reports: readonly object[]): Promise<void> {
  const response = await fetch(`${server.url}/ingest/v1/locations`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ locations: reports }),
  });
  expect(await response.json()).toMatchObject({ success: true, rejected: [] });
}

async function setName(server: ServerProcess, key: string, deviceId: string, name: string | null) {
  const response = await fetch(`${server.url}/api/v1/devices/${deviceId}/profile`, {
    method: name === null ? "DELETE" : "PUT",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(name === null ? {} : { body: JSON.stringify({ name, tags: ["fleet"] }) }),
  });
  expect(response.status).toBe(200);
}

/**
 * Archived days, days in the log alone, and reports that came late for archived ones or say a second thing. Profiles
 * are in the archive's file, in the log, or in both.
 */
async function fill(runtime: Runtime): Promise<string> {
  const nowMs = Date.now();
  const old = join(place.directory, "old.csv");
  const recent = join(place.directory, "recent.csv");
  writeFileSync(old, csvOf(nowMs - 30 * DAY_MS, 20_000, 600_000));
  writeFileSync(recent, csvOf(nowMs - 2 * DAY_MS, RECENT, 50_000));
  for (const file of [old, recent])
    expect(await runCommand(runtime, place, ["import", file, "--app", "default"], [file])).toMatchObject({
      code: 0,
    });
  const sealing = await startReady(runtime, place);
  const key = readFirstKey(place);
  for (const device of ["van1", "van2", "van3", "silent"])
    await setName(sealing, key, device, `Sealed ${device}`);
  expect((await sealing.stop()).code).toBe(0);
  expect((await runCommand(runtime, place, ["seal"])).code).toBe(0);
  const server = await startReady(runtime, place);
  await setName(server, key, "van2", null);
  await setName(server, key, "van3", "Renamed since");
  await setName(server, key, "van4", "Named since");
  const at = nowMs - 28 * DAY_MS;
  const late = { device_id: "van3", latitude: 10, longitude: 20, timestamp: at };
  await post(server, key, [late, { ...late, timestamp: at + 1, user_id: "ann" }]);
  await post(server, key, [
    { ...late, latitude: 11, user_id: "bea" },
    { ...late, timestamp: nowMs - 5000 },
  ]);
  await post(server, key, [{ ...late, timestamp: nowMs - 5000, longitude: 21 }]);
  expect((await server.stop()).code).toBe(0);
  return key;
}

const dayOf = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);
const everything = () => `export?format=ndjson&start_date=${dayOf(60)}&end_date=${dayOf(-1)}`;

async function answersOf(server: ServerProcess, key: string): Promise<string[]> {
  const paths = [
    "locations/current?limit=1000",
    "devices/nearby?latitude=53.1&longitude=-2.9&radius_miles=50&max_age_hours=2000&limit=100",
    `devices/van3/locations/history?start_date=${dayOf(40)}&end_date=${dayOf(20)}&limit=1000`,
    `devices/van3/locations/history?start_date=${dayOf(3)}&end_date=${dayOf(-1)}&limit=1000&order=desc`,
    `locations/history?start_date=${dayOf(29)}&end_date=${dayOf(27)}&limit=1000`,
    "users/bea/devices?max_age=9999999",
    "devices?limit=1000&tag=fleet",
    everything(),
  ];
  const answers: string[] = [];
  for (const path of paths) {
    const response = await fetch(`${server.url}/api/v1/${path}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    const text = (await response.text())
      .replace(/"query_info":\{.*?\}(?=[,}])/, "")
      .replace(/"total_(estimated|candidates)":\d+/g, "")
      .replace(/"(query_time_ms|age_seconds|data_scanned_mb)":[\d.]+/g, "");
    expect(`${path}: ${response.status} ${text.slice(0, 300)}`).toContain(`${path}: 200`);
    answers.push(path.startsWith("export") ? text.split("\n").sort().join("\n") : text);
  }
  return answers;
}

/** Of each app and day, from a directory that is imported from what a server exports. */
async function dayHashes(runtime: Runtime, server: ServerProcess, key: string) {
  const out = join(place.directory, "exported.ndjson");
  const exported = await fetch(`${server.url}/api/v1/${everything()}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  writeFileSync(out, await exported.bytes());
  const copy = { directory: place.directory, dataDir: join(place.directory, "copy") };
  const imported = await runCommand(runtime, copy, ["import", out, "--app", "default"]);
  expect(imported.code).toBe(0);
  return verified(runtime, copy);
}

async function verified(runtime: Runtime, of: Place): Promise<unknown[]> {
  const { code, out } = await runCommand(runtime, of, ["verify", "--json"]);
  expect(code).toBe(0);
  return JSON.parse(out).appDays;
}

async function lastMessage(): Promise<number | null> {
  return nats.ask(async (connection) => {
    const manager = await jetstreamManager(connection);
    try {
      const { state } = await manager.streams.info(stream);
      return state.messages === 0 ? null : state.last_seq;
    } catch {
      return null; // It is not there yet.
    }
  });
}

/** Runs the command and kills it after it has sent that many messages. It may end by itself before. */
async function killAt(runtime: Runtime, messages: number): Promise<Ended> {
  const begun = (await lastMessage()) ?? 0;
  const moving = startCommand(runtime, place, [...initArgs(), "--json"]);
  let isOver = false;
  const ended = moving.ended.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    const last = await lastMessage();
    if (last !== null && last - begun >= messages) break;
  }
  moving.kill("SIGKILL");
  return await ended;
}

describe.skipIf(!HAS_NATS).each([...RUNTIMES])("on $name", (runtime) => {
  test("cluster init keeps every answer, also killed on its way", async () => {
    const key = await fill(runtime);
    const single = await startReady(runtime, place);
    const before = await answersOf(single, key);
    for (const name of ["Sealed van1", "Sealed silent", "Renamed since", "Named since"])
      expect(before.join("\n")).toContain(`"name":"${name}"`);
    expect(before.join("\n")).not.toContain("Sealed van2");
    expect((await single.stop()).code).toBe(0);
    const hashesBefore = await verified(runtime, place);
    let last = await killAt(runtime, 1);
    if (last.code !== 0) last = await killAt(runtime, 1);
    if (last.code !== 0) last = await runCommand(runtime, place, [...initArgs(), "--json"]);
    const { code, out, error } = last;
    expect([code, error]).toEqual([0, expect.any(String)]);
    const report = JSON.parse(out);
    expect(report.shared).toEqual(["keys.json", "directory-id"]);
    expect(report.found).toBeGreaterThan(0);
    expect(await lastMessage()).toBe(report.firstMessage + report.messages - 1);
    expect(readdirSync(place.dataDir)).toContain("wal.before-cluster");
    expect(existsSync(join(place.dataDir, "wal"))).toBe(false);

    const node = await startReady(runtime, place, nodeArgs());
    const after = await answersOf(node, key);
    for (const [index, answer] of after.entries()) expect(answer).toBe(before[index]!);
    expect(await dayHashes(runtime, node, key)).toEqual(hashesBefore);
    // It goes on: what comes now has a greater sequence than all that was.
    await post(node, key, [{ device_id: "van3", latitude: 12, longitude: 22, timestamp: Date.now() }]);
    expect((await node.stop()).code).toBe(0);
  });
});

describe.skipIf(!HAS_NATS)("cluster init refuses", () => {
  const [BUN] = RUNTIMES as [Runtime];
  const create = ["keys", "create", "--app", "default", "--permission", "read"];
  const importInto = async (into: Place, csv: string) =>
    expect((await runCommand(BUN, into, ["import", "-", "--app", "default"], [], csv)).code).toBe(0);

  test("a directory that a server runs on, and one that is a node's", async () => {
    expect((await runCommand(BUN, place, create)).code).toBe(0);
    const server = await startReady(BUN, place);
    expect(await runCommand(BUN, place, initArgs())).toMatchObject({
      code: 1,
      error: expect.stringContaining("is in use by process"),
    });
    await server.stop();
    expect(await runCommand(BUN, place, initArgs())).toMatchObject({ code: 0 });
    expect(await runCommand(BUN, place, initArgs())).toMatchObject({
      code: 1,
      error: expect.stringContaining("already belongs to a node of the stream"),
    });
    // The node's keys are those that the files had, and whoever is alone is refused.
    expect(await runCommand(BUN, place, ["keys", "list"])).toMatchObject({ code: 0 });
    const node = await startReady(BUN, place, nodeArgs());
    expect((await node.stop()).code).toBe(0);

    const other = openPlace();
    try {
      expect((await runCommand(BUN, other, create)).code).toBe(0);
      expect(await runCommand(BUN, other, initArgs())).toMatchObject({
        code: 1,
        error: expect.stringContaining("has nodes already"),
      });
      // An empty directory does not pass for one that knows what the archive has.
      const empty = { directory: other.directory, dataDir: join(other.directory, "empty") };
      const begun = await runCommand(BUN, empty, ["serve", "--port", "0", ...nodeArgs()]);
      expect([begun.code, begun.error]).toEqual([1, expect.stringContaining("join URL")]);
    } finally {
      await closePlace(other);
    }
  });

  test("another directory, also where neither has anything left that the archive does not hold", async () => {
    const other = openPlace();
    try {
      for (const each of [place, other]) {
        await importInto(each, csvOf(Date.now() - 20 * DAY_MS, 5, 1000));
        expect((await runCommand(BUN, each, ["seal"])).code).toBe(0);
      }
      expect(await runCommand(BUN, place, initArgs())).toMatchObject({ code: 0 });
      expect(await runCommand(BUN, other, initArgs())).toMatchObject({
        code: 1,
        error: expect.stringContaining("belongs to another directory"),
      });
      expect(readdirSync(other.dataDir)).not.toContain("cluster.json");
    } finally {
      await closePlace(other);
    }
  });

  test("nothing where it was broken off before its last step, which it does, and serve says so", async () => {
    await importInto(place, csvOf(Date.now() - DAY_MS, 50, 1000));
    expect(await runCommand(BUN, place, initArgs())).toMatchObject({ code: 0 });
    const formerLog = join(place.dataDir, "wal.before-cluster");
    renameSync(formerLog, join(place.dataDir, "wal"));
    const refused = await runCommand(BUN, place, ["serve", "--port", "0", ...nodeArgs()]);
    expect([refused.code, refused.error]).toEqual([1, expect.stringContaining("To finish it: cluster init")]);
    expect(await runCommand(BUN, place, initArgs())).toMatchObject({ code: 0 });
    expect(readdirSync(formerLog).length).toBeGreaterThan(0);
    const node = await startReady(BUN, place, nodeArgs());
    expect((await node.stop()).code).toBe(0);

    rmSync(join(place.dataDir, "cluster.json"));
    expect(await runCommand(BUN, place, initArgs())).toMatchObject({
      code: 1,
      error: expect.stringContaining("was moved into a cluster before"),
    });
  });

  test("a damaged log, of which nothing comes to the stream", async () => {
    await importInto(place, csvOf(Date.now() - DAY_MS, 50, 1000));
    const log = join(place.dataDir, "wal");
    const segment = join(log, readdirSync(log)[0]!);
    const bytes = readFileSync(segment);
    bytes[100]! ^= 1;
    writeFileSync(segment, Buffer.concat([bytes, bytes.subarray(16)])); // So that it is not the end that was cut.
    expect(await runCommand(BUN, place, initArgs())).toMatchObject({
      code: 1,
      error: expect.stringContaining("is damaged, and the damage must not reach other nodes"),
    });
    expect(await lastMessage()).toBeNull();
    expect(readdirSync(place.dataDir)).not.toContain("cluster.json");
  });
});
