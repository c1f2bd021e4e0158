import { afterAll, expect, test } from "bun:test";
import { type ArchiveApp, createArchiveApp, removeArchiveApps } from "../../../support/archive-app.ts";
import type { Report } from "../../../support/reports/batches.ts";

/* Which corrections go with an erasure, which stay, and which are in its way. */

afterAll(removeArchiveApps);

const NOW_MS = Date.UTC(2026, 0, 28, 12);

function report(device_id: string, timestamp: number): Report {
  return { device_id, timestamp, latitude: 42.36, longitude: -71.05, user_id: "u" };
}

async function send(app: ArchiveApp, path: string, body: object) {
  const key = path.startsWith("/api/v1/erasures") ? app.keys.eraser : app.keys.editor;
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const response = await app.fetch(path, { method: "POST", headers, body: JSON.stringify(body) });
  const answer = (await response.json()) as {
    readonly message: string;
    readonly erasure: { readonly corrections: number };
    readonly correction: { readonly id: string };
  };
  return { ...answer, status: response.status };
}

async function correct(app: ArchiveApp, body: object): Promise<string> {
  const { status, correction } = await send(app, "/api/v1/corrections", body);
  expect(status).toBe(200);
  return correction.id;
}

async function timesOf(app: ArchiveApp, device: string): Promise<readonly unknown[]> {
  const path = `/api/v1/devices/${device}/locations/history?start_date=2026-01-28&end_date=2026-01-28`;
  return (await app.get(path)).body.locations.map(({ timestamp }) => timestamp);
}

test("a correction of records before and after what is erased stays, and is not counted", async () => {
  const app = await createArchiveApp({ startMs: NOW_MS });
  const times = [1, 2, 3, 4].map((second) => NOW_MS - second * 1000);
  await app.store(times.map((time) => report("van", time)));
  const [last, third, , first] = times;
  await correct(app, { action: "hide", device_id: "van", timestamps: [first, last] });
  const range = { start: third, end: third! + 1 };
  const { status, erasure } = await send(app, "/api/v1/erasures", { device_id: "van", ...range });
  expect([status, erasure.corrections]).toEqual([200, 0]);
  expect(await timesOf(app, "van")).toEqual([times[2]]);
  const again = await app.restart();
  expect(await timesOf(again, "van")).toEqual([times[2]]);
  await again.close();
});

test("a correction of what another device shows of the erased one is in the way", async () => {
  const app = await createArchiveApp({ startMs: NOW_MS });
  const time = NOW_MS - 1000;
  await app.store([report("van", time), report("bus", time - 1)]);
  const selection = { timestamps: [time] };
  await correct(app, { action: "assign", device_id: "van", ...selection, to_device_id: "bus" });
  const position = { latitude: 1, longitude: 2 };
  const id = await correct(app, { action: "move", device_id: "bus", ...selection, ...position });
  const { status, message } = await send(app, "/api/v1/erasures", { device_id: "van" });
  expect([status, message.split(": ")[1]]).toEqual([409, id]);
  await app.close();
});

test("a correction of what shows of a device since its assignment is in the way, archived or not", async () => {
  for (const isSealed of [false, true]) {
    const app = await createArchiveApp({ startMs: NOW_MS });
    const time = isSealed ? NOW_MS - 10 * 86_400_000 : NOW_MS - 1000;
    await app.store([report("van", time), report("bus", time - 1)]);
    await app.seal();
    await correct(app, { action: "assign", device_id: "van", to_device_id: "bus" });
    const id = await correct(app, { action: "hide", device_id: "bus", timestamps: [time] });
    const { status, message } = await send(app, "/api/v1/erasures", { device_id: "van" });
    expect([status, message.split(": ")[1]]).toEqual([409, id]);
    const whole = await send(app, "/api/v1/erasures?dry_run=true", { device_id: "bus" });
    expect([whole.status, whole.erasure.corrections]).toEqual([200, 2]);
    await app.close();
  }
});

test("a correction that stays forgets which record was the newest after it, if that is erased", async () => {
  const app = await createArchiveApp({ startMs: NOW_MS });
  const time = NOW_MS - 10 * 86_400_000;
  await app.store([report("van", time), report("van", time + 1000), report("bus", time)]);
  await app.seal();
  await correct(app, { action: "hide", device_id: "van", timestamps: [time + 1000] });
  const { status } = await send(app, "/api/v1/erasures", { device_id: "van", end: time + 1 });
  expect(status).toBe(200);
  const current = "/api/v1/devices/van/locations/current";
  expect((await app.get(current)).status).toBe(404);
  await app.seal();
  const again = await app.restart();
  expect((await again.get(current)).status).toBe(404);
  await again.close();
});

test("what gives a device to an erased user is in the way, and goes with the erased device, archived or not", async () => {
  for (const isSealed of [false, true]) {
    const app = await createArchiveApp({ startMs: NOW_MS });
    const time = isSealed ? NOW_MS - 10 * 86_400_000 : NOW_MS - 1000;
    await app.store([report("van", time), report("bus", time)]);
    await app.seal();
    const id = await correct(app, { action: "assign", device_id: "van", to_user_id: "eve" });
    for (const user_id of ["eve", "u"]) {
      const { status, message } = await send(app, "/api/v1/erasures", { user_id });
      expect([status, message.split(": ")[1]]).toEqual([409, id]);
    }
    const { status, erasure } = await send(app, "/api/v1/erasures", { device_id: "van" });
    expect([status, erasure.corrections]).toEqual([200, 1]);
    expect((await app.get("/api/v1/devices/van/locations/current")).status).toBe(404);
    await app.store([report("van", NOW_MS - 500)]);
    const { location } = (await app.get("/api/v1/devices/van/locations/current")).body;
    expect(location.user_id).toBe("u");
    await app.close();
  }
});

test("a late report to an archived record is laid over it once later ones are hidden and erased", async () => {
  const app = await createArchiveApp({ startMs: NOW_MS });
  const [first, second] = [NOW_MS - 10 * 86_400_000, NOW_MS - 10 * 86_400_000 + 1000];
  await app.store([
    { ...report("van", first), horizontal_accuracy: 5, user_id: null },
    report("van", second),
    report("van", NOW_MS - 1000),
  ]);
  await app.seal();
  await correct(app, { action: "hide", device_id: "van", timestamps: [second] });
  await app.store([{ ...report("van", first), latitude: 50, horizontal_accuracy: 900 }]);
  await app.seal();
  const erased = await send(app, "/api/v1/erasures", { device_id: "van", start: NOW_MS - 2000 });
  expect(erased.status).toBe(200);
  const { location } = (await app.get("/api/v1/devices/van/locations/current")).body;
  expect(location).toMatchObject({ timestamp: first, latitude: 42.36, user_id: "u" });
  await app.close();
});
