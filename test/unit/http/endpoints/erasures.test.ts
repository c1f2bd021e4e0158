import { afterAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import type { DeviceId } from "../../../../src/model/ids.ts";
import { MS_PER_DAY } from "../../../../src/model/time/units.ts";
import { type ArchiveApp, createArchiveApp, removeArchiveApps } from "../../../support/archive-app.ts";
import { eraseFrom } from "../../../support/erase.ts";

/*
 * Erasures over a real directory: what answers show, what files hold, and what comes after them.
 */

afterAll(removeArchiveApps);

const NOW_MS = Date.UTC(2026, 0, 28, 12);
const DAYS = 12;
const A_DAY = 20;
const NOTE = "home of a person";

type Json = Readonly<Record<string, unknown>>;

function reportsOf(deviceId: string, userId: string, dayFrom = 0): Json[] {
  return Array.from({ length: DAYS - dayFrom }, (_, at) => at + dayFrom).flatMap((day) =>
    Array.from({ length: A_DAY }, (_, i) => ({
      device_id: deviceId,
      timestamp: NOW_MS - (DAYS - day) * MS_PER_DAY + i * 60_000,
      latitude: 53 + i / 100,
      longitude: -2.9,
      user_id: userId,
    })),
  );
}

async function filledApp(): Promise<ArchiveApp> {
  const app = await createArchiveApp();
  await app.store(reportsOf("van", "anna"));
  await app.store(reportsOf("bus", "bert"));
  await app.store(reportsOf("tram", "anna"));
  await ask(app, "editor", "PUT", "/api/v1/devices/van/profile", { name: "Anna's van" });
  const start = NOW_MS - 10 * MS_PER_DAY;
  const range = { start, end: start + 3_600_000 };
  await ask(app, "editor", "POST", "/api/v1/corrections", {
    action: "hide",
    device_id: "van",
    ...range,
    note: NOTE,
  });
  await app.seal();
  return app;
}

async function ask(
  app: Pick<ArchiveApp, "fetch" | "keys">,
  key: "eraser" | "editor" | "reader" | "full",
  method: string,
  path: string,
  body?: Json,
): Promise<{ readonly status: number; readonly body: Json }> {
  const headers = { authorization: `Bearer ${app.keys[key]}`, "content-type": "application/json" };
  const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) };
  const response = await app.fetch(path, init);
  return { status: response.status, body: (await response.json()) as Json };
}

/** What is said of all devices, less what differs between any two answers. */
async function answersAbout(app: ArchiveApp, deviceIds: readonly string[]): Promise<readonly Json[]> {
  const range = `start=${NOW_MS - DAYS * MS_PER_DAY}&end=${NOW_MS}`;
  const days = "start_date=2026-01-10&end_date=2026-01-28&limit=1000";
  const answers: Json[] = [];
  for (const id of deviceIds) {
    for (const path of [`/locations/current`, `/locations/history?${days}`, `/track?${range}`]) {
      const { status, body } = await ask(app, "reader", "GET", `/api/v1/devices/${id}${path}`);
      const { query_info, ...rest } = body;
      answers.push({ status, ...rest });
    }
  }
  return answers;
}

async function erase(app: ArchiveApp, subject: Json): Promise<Json> {
  const made = await ask(app, "eraser", "POST", "/api/v1/erasures", subject);
  expect(made.status).toBe(200);
  return made.body.erasure as Json;
}

async function finish(app: ArchiveApp): Promise<void> {
  const options = { dropsDamaged: false, onDaysLeft: () => undefined };
  expect(await app.directory.eraser.finishNow(options)).toBeNull();
}

/** Files of the directory that have these bytes, and records of parts that match. */
async function tracesOf(
  app: ArchiveApp,
  texts: readonly string[],
  where: string,
): Promise<readonly string[]> {
  const traces: string[] = [];
  const connection = await (await DuckDBInstance.create(":memory:")).connect();
  for (const entry of readdirSync(app.dataDir, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const bytes = readFileSync(path);
    for (const text of texts) if (bytes.includes(text)) traces.push(`${text} in ${path}`);
    if (!path.endsWith(".parquet")) continue;
    const rows = await connection.runAndReadAll(
      `SELECT count(*)::DOUBLE FROM read_parquet('${path}') WHERE ${where}`,
    );
    if (rows.getRows()[0]![0] !== 0) traces.push(`records in ${path}`);
  }
  return traces;
}

describe("an erasure of a device", () => {
  test("leaves nothing of it in answers at once, and in files once it is finished", async () => {
    const app = await filledApp();
    const others = await answersAbout(app, ["bus", "tram"]);
    const dry = await ask(app, "eraser", "POST", "/api/v1/erasures?dry_run=true", { device_id: "van" });
    expect(dry.body.erasure).toMatchObject({ records: (DAYS - 1) * A_DAY, devices: 1, corrections: 1 });
    expect((await answersAbout(app, ["van"])).map(({ status }) => status)).toEqual([200, 200, 200]);

    const { id } = await erase(app, { device_id: "van" });
    const statuses = (await answersAbout(app, ["van"])).map(({ status }) => status);
    expect(statuses).toEqual([404, 404, 404]);
    expect(await answersAbout(app, ["bus", "tram"])).toEqual(others);
    expect((await ask(app, "reader", "GET", "/api/v1/corrections")).status).toBe(403);
    expect((await ask(app, "editor", "GET", "/api/v1/corrections")).body.corrections).toEqual([]);
    expect((await ask(app, "full", "GET", "/api/v1/devices/van/profile")).status).toBe(404);
    const pending = await ask(app, "eraser", "GET", `/api/v1/erasures/${id}`);
    expect(pending.body.erasure).toMatchObject({ id, state: "pending" });

    await finish(app);
    expect(await tracesOf(app, ["van", NOTE], "device_id = 'van'")).toEqual([]);
    expect(await answersAbout(app, ["bus", "tram"])).toEqual(others);
    const finished = await ask(app, "eraser", "GET", `/api/v1/erasures/${id}`);
    const { report, ...state } = finished.body.erasure as Json & {
      report: { places: Json[]; remains: Json[] };
    };
    expect(state).toMatchObject({ state: "finished", days_left: 0 });
    expect(report.remains).toEqual([]);
    const removed = Object.fromEntries(report.places.map(({ place, removed }) => [place, removed]));
    expect(Number(removed.log) + Number(removed.archive)).toBe(DAYS * A_DAY);

    const again = await app.restart();
    expect(await answersAbout(again, ["bus", "tram"])).toEqual(others);
    expect((await answersAbout(again, ["van"])).map(({ status }) => status)).toEqual([404, 404, 404]);
    await again.close();
  });

  test("goes on after a restart, and is not applied again to what the device reports anew", async () => {
    const app = await filledApp();
    await erase(app, { device_id: "van" });
    const stopped = await app.restart();
    expect((await answersAbout(stopped, ["van"])).map(({ status }) => status)).toEqual([404, 404, 404]);
    await stopped.store(reportsOf("van", "anna", DAYS - 9).slice(0, 3));
    const anew = await answersAbout(stopped, ["van"]);
    expect((anew[1]!.locations as Json[]).length).toBe(3);
    await stopped.seal();
    expect(await answersAbout(stopped, ["van"])).toEqual(anew);
    await finish(stopped);
    expect(await answersAbout(stopped, ["van"])).toEqual(anew);
    const again = await stopped.restart();
    expect(await answersAbout(again, ["van"])).toEqual(anew);
    await again.close();
  });

  test("of a range leaves the rest, and its newest record is the one before", async () => {
    const app = await filledApp();
    const start = NOW_MS - 5 * MS_PER_DAY;
    await erase(app, { device_id: "van", start });
    const [current, history] = await answersAbout(app, ["van"]);
    expect((current!.location as Json).timestamp).toBeLessThan(start);
    expect((history!.locations as Json[]).length).toBe((DAYS - 5 - 1) * A_DAY);
    await finish(app);
    const again = await app.restart();
    expect((await answersAbout(again, ["van"]))[1]).toEqual(history!);
    expect(await tracesOf(again, [], `device_id = 'van' AND timestamp >= ${start}`)).toEqual([]);
    await again.close();
  });

  test("that is blocked refuses its reports from then on", async () => {
    const app = await filledApp();
    await erase(app, { device_id: "van", block: true });
    const refused = await app.post([{ ...reportsOf("van", "anna")[0]!, timestamp: NOW_MS }]);
    expect(JSON.stringify(refused)).toContain("erased");
    await finish(app);
    const again = await app.restart();
    expect(
      JSON.stringify(await again.post([{ ...reportsOf("van", "anna")[0]!, timestamp: NOW_MS }])),
    ).toContain("erased");
    await again.close();
  });
});

test("an erasure of a user leaves what others reported with the same devices", async () => {
  const app = await filledApp();
  await app.store([
    { device_id: "tram", timestamp: NOW_MS - 1000, latitude: 1, longitude: 2, user_id: "carl" },
  ]);
  expect((await ask(app, "eraser", "POST", "/api/v1/erasures", { user_id: "anna" })).status).toBe(409);
  const corrections = (await ask(app, "editor", "GET", "/api/v1/corrections")).body.corrections as Json[];
  await ask(app, "editor", "DELETE", `/api/v1/corrections/${corrections[0]!.id}`);
  const bus = await answersAbout(app, ["bus"]);
  await erase(app, { user_id: "anna" });
  const history = (await answersAbout(app, ["tram"]))[1]!;
  expect((history.locations as Json[]).map(({ user_id }) => user_id)).toEqual(["carl"]);
  expect((await answersAbout(app, ["van"])).map(({ status }) => status)).toEqual([404, 404, 404]);
  await finish(app);
  expect(await answersAbout(app, ["bus"])).toEqual(bus);
  expect(await tracesOf(app, ["anna"], "user_id = 'anna'")).toEqual([]);
  const again = await app.restart();
  expect((await answersAbout(again, ["tram"]))[1]).toEqual(history);
  await again.close();
});

test("an erasure needs its permission, one subject and a range that is one", async () => {
  const app = await filledApp();
  const made = (key: "eraser" | "editor", body: Json) => ask(app, key, "POST", "/api/v1/erasures", body);
  expect((await made("editor", { device_id: "van" })).status).toBe(403);
  for (const body of [
    {},
    { device_id: "van", user_id: "anna" },
    { device_id: "van", start: 2, end: 1 },
    { device_id: "van", block: "yes" },
    { device_id: "van", mode: "all" },
  ])
    expect((await made("eraser", body)).status).toBe(400);
  expect((await ask(app, "eraser", "GET", "/api/v1/erasures")).body.erasures).toEqual([]);
  await app.close();
});

test("an erasure of a user goes by the last user that reports of an instant named, also if a file has the first", async () => {
  const app = await filledApp();
  const [first, second] = reportsOf("bus", "bert");
  await app.store([
    { ...first, user_id: "anna" },
    { ...second, user_id: "carl" },
  ]);
  const corrections = (await ask(app, "editor", "GET", "/api/v1/corrections")).body.corrections as Json[];
  await ask(app, "editor", "DELETE", `/api/v1/corrections/${corrections[0]!.id}`);
  const before = (await answersAbout(app, ["bus"]))[1]!.locations as Json[];
  await erase(app, { user_id: "anna" });
  const left = before.filter(({ user_id }) => user_id !== "anna");
  expect(left.length).toBe(before.length - 1);
  expect((await answersAbout(app, ["bus"]))[1]!.locations).toEqual(left);
  await erase(app, { user_id: "bert" });
  expect(((await answersAbout(app, ["bus"]))[1]!.locations as Json[]).map(({ user_id }) => user_id)).toEqual([
    "carl",
  ]);
  await finish(app);
  const again = await app.restart();
  expect(
    ((await answersAbout(again, ["bus"]))[1]!.locations as Json[]).map(({ user_id }) => user_id),
  ).toEqual(["carl"]);
  await again.close();
});

test("an erasure of a user leaves what the same device reported without a user, in memory and archived", async () => {
  const app = await createArchiveApp();
  const at = (daysAgo: number, more: Json = {}) => ({
    ...{ device_id: "bus", timestamp: NOW_MS - daysAgo * MS_PER_DAY, latitude: 1, longitude: 2, ...more },
  });
  const anna = { user_id: "anna" };
  await app.store([at(20, anna), at(19), at(2), at(1)]);
  await app.seal();
  // More rows than memory drops in one step: the user is gone before the last are visited.
  const rows = Array.from({ length: 2500 }, (_, i) => at(0.5 - i / 10_000, i === 0 ? anna : {}));
  await app.store(rows);
  const countBehind2000 = async (from: ArchiveApp) => {
    const page = "start_date=2026-01-01&end_date=2026-01-28&limit=1000&offset=2000";
    const { body } = await ask(from, "reader", "GET", `/api/v1/devices/bus/locations/history?${page}`);
    return (body.locations as Json[]).length;
  };
  expect(await countBehind2000(app)).toBe(504);
  await erase(app, { user_id: "anna" });
  expect(await countBehind2000(app)).toBe(502);
  await finish(app);
  const again = await app.restart();
  expect(await countBehind2000(again)).toBe(502);
  expect((await answersAbout(again, ["bus"]))[0]!.location).toMatchObject({ user_id: "ANONYMOUS" });
  await again.close();
});

test("an erasure that another node's has overtaken is made once more: the newest record is one that both have left", async () => {
  const app = await createArchiveApp();
  const times = [0, 1, 2].map((at) => NOW_MS - 10 * MS_PER_DAY + at * 60_000);
  await app.store(times.map((timestamp) => ({ device_id: "van", timestamp, latitude: 1, longitude: 2 })));
  await app.seal();
  const { log } = app.directory;
  const appendStanding = log.appendStanding.bind(log);
  log.appendStanding = async (entry) => {
    log.appendStanding = appendStanding;
    await eraseFrom(app, { deviceId: "van", startMs: times[1]!, endMs: times[2]! });
    return appendStanding(entry);
  };
  await erase(app, { device_id: "van", start: times[2]! });
  const current = async (each: ArchiveApp) =>
    (await ask(each, "full", "GET", "/api/v1/devices/van/locations/current")).body.location as Json;
  expect((await current(app)).timestamp).toBe(times[0]);
  await finish(app);
  const again = await app.restart();
  expect((await current(again)).timestamp).toBe(times[0]);
  await again.close();
});

test("an erasure that another node's has overtaken does set a newest record that is left, and a start has it, too", async () => {
  const app = await createArchiveApp();
  const times = [0, 1].map((at) => NOW_MS - 10 * MS_PER_DAY + at * 60_000);
  const records = times.map((timestamp) => ({ timestamp, latitude: 1, longitude: 2 }));
  await app.store(records.map((record) => ({ ...record, device_id: "van" })));
  await app.seal();
  const deviceId = "van" as DeviceId;
  const newest = [{ deviceId, record: records[0]! }];
  await eraseFrom(app, { deviceId, startMs: times[1]!, previous: 7, newest });
  const current = async (each: ArchiveApp) =>
    (await ask(each, "full", "GET", "/api/v1/devices/van/locations/current")).body.location as Json;
  expect((await current(app)).timestamp).toBe(times[0]);
  const again = await app.restart();
  expect((await current(again)).timestamp).toBe(times[0]);
  await again.close();
});
