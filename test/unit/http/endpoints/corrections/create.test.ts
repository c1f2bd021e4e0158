import { expect, test } from "bun:test";
import {
  createTestApp,
  type JsonObject,
  type KeyName,
  NOON_MS,
  type TestApp,
} from "../../../../support/test-app.ts";

const PATH = "/api/v1/corrections";
/** A year before the day of these tests. */
const RETENTION_START_MS = Date.UTC(2025, 2, 20);
const REPORT = { device_id: "bus", latitude: 53.4, longitude: -2.9 };

async function send(
  app: TestApp,
  method: string,
  path: string,
  body?: object,
  more: Readonly<Record<string, string>> = {},
  key: KeyName = "full",
) {
  const response = await app.fetch(path, {
    method,
    headers: { authorization: `Bearer ${app.keys[key]}`, "content-type": "application/json", ...more },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
}

async function createBusApp(): Promise<TestApp> {
  const app = await createTestApp();
  const accuracies = [5, 900, 7];
  await app.store(
    accuracies.map((horizontal_accuracy, i) => ({
      ...REPORT,
      horizontal_accuracy,
      latitude: 53.4 + i,
      timestamp: NOON_MS - 1000 * (3 - i),
    })),
  );
  return app;
}

const timesOf = async (app: TestApp) => {
  const { body } = await app.get(
    "/api/v1/devices/bus/locations/history?start_date=2026-03-20&end_date=2026-03-20",
  );
  return body.locations.map(({ timestamp }) => Number(timestamp) - NOON_MS);
};

test("a correction hides what it selects, and undoing it shows that again", async () => {
  const app = await createBusApp();
  const range = { start: NOON_MS - 3000, end: NOON_MS };
  const made = await send(app, "POST", PATH, {
    action: "hide",
    device_id: "bus",
    ...range,
    accuracy_above: 100,
  });
  expect(made).toMatchObject({
    status: 200,
    body: {
      correction: { records: 1, first: NOON_MS - 2000, last: NOON_MS - 2000, state: "active", ...range },
    },
  });
  expect(await timesOf(app)).toEqual([-3000, -1000]);
  const { id } = made.body.correction;
  expect((await app.get(`${PATH}/${id}`)).body.correction).toEqual(made.body.correction);
  const undone = await send(app, "DELETE", `${PATH}/${id}`);
  expect(undone).toMatchObject({ status: 200, body: { correction: { id, state: "undone" } } });
  expect(await timesOf(app)).toEqual([-3000, -2000, -1000]);
  expect((await send(app, "DELETE", `${PATH}/${id}`)).status).toBe(200);
});

test("boxes and circles narrow a selection", async () => {
  const app = await createBusApp();
  const range = { action: "hide", device_id: "bus", start: NOON_MS - 3000, end: NOON_MS };
  const count = async (more: object) =>
    (await send(app, "POST", `${PATH}?dry_run=true`, { ...range, ...more })).body.correction.records;
  expect(await count({})).toBe(3);
  expect(await count({ bbox: [-3, 54, -2, 55] })).toBe(1);
  expect(await count({ circle: { latitude: 53.4, longitude: -2.9, radius_meters: 112_000 } })).toBe(2);
  expect(await count({ bbox: [-3, 54, -2, 55], accuracy_above: 901 })).toBe(0);
});

test("a dry run answers a sample and changes nothing", async () => {
  const app = await createBusApp();
  const body = { action: "hide", device_id: "bus", timestamps: [NOON_MS - 1000, NOON_MS - 5] };
  const before = { timestamp: NOON_MS - 1000, latitude: 55.4, longitude: -2.9, horizontal_accuracy: 7 };
  expect((await send(app, "POST", `${PATH}?dry_run=true`, body)).body).toEqual({
    success: true,
    correction: {
      ...{ action: "hide", device_id: "bus", records: 1 },
      ...{ first: NOON_MS - 1000, last: NOON_MS - 1000 },
    },
    sample: [{ before, after: null }],
  });
  expect(await timesOf(app)).toHaveLength(3);
});

test("a move gives a record another position, and undoing it gives the first one back", async () => {
  const app = await createBusApp();
  const timestamp = NOON_MS - 1000;
  const place = { latitude: 1.5, longitude: -2.25, horizontal_accuracy: 3 };
  const body = { action: "move", device_id: "bus", timestamps: [timestamp], ...place, note: "drag" };
  const preview = await send(app, "POST", `${PATH}?dry_run=true`, body);
  const before = { timestamp, latitude: 55.4, longitude: -2.9, horizontal_accuracy: 7 };
  expect(preview.body.sample).toEqual([{ before, after: { timestamp, ...place } }]);
  const current = async () => (await app.get("/api/v1/devices/bus/locations/current")).body.location;
  expect(await current()).toMatchObject(before);
  const made = await send(app, "POST", PATH, body);
  expect(made).toMatchObject({
    status: 200,
    body: { correction: { action: "move", records: 1, first: timestamp, ...place, note: "drag" } },
  });
  expect(await current()).toMatchObject({ timestamp, ...place });
  const { id } = made.body.correction;
  expect((await app.get(`${PATH}/${id}`)).body.correction).toEqual(made.body.correction);
  await app.store([{ ...REPORT, timestamp, horizontal_accuracy: 1, speed: 4 }]);
  expect(await current()).toMatchObject({ timestamp, ...place, speed: 4 });
  expect((await send(app, "DELETE", `${PATH}/${id}`)).status).toBe(200);
  expect(await current()).toMatchObject({ timestamp, ...REPORT, horizontal_accuracy: 1, speed: 4 });
});

test("a shift gives records other times, also another day, and an instant that has a record is a 409", async () => {
  const app = await createBusApp();
  const shift = (body: object, path = PATH) =>
    send(app, "POST", path, { action: "shift_time", device_id: "bus", ...body });
  const timestamps = [NOON_MS - 3000, NOON_MS - 2000];
  for (const path of [PATH, `${PATH}?dry_run=true`])
    expect(await shift({ timestamps, by_ms: 1000 }, path)).toMatchObject({
      status: 409,
      body: { message: `the device "bus" has a record at ${NOON_MS - 1000} already` },
    });
  const range = { start: NOON_MS - 3000, end: NOON_MS };
  const body = { ...range, by_ms: -1000 };
  const { sample } = (await shift(body, `${PATH}?dry_run=true`)).body;
  expect(
    sample.map(({ before, after }: Record<string, { timestamp: number }>) => [
      before!.timestamp - NOON_MS,
      after!.timestamp - NOON_MS,
    ]),
  ).toEqual([
    [-3000, -4000],
    [-2000, -3000],
    [-1000, -2000],
  ]);
  const made = await shift(body);
  expect(made.body.correction).toMatchObject({ records: 3, ...range, by_ms: -1000 });
  expect(await timesOf(app)).toEqual([-4000, -3000, -2000]);
  const { location } = (await app.get("/api/v1/devices/bus/locations/current")).body;
  expect(location).toMatchObject({ timestamp: NOON_MS - 2000, latitude: 55.4 });
  const far = await shift({ timestamps: [NOON_MS - 2000], by_ms: -86_400_000 });
  expect(await timesOf(app)).toEqual([-4000, -3000]);
  expect((await send(app, "DELETE", `${PATH}/${made.body.correction.id}`)).status).toBe(409);
  for (const { body } of [far, made])
    expect((await send(app, "DELETE", `${PATH}/${body.correction.id}`)).status).toBe(200);
  expect(await timesOf(app)).toEqual([-3000, -2000, -1000]);
});

test("records are assigned to another device and user, which may never have reported", async () => {
  const app = await createBusApp();
  await app.store([{ ...REPORT, device_id: "tram", user_id: "ann", timestamp: NOON_MS - 1000 }]);
  const assign = (body: object, path = PATH) =>
    send(app, "POST", path, { action: "assign", device_id: "bus", ...body });
  const range = { start: NOON_MS - 3000, end: NOON_MS };
  expect(await assign({ ...range, to_device_id: "tram" })).toMatchObject({
    status: 409,
    body: { message: `the device "tram" has a record at ${NOON_MS - 1000} already` },
  });
  const two = { timestamps: [NOON_MS - 3000, NOON_MS - 2000], to_device_id: "tram", to_user_id: "eve" };
  const { sample } = (await assign(two, `${PATH}?dry_run=true`)).body;
  expect(sample[0]).toMatchObject({
    before: { device_id: "bus", user_id: "ANONYMOUS", latitude: 53.4 },
    after: { device_id: "tram", user_id: "eve", latitude: 53.4 },
  });
  const made = await assign(two);
  expect(made.body.correction).toMatchObject({ records: 2, to_device_id: "tram", to_user_id: "eve" });
  expect(await timesOf(app)).toEqual([-1000]);
  await app.store([{ ...REPORT, timestamp: NOON_MS - 2000, user_id: "bob", battery_level: 7 }]);
  const day = "start_date=2026-03-20&end_date=2026-03-20";
  const ofTram = async () =>
    (await app.get(`/api/v1/devices/tram/locations/history?${day}`)).body.locations.map(
      ({ timestamp, user_id, battery_level }) => [Number(timestamp) - NOON_MS, user_id, battery_level],
    );
  expect(await ofTram()).toEqual([
    [-3000, "eve", undefined],
    [-2000, "eve", 7],
    [-1000, "ann", undefined],
  ]);
  const rest = await assign({ timestamps: [NOON_MS - 1000], to_device_id: "new" });
  expect((await app.get("/api/v1/devices/bus/locations/current")).status).toBe(404);
  expect((await app.get("/api/v1/devices/new/locations/current")).body.location).toMatchObject({
    latitude: 55.4,
  });
  for (const { body } of [rest, made])
    expect((await send(app, "DELETE", `${PATH}/${body.correction.id}`)).status).toBe(200);
  expect((await app.get("/api/v1/devices/new/locations/current")).status).toBe(404);
  expect(await ofTram()).toEqual([[-1000, "ann", undefined]]);
  expect(await timesOf(app)).toEqual([-3000, -2000, -1000]);
});

test("a correction whose records a later one touched is undone after that", async () => {
  const app = await createBusApp();
  const timestamps = [NOON_MS - 1000];
  const make = async (more: object) =>
    (await send(app, "POST", PATH, { device_id: "bus", timestamps, ...more })).body.correction.id as string;
  const first = await make({ action: "move", latitude: 1, longitude: 2 });
  const second = await make({ action: "move", latitude: 3, longitude: 4 });
  const third = await make({ action: "hide" });
  const refused = await send(app, "DELETE", `${PATH}/${first}`);
  expect(refused.status).toBe(409);
  expect(refused.body.message).toBe(
    `later corrections touch the same records; undo them first: ${second}, ${third}`,
  );
  const latitude = async () =>
    (await app.get("/api/v1/devices/bus/locations/current")).body.location.latitude as number;
  const seen: number[] = [await latitude()];
  for (const id of [third, second, first]) {
    expect((await send(app, "DELETE", `${PATH}/${id}`)).status).toBe(200);
    seen.push(await latitude());
  }
  expect(seen).toEqual([54.4, 3, 1, 55.4]);
});

test("more corrections of one record than 32 are a 400, until one of them is undone", async () => {
  const app = await createBusApp();
  const timestamps = [NOON_MS - 1000];
  const move = (i: number, path = PATH) =>
    send(app, "POST", path, { action: "move", device_id: "bus", timestamps, latitude: 1, longitude: i });
  const ids: string[] = [];
  for (let i = 0; i < 32; i++) ids.push((await move(i)).body.correction.id);
  const message = "at most 32 active corrections touch one record: undo one of them first";
  for (const path of [PATH, `${PATH}?dry_run=true`])
    expect(await move(32, path)).toEqual({ status: 400, body: { success: false, message } });
  expect((await app.get("/api/v1/devices/bus/locations/current")).body.location.longitude).toBe(31);
  const range = { start: NOON_MS - 3000, end: NOON_MS };
  expect((await send(app, "POST", PATH, { action: "hide", device_id: "bus", ...range })).status).toBe(400);
  expect((await send(app, "DELETE", `${PATH}/${ids.at(-1)}`)).status).toBe(200);
  expect((await move(32)).status).toBe(200);
});

test("more devices that show as one than 32, in chains or beside one another, are a 400", async () => {
  const app = await createBusApp();
  const nameOf = (i: number) => `tram${i}`;
  await app.store(
    Array.from({ length: 32 }, (_, i) => ({ ...REPORT, device_id: nameOf(i), timestamp: NOON_MS - i })),
  );
  const assign = (device_id: string, to_device_id: string, path = PATH) =>
    send(app, "POST", path, { action: "assign", device_id, to_device_id });
  for (let i = 0; i < 16; i++) expect((await assign(nameOf(i), nameOf(i + 1))).status).toBe(200);
  for (let i = 17; i < 31; i++) expect((await assign(nameOf(i), "bus")).status).toBe(200);
  const message = "at most 32 devices show as one: undo one of their assignments first";
  expect((await assign(nameOf(16), "bus", `${PATH}?dry_run=true`)).status).toBe(200);
  const more = await assign(nameOf(31), "bus");
  expect(more.status).toBe(200);
  for (const path of [PATH, `${PATH}?dry_run=true`])
    expect(await assign(nameOf(16), "bus", path)).toEqual({ status: 400, body: { success: false, message } });
  expect((await send(app, "DELETE", `${PATH}/${more.body.correction.id}`)).status).toBe(200);
  expect((await assign(nameOf(16), "bus")).status).toBe(200);
});

test("a report is merged into corrections of all devices that its record showed as, less what they set", async () => {
  const app = await createBusApp();
  const timestamp = NOON_MS - 1000;
  const make = async (body: object) => expect((await send(app, "POST", PATH, body)).status).toBe(200);
  const timestamps = [timestamp];
  await make({ action: "move", device_id: "bus", timestamps, latitude: 1, longitude: 2 });
  await make({ action: "assign", device_id: "bus", to_device_id: "tram", to_user_id: "eve" });
  await make({ action: "shift_time", device_id: "tram", timestamps, by_ms: 500 });
  await app.store([{ ...REPORT, timestamp, user_id: "ann", speed: 4 }]);
  const { location } = (await app.get("/api/v1/devices/tram/locations/current")).body;
  const moved = { latitude: 1, longitude: 2, user_id: "eve", speed: 4 };
  expect(location).toMatchObject({ timestamp: timestamp + 500, ...moved });
});

test("all that a device reports shows with the user to whom it is assigned alone, until that is undone", async () => {
  const app = await createBusApp();
  const give = (body: object, path = PATH) =>
    send(app, "POST", path, { action: "assign", device_id: "bus", ...body });
  const moved = { device_id: "bus", timestamps: [NOON_MS - 2000], latitude: 1, longitude: 2 };
  await send(app, "POST", PATH, { action: "move", ...moved });
  const { sample } = (await give({ to_user_id: "eve" }, `${PATH}?dry_run=true`)).body;
  expect(sample[1]).toMatchObject({ after: { device_id: "bus", user_id: "eve", latitude: 1 } });
  const made = await give({ to_user_id: "eve" });
  expect(made.body.correction).toMatchObject({ records: 3, to_user_id: "eve" });
  await app.store([
    { ...REPORT, timestamp: NOON_MS - 500, user_id: "bob" },
    { ...REPORT, timestamp: NOON_MS - 2000, user_id: "bob", battery_level: 7 },
  ]);
  const hide = { action: "hide", device_id: "bus", timestamps: [NOON_MS - 3000] };
  const { correction } = (await send(app, "POST", PATH, hide)).body;
  const day = "start_date=2026-03-20&end_date=2026-03-20";
  const recordsOf = async (path: string) =>
    ((await app.get(`/api/v1/${path}?${day}`)).body.locations ?? []).map(
      ({ timestamp, user_id, latitude, battery_level }) =>
        [Number(timestamp) - NOON_MS, user_id, latitude, battery_level].filter(
          (value) => value !== undefined,
        ),
    );
  const ofEve = [
    [-2000, "eve", 1, 7],
    [-1000, "eve", 55.4],
    [-500, "eve", REPORT.latitude],
  ];
  expect(await recordsOf("devices/bus/locations/history")).toEqual(ofEve);
  expect(await recordsOf("users/eve/locations/history")).toEqual(ofEve);
  expect(await recordsOf("users/bob/locations/history")).toEqual([]);
  const assigned = `the device "bus" shows as that of the user "eve" since correction ${made.body.correction.id}`;
  for (const again of [{ to_user_id: "ann" }, { to_device_id: "tram" }])
    expect(await give(again)).toMatchObject({
      status: 409,
      body: { message: `${assigned}: undo that first` },
    });
  const refused = await send(app, "DELETE", `${PATH}/${made.body.correction.id}`);
  expect(refused.body.message).toEndWith(`undo them first: ${correction.id}`);
  for (const { id } of [correction, made.body.correction])
    expect((await send(app, "DELETE", `${PATH}/${id}`)).status).toBe(200);
  expect(await recordsOf("users/eve/locations/history")).toEqual([]);
  expect(await recordsOf("devices/bus/locations/history")).toEqual([
    [-3000, "ANONYMOUS", 53.4],
    [-2000, "bob", 1, 7],
    [-1000, "ANONYMOUS", 55.4],
    [-500, "bob", REPORT.latitude],
  ]);
});

test("a report of an assigned device brings its user into what a correction shows of the other device", async () => {
  const app = await createBusApp();
  const timestamp = NOON_MS - 10_000;
  const make = async (body: object) => expect((await send(app, "POST", PATH, body)).status).toBe(200);
  const own = { ...REPORT, device_id: "tram", timestamp, user_id: "ann" };
  await app.store([own]);
  await make({ action: "assign", device_id: "bus", to_device_id: "tram", to_user_id: "eve" });
  await make({ action: "shift_time", device_id: "tram", timestamps: [timestamp], by_ms: 9500 });
  const userOf = async (report: JsonObject) => {
    await app.store([report]);
    const { location } = (await app.get("/api/v1/devices/tram/locations/current")).body;
    expect(location.timestamp).toBe(timestamp + 9500);
    return location.user_id;
  };
  expect(await userOf({ ...REPORT, timestamp, user_id: "bob" })).toBe("eve");
  expect(await userOf({ ...own, speed: 5 })).toBe("ann");
  expect(await userOf({ ...REPORT, timestamp, speed: 6 })).toBe("eve");
});

test("a device all of whose records are hidden is as unknown as one that never reported", async () => {
  const app = await createBusApp();
  const hide = { action: "hide", device_id: "bus", start: NOON_MS - 3000, end: NOON_MS };
  const made = await send(app, "POST", PATH, hide);
  expect((await app.get("/api/v1/devices/bus/locations/current")).status).toBe(404);
  expect((await app.get("/api/v1/locations/current")).body.locations).toEqual([]);
  expect((await send(app, "POST", PATH, hide)).status).toBe(404);
  await app.store([{ ...REPORT, timestamp: NOON_MS - 1000, speed: 4 }]); // Hidden, and adds a field.
  expect((await app.get("/api/v1/devices/bus/locations/current")).status).toBe(404);
  await send(app, "DELETE", `${PATH}/${made.body.correction.id}`);
  const { location } = (await app.get("/api/v1/devices/bus/locations/current")).body;
  expect(location).toMatchObject({ timestamp: NOON_MS - 1000 });
});

test("a repetition with the same Idempotency-Key gets the first answer, and another body a 409", async () => {
  const app = await createBusApp();
  const hide = (timestamp: number, key: string) => {
    const body = { action: "hide", device_id: "bus", timestamps: [timestamp] };
    return send(app, "POST", PATH, body, { "idempotency-key": key });
  };
  const first = await hide(NOON_MS - 1000, "a");
  expect((await hide(NOON_MS - 1000, "a")).body.correction).toEqual(first.body.correction);
  expect((await hide(NOON_MS - 2000, "a")).status).toBe(409);
  expect((await hide(NOON_MS - 2000, "b")).status).toBe(200);
  expect((await hide(NOON_MS - 3000, "no spaces")).status).toBe(400);
  expect((await app.get(PATH)).body.pagination).toMatchObject({ total_count: 2 });
});

test.each([
  [{ action: "drop" }, "action must be one of hide, move, shift_time, assign"],
  [{ action: "move" }, "latitude, between -90 and 90, and longitude, between -180 and 180, are required"],
  [{ action: "assign" }, "to_device_id or to_user_id is required"],
  [{ action: "assign", to_device_id: "bus" }, "to_device_id must be another device"],
  [
    { action: "assign", to_device_id: "" },
    "to_device_id must be 1 to 128 characters, none of them control characters",
  ],
  [{ action: "assign", to_user_id: 7 }, "to_user_id must be a text"],
  [{ action: "shift_time" }, "by_ms is required: a whole number of milliseconds, not 0"],
  [{ action: "shift_time", by_ms: 0 }, "by_ms is required: a whole number of milliseconds, not 0"],
  [
    { action: "shift_time", by_ms: 1001 },
    `by_ms would put a record into the future: at ${NOON_MS + 1}, and it is ${NOON_MS}`,
  ],
  [
    { action: "shift_time", by_ms: -NOON_MS },
    `by_ms would put a record before the retention: at -1000, and that begins at ${RETENTION_START_MS}`,
  ],
  [
    { action: "move", latitude: 1, longitude: 2, horizontal_accuracy: -1 },
    "horizontal_accuracy must be between 0 and 10000000",
  ],
  [
    { action: "move", latitude: 1, longitude: 2, timestamps: undefined, start: NOON_MS - 9000, end: NOON_MS },
    "move changes one record, and the selection has 3: select one by timestamps",
  ],
  [{ device_id: "" }, "device_id must be 1 to 128 characters, none of them control characters"],
  [{ timestamps: [] }, "timestamps must be 1 to 1000 whole numbers, Unix milliseconds"],
  [{ timestamps: [1.5] }, "timestamps must be 1 to 1000 whole numbers, Unix milliseconds"],
  [{ timestamps: undefined }, "timestamps, or start and end, are required: whole numbers, Unix milliseconds"],
  [{ timestamps: undefined, start: 5, end: 5 }, "end must be after start"],
  [
    { timestamps: undefined, start: 0, end: 367 * 86_400_000 },
    "start and end must be at most 366 days apart: make several corrections",
  ],
  [{ start: 1 }, "timestamps can't be combined with start, end, bbox, circle, accuracy_above"],
  [{ note: "n".repeat(501) }, "note must be at most 500 characters"],
  [
    { colour: "red" },
    "a correction with action hide has action, device_id, timestamps, start, end, bbox, circle, accuracy_above, note, and no other members",
  ],
  [{ timestamps: [1] }, "no record matches the selection"],
])("%j is a 400 that says why", async (change, message) => {
  const app = await createBusApp();
  const body = { action: "hide", device_id: "bus", timestamps: [NOON_MS - 1000], ...change };
  expect(await send(app, "POST", PATH, body)).toEqual({ status: 400, body: { success: false, message } });
});

test("the list is newest first, by device and by state", async () => {
  const app = await createBusApp();
  await app.store([{ ...REPORT, device_id: "tram", timestamp: NOON_MS }]);
  const ids: string[] = [];
  for (const [device_id, timestamp] of [
    ["bus", NOON_MS - 1000],
    ["tram", NOON_MS],
  ] as const) {
    const made = await send(app, "POST", PATH, { action: "hide", device_id, timestamps: [timestamp] });
    ids.push(made.body.correction.id);
  }
  await send(app, "DELETE", `${PATH}/${ids[0]}`);
  const listed = async (query: string) =>
    (
      (await app.get(`${PATH}?${query}`)).body as unknown as { corrections: { id: string }[] }
    ).corrections.map(({ id }) => id);
  expect(await listed("")).toEqual([ids[1]!, ids[0]!]);
  expect(await listed("device_id=bus")).toEqual([ids[0]!]);
  expect(await listed("state=active")).toEqual([ids[1]!]);
  expect(await listed("limit=1&offset=1")).toEqual([ids[0]!]);
});
