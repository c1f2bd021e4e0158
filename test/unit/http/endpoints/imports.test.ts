import { afterAll, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import type { AppId } from "../../../../src/model/ids.ts";
import type { StartHelper } from "../../../../src/runtime/helper/helper.ts";
import { startHelper } from "../../../../src/runtime/helper/spawn-helper.ts";
import { createArchiveApp, removeArchiveApps } from "../../../support/archive-app.ts";
import { filesWithBlocks } from "../../../support/reports/blocks.ts";
import {
  type AnswerBody,
  APP_ID,
  createTestApp,
  type KeyName,
  NOON_MS,
  type TestApp,
} from "../../../support/test-app.ts";
import { Browser } from "../page/browser.ts";

afterAll(removeArchiveApps);

const MINUTE_MS = 60_000;

/** A track of one point a minute that ends at noon. */
function gpx(points: number, name = "morning ride", lastMs = NOON_MS): string {
  const rows = Array.from({ length: points }, (_, index) => {
    const time = new Date(lastMs - (points - 1 - index) * MINUTE_MS).toISOString();
    return `<trkpt lat="${53 + index / 1000}" lon="-2.9"><time>${time}</time></trkpt>`;
  });
  return `<gpx version="1.1"><trk><name>${name}</name><trkseg>\n${rows.join("\n")}</trkseg></trk></gpx>`;
}

interface ImportAnswer extends AnswerBody {
  readonly skips: readonly { readonly reason: string; readonly count: number; readonly places: string[] }[];
  readonly lines: readonly (readonly (readonly number[])[])[];
}

async function send(
  app: TestApp,
  body: BodyInit,
  {
    query = "",
    key = "full" as KeyName,
    headers = {},
  }: { query?: string; key?: KeyName; headers?: object } = {},
) {
  const response = await app.fetch(`/api/v1/imports${query}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${app.keys[key]}`,
      "content-type": "application/octet-stream",
      ...headers,
    },
    body,
  });
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as ImportAnswer,
  };
}

test("POST /api/v1/imports stores a file's points, once", async () => {
  const app = await createTestApp();
  const first = await send(app, gpx(30));
  expect(first.status).toBe(200);
  expect(first.body).toMatchObject({
    ...{ success: true, dry_run: false, format: "gpx", recognized_by: "its outermost element is <gpx>" },
    ...{ read: 30, usable: 30, skipped: 0, new: 30, already_there: 0, same_time: 0 },
    devices: ["morning ride"],
    ...{ first: NOON_MS - 29 * MINUTE_MS, last: NOON_MS, bounds: [-2.9, 53, -2.9, 53.029] },
  });
  const again = await send(app, gpx(30));
  expect(again.body).toMatchObject({ read: 30, new: 0, already_there: 30, same_time: 0 });
  const { body } = await app.get("/api/v1/devices/morning%20ride/locations/current");
  expect(body.location).toMatchObject({ timestamp: NOON_MS, latitude: 53.029 });
});

test("a dry run stores nothing, draws the file's way, and counts points that are there", async () => {
  const app = await createTestApp();
  await send(app, gpx(10), { query: "?device_id=bike" });
  const { body } = await send(app, gpx(3000), { query: "?device_id=bike&dry_run=true" });
  expect(body).toMatchObject({ dry_run: true, usable: 3000, already_there: 10, devices: ["bike"] });
  expect(body).not.toHaveProperty("new");
  expect(body).not.toHaveProperty("sequence");
  const vertices = body.lines.flat();
  expect(vertices.length).toBeLessThanOrEqual(401);
  expect(vertices.at(0)).toEqual([-2.9, 53]);
  expect(vertices.at(-1)).toEqual([-2.9, 55.999]);
  expect((await app.get("/api/v1/devices/bike/locations/history?limit=1000")).body.locations).toHaveLength(
    10,
  );
});

test("a dry run counts records of the archive, too", async () => {
  const startMs = Date.UTC(2026, 0, 28, 12);
  const app = await createArchiveApp({ startMs });
  const old = gpx(20, "old", startMs - 20 * 86_400_000);
  await send(app, old);
  await app.seal();
  expect((await send(app, old, { query: "?dry_run=true" })).body).toMatchObject({ already_there: 20 });
  expect((await send(app, old)).body).toMatchObject({ new: 0, already_there: 20 });
  await app.close();
});

test("points without time are skipped, with their places", async () => {
  const app = await createTestApp();
  const body = gpx(2).replace(/<time>[^<]*<\/time>/, "");
  const answer = await send(app, body);
  expect(answer.body).toMatchObject({ read: 2, usable: 1, skipped: 1, new: 1 });
  expect(answer.body.skips).toEqual([
    { reason: "no_time", message: "without time", count: 1, places: ["line 2"] } as never,
  ]);
});

test("points before the retention refuse the file, unless skip_old leaves them out", async () => {
  const app = await createTestApp();
  const file = gpx(5).replace(/<time>2026/, "<time>2020");
  const refused = await send(app, file);
  expect([refused.status, refused.body.message]).toEqual([
    400,
    "1 of 5 points lie before 2025-03-20, the edge of what is kept here; nothing was stored. skip_old=true leaves " +
      "them out; settings set retention keeps them",
  ]);
  expect((await app.get("/api/v1/locations/current")).body.locations).toEqual([]);
  const skipped = await send(app, file, { query: "?skip_old=true" });
  expect(skipped.body).toMatchObject({ new: 4, skipped: 1 });
});

test("points of an erased and blocked device are skipped as rejected", async () => {
  const files = await filesWithBlocks([{ kind: "device", appId: APP_ID as AppId, id: "morning ride" }]);
  const app = await createTestApp({ files });
  const { body } = await send(app, gpx(30));
  expect(body).toMatchObject({ read: 30, usable: 0, skipped: 30, new: 0, already_there: 0, same_time: 0 });
  expect(body.skips).toMatchObject([{ reason: "rejected", count: 30, places: [] }]);
  expect((await app.get("/api/v1/locations/current")).body.locations).toEqual([]);
  expect((await send(app, gpx(30, "evening ride"))).body).toMatchObject({ usable: 30, new: 30, skips: [] });
});

test("a file that is cut off gives what is complete, and says where it ends", async () => {
  const app = await createTestApp();
  const whole = gpx(30);
  const { status, body } = await send(app, whole.slice(0, whole.indexOf("<trkpt", whole.length - 300) + 20));
  expect(status).toBe(200);
  expect(body).toMatchObject({
    success: true,
    fault: expect.stringMatching(/^line 29, column \d+: the file is cut off/),
  });
  expect(body.new).toBe(body.usable);
  expect(body.new).toBeGreaterThan(20);
});

test("times without a zone are refused until the request names it", async () => {
  const app = await createTestApp();
  const feature = { type: "Point", coordinates: [1, 2] };
  const file = JSON.stringify({
    type: "Feature",
    geometry: feature,
    properties: { time: "2026-03-20T10:00:00" },
  });
  const refused = await send(app, file, { query: "?device_id=a" });
  expect([refused.status, refused.body.message]).toEqual([
    400,
    '"2026-03-20T10:00:00" has no time zone: name it, as with timezone=Europe/Berlin',
  ]);
  const taken = await send(app, file, { query: "?device_id=a&timezone=Europe/Berlin" });
  expect(taken.body).toMatchObject({ new: 1, first: Date.UTC(2026, 2, 20, 9) });
});

test("a key that is bound writes as its device and user alone", async () => {
  const app = await createTestApp();
  const other = await send(app, gpx(2), { key: "boundToDevice", query: "?device_id=bus" });
  expect([other.status, other.body.message]).toEqual([
    400,
    'device_id must be "pixel7" or absent: the key is bound to this device',
  ]);
  expect((await send(app, gpx(2), { key: "boundToBoth" })).body).toMatchObject({
    new: 2,
    devices: ["pixel7"],
  });
  const { body } = await app.get("/api/v1/devices/pixel7/locations/current");
  expect(body.location).toMatchObject({ user_id: "anna" });
});

test("a gzip body is unpacked", async () => {
  const app = await createTestApp();
  const packed = gzipSync(gpx(12));
  expect((await send(app, packed, { headers: { "content-encoding": "gzip" } })).body).toMatchObject({
    new: 12,
  });
  const bare = await send(app, packed);
  expect([bare.status, bare.body.message]).toEqual([
    400,
    "the file is packed by gzip: send it with Content-Encoding: gzip",
  ]);
});

test("the map page imports with its session, and no other page does", async () => {
  const app = await createTestApp();
  const browser = await Browser.signedIn(app);
  const init = (headers: object) => ({
    method: "POST",
    body: gpx(4),
    headers: { cookie: browser.cookie!, "content-type": "application/gpx+xml", ...headers },
  });
  const page = { "x-wherehouse-page": "1", "sec-fetch-site": "same-origin" };
  for (const strange of [{}, { ...page, "sec-fetch-site": "same-site" }, { "sec-fetch-site": "same-origin" }])
    expect((await app.fetch("/api/v1/imports", init(strange))).status).toBe(401);
  expect((await app.fetch("/api/v1/imports", init(page))).status).toBe(200);
  // Reports of devices are never sent by a page.
  expect((await app.fetch("/ingest/v1/locations", init(page))).status).toBe(401);
});

test.each([
  ["a PDF", "%PDF-1.7", "the file is a PDF, for reading; ask the program that made it for its data"],
  ["nothing", "", "the file is empty"],
  [
    "a zip",
    "PK\u0003\u0004rest",
    "the file is an archive, such as a zip or KMZ: unpack it, or use the import command",
  ],
  [
    "another format",
    "<TrainingCenterDatabase/>",
    'the file is not GPX, KML or GeoJSON: it begins with "<TrainingCenterDatabase/>"; the import command reads other formats',
  ],
  ["no end of the first tag", "<gpx", /^the file (can't be read|is not GPX)/],
])("%s is refused with what it is", async (_, file, message) => {
  const app = await createTestApp();
  const answer = await send(app, file);
  expect([answer.status, answer.headers.get("wherehouse-error-code")]).toEqual([400, "BODY_001"]);
  expect(answer.body.message).toMatch(message);
});

test("forms and wrong parameters are refused before the body is read", async () => {
  const app = await createTestApp();
  const form = await send(app, "a=b", { headers: { "content-type": "application/x-www-form-urlencoded" } });
  expect(form.status).toBe(415);
  for (const query of ["?device_id=", "?device_id=..", "?format=fit", "?dry_run=1", "?timezone=Mars"])
    expect((await send(app, gpx(1), { query })).status).toBe(400);
});

/** A helper that never answers, and how often it was ended. */
function createSilentHelper() {
  const ends: (() => void)[] = [];
  const starts = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const start: StartHelper = (_script, { onEnd }) => {
    starts[ends.length]!.resolve();
    const end = () => onEnd("SIGKILL");
    ends.push(end);
    return { send() {}, end };
  };
  const [first, second] = starts;
  return { start, first: first!.promise, second: second!.promise, crash: (index: number) => ends[index]!() };
}

test("one file of an app is read at a time", async () => {
  const helper = createSilentHelper();
  const app = await createTestApp({ startHelper: helper.start });
  const first = send(app, gpx(1));
  await helper.first;
  const second = await send(app, gpx(1));
  expect([second.status, second.headers.get("retry-after")]).toEqual([503, "5"]);
  helper.crash(0);
  const crashed = await first;
  expect([crashed.status, crashed.headers.get("retry-after")]).toEqual([503, "10"]);
});

test("a client that goes away ends the process, and makes room", async () => {
  const helper = createSilentHelper();
  const app = await createTestApp({ startHelper: helper.start });
  const leaving = new AbortController();
  const sent = app.fetch("/api/v1/imports", {
    method: "POST",
    headers: { authorization: `Bearer ${app.keys.full}`, "content-type": "application/octet-stream" },
    body: gpx(1),
    signal: leaving.signal,
  });
  await helper.first;
  leaving.abort();
  await sent;
  const next = send(app, gpx(1));
  await helper.second;
  helper.crash(1);
  expect((await next).status).toBe(503);
});

test("a file is read in a process of its own", async () => {
  const app = await createTestApp({ startHelper });
  const { status, body } = await send(app, gpx(200), { query: "?dry_run=true" });
  expect([status, body.usable]).toEqual([200, 200]);
});
