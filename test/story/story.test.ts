import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { createReferenceRecords, type ReferenceReport } from "../reference/records.ts";
import { seededRandom } from "../support/seeded-random.ts";
import {
  closePlace,
  openPlace,
  type Place,
  RUNTIMES,
  readFirstKey,
  runCommand,
  type ServerProcess,
  startReady,
} from "../support/server-process.ts";
import { csvRows } from "../support/test-data.ts";
import { type Client, findWrongAnswers, get, store } from "../system/support/client.ts";
import { createPicker } from "../system/support/random.ts";
import { randomQueries } from "../system/support/random-queries.ts";

/*
 * Goal: the program, as its operator uses it, holds together on each runtime. Method: one directory goes through its
 * life in real processes, and after each step every answer is compared with plain loops over what was reported. What
 * can go wrong on the way is tried in `test/system`.
 */

setDefaultTimeout(60_000);

const MS_PER_DAY = 86_400_000;
const SAMPLE = join(import.meta.dir, "../../data/samples/bus_liverpool_route14_20260126.csv.gz");
const ARCHIVED_DAY = 40;
const AGES_DAYS = [ARCHIVED_DAY, 9, 1];
const QUERIES_OF_EACH = 6;
const DRIVER = "driver-1";

describe.each(RUNTIMES.map((runtime) => [runtime.name, runtime] as const))("on %s", (_name, runtime) => {
  const pick = createPicker(seededRandom(7));
  const fleet = createReferenceRecords("default");
  const noFleet = createReferenceRecords("other");
  const buses = busReports(Date.now());
  let place: Place;
  let server: ServerProcess;
  let client: Client;

  beforeAll(() => {
    place = openPlace();
  });
  afterAll(() => closePlace(place));

  async function serve(): Promise<void> {
    server = await startReady(runtime, place);
    client = { url: server.url, key: readFirstKey(place) };
  }

  async function expectRightAnswers(): Promise<void> {
    const queries = randomQueries(fleet, noFleet, pick, QUERIES_OF_EACH);
    expect(await findWrongAnswers(client, fleet, queries)).toEqual([]);
  }

  /** The hashes of all records that a directory holds, by app and day. */
  async function verify(dataDir: string): Promise<unknown> {
    const { code, out } = await runCommand(runtime, { ...place, dataDir }, ["verify", "--json"]);
    const { appDays, problems } = JSON.parse(out);
    expect([code, problems]).toEqual([0, []]);
    return appDays;
  }

  test("serve, report, ask: answers are those of plain loops", async () => {
    await serve();
    expect(await store(client, buses, "ndjson.gz")).toBe(buses.length);
    fleet.report(buses);
    await expectRightAnswers();
  });

  test("kill, restart: all that was acknowledged is there", async () => {
    server.kill("SIGKILL");
    await server.ended;
    await serve();
    await expectRightAnswers();
    expect((await server.stop()).code).toBe(0);
  });

  test("seal: archived days answer as before, and say where they come from", async () => {
    const sealed = await runCommand(runtime, place, ["seal", "--json"]);
    expect([sealed.code, sealed.error]).toEqual([0, ""]);
    const { days, records } = JSON.parse(sealed.out);
    expect([days.length, records]).toEqual([2, (buses.length * 2) / AGES_DAYS.length]);
    await serve();
    await expectRightAnswers();
    const date = new Date(buses[0]!.timestamp).toISOString().slice(0, 10);
    const path = `/api/v1/users/${DRIVER}/locations/history?start_date=${date}&end_date=${date}`;
    expect(await (await get(client, path)).json()).toMatchObject({ query_info: { source: "archive" } });
  });

  test("backup, verify, restore: the same records", async () => {
    const [backup, restored] = ["backup", "restored"].map((name) => join(place.directory, name)) as [
      string,
      string,
    ];
    expect(await runCommand(runtime, place, ["backup", backup])).toMatchObject({ code: 0, error: "" });
    expect((await server.stop()).code).toBe(0);
    const records = await verify(place.dataDir);
    expect(await verify(backup)).toEqual(records);
    const { code, error } = await runCommand(runtime, { ...place, dataDir: restored }, ["restore", backup]);
    expect([code, error]).toEqual([0, ""]);
    expect(await verify(restored)).toEqual(records);
  });
});

/** The sample's buses on days of these ages, each driven by the same user; within a UTC day, so that days are whole. */
function busReports(nowMs: number): ReferenceReport[] {
  const rows = csvRows(gunzipSync(readFileSync(SAMPLE)).toString());
  const todayMs = nowMs - (nowMs % MS_PER_DAY);
  return AGES_DAYS.flatMap((ageDays) =>
    rows.map(([device_id, timestamp, latitude, longitude, bearing]) => ({
      device_id: device_id!,
      user_id: DRIVER,
      timestamp: todayMs - ageDays * MS_PER_DAY + (Number(timestamp) % MS_PER_DAY),
      latitude: Number(latitude),
      longitude: Number(longitude),
      ...(bearing === "" ? {} : { bearing: Number(bearing) }),
    })),
  );
}
