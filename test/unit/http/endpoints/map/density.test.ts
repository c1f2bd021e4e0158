import { expect, test } from "bun:test";
import { createTestApp, NOON_MS } from "../../../../support/test-app.ts";
import { BUS } from "../../requests.ts";

const RANGE = `start=${NOON_MS - 1000}&end=${NOON_MS}`;

test("density counts positions by cells of the zoom, in the range and the box", async () => {
  const app = await createTestApp();
  await app.store([
    { ...BUS, timestamp: NOON_MS - 1000 },
    { ...BUS, timestamp: NOON_MS - 1 },
    { ...BUS, timestamp: NOON_MS }, // Behind the range.
    { ...BUS, timestamp: NOON_MS - 500, latitude: -BUS.latitude },
  ]);
  const { status, body } = await app.get(`/api/v1/density?${RANGE}&zoom=10`);
  expect({ status, body: body as unknown }).toEqual({
    status: 200,
    body: {
      success: true,
      app_id: "fleet",
      zoom: 10,
      x: [32_240, 32_240],
      y: [21_226, 44_309],
      count: [2, 1],
    },
  });
  const north = await app.get(`/api/v1/density?${RANGE}&zoom=10&bbox=-10,0,10,90`);
  expect([north.body.y, north.body.count]).toEqual([[21_226], [2]]);
  const none = await app.get(`/api/v1/density?${RANGE}&zoom=10&bbox=10,0,20,90`);
  expect([none.status, none.body.x]).toEqual([200, []]);
});

test("density says what is wrong with a question", async () => {
  const app = await createTestApp();
  const refused = async (query: string, message: string) => {
    const { status, body } = await app.get(`/api/v1/density?${query}`);
    expect({ query, status, message: body.message }).toEqual({ query, status: 400, message });
  };
  await refused("end=2&zoom=1", "start is required");
  await refused("start=1&zoom=1", "end is required");
  await refused("start=1&end=2", "zoom is required");
  await refused("start=1&end=2&zoom=23", "zoom must be between 0 and 22");
  await refused("start=1&end=2&zoom=1.5", "zoom must be an integer");
  await refused("start=2&end=2&zoom=1", "start must be before end");
  await refused(`start=0&end=${367 * 86_400_000}&zoom=1`, "start to end must be at most 366 days");
  await refused(
    "start=1&end=2&zoom=1&bbox=1,2,3",
    "bbox must be west,south,east,north: four numbers in plain decimals",
  );
});

test("a density is not sent again while nothing has come", async () => {
  const app = await createTestApp();
  await app.store([{ ...BUS, timestamp: NOON_MS - 1 }]);
  const ask = (headers = {}) =>
    app.fetch(`/api/v1/density?${RANGE}&zoom=10`, {
      headers: { authorization: `Bearer ${app.keys.full}`, ...headers },
    });
  const etag = (await ask()).headers.get("etag")!;
  expect((await ask({ "if-none-match": etag })).status).toBe(304);
  await app.store([{ ...BUS, timestamp: NOON_MS - 2 }]);
  expect((await ask({ "if-none-match": etag })).status).toBe(200);
});
