import { expect, test } from "bun:test";
import { VectorTile } from "@mapbox/vector-tile";
import { PbfReader } from "pbf";
import { cellAt, mercatorX, mercatorY } from "../../../../../src/map/mercator.ts";
import { createTestApp, NOON_MS, type TestApp } from "../../../../support/test-app.ts";
import { BUS } from "../../requests.ts";

const app = await createTestApp();
await app.store([{ ...BUS, timestamp: NOON_MS, speed: 5, bearing: 96 }]);

const ask = (path: string, headers: Readonly<Record<string, string>> = {}, asked: TestApp = app) =>
  asked.fetch(`/api/v1/tiles/${path}`, {
    headers: { authorization: `Bearer ${asked.keys.full}`, ...headers },
  });

async function layersOf(response: Response) {
  return new VectorTile(new PbfReader(new Uint8Array(await response.arrayBuffer()))).layers;
}

test("a tile has the app's devices as points", async () => {
  const response = await ask("10/503/331.mvt");
  expect([response.status, response.headers.get("content-type")]).toEqual([
    200,
    "application/vnd.mapbox-vector-tile",
  ]);
  const { current } = await layersOf(response);
  expect(current!.length).toBe(1);
  const feature = current!.feature(0);
  expect(feature.properties).toEqual({
    device_id: "bus",
    timestamp: NOON_MS,
    speed: 5,
    bearing: 96,
    count: 1,
  });
  const [longitude, latitude] = (
    feature.toGeoJSON(503, 331, 10).geometry as unknown as { coordinates: [number, number] }
  ).coordinates;
  expect(longitude).toBeCloseTo(BUS.longitude, 3);
  expect(latitude).toBeCloseTo(BUS.latitude, 3);
});

test("a tile of density has squares with counts", async () => {
  const { density } = await layersOf(
    await ask(`10/503/331.mvt?layer=density&start=${NOON_MS}&end=${NOON_MS + 1}`),
  );
  expect([density!.length, density!.feature(0).properties]).toEqual([1, { count: 1 }]);
  const { type, coordinates } = density!.feature(0).toGeoJSON(503, 331, 10).geometry as unknown as {
    type: string;
    coordinates: number[][][];
  };
  expect(type).toBe("Polygon");
  const longitudes = coordinates[0]!.map(([longitude]) => longitude!);
  const latitudes = coordinates[0]!.map(([, latitude]) => latitude!);
  expect(BUS.longitude).toBeWithin(Math.min(...longitudes), Math.max(...longitudes));
  expect(BUS.latitude).toBeWithin(Math.min(...latitudes), Math.max(...latitudes));
});

test("an empty tile is a 204 without a body", async () => {
  const response = await ask("10/0/0.mvt");
  expect([response.status, response.headers.get("content-type"), await response.text()]).toEqual([
    204,
    null,
    "",
  ]);
  expect(response.headers.get("etag")).toStartWith('W/"');
});

test("a tile is not sent again while nothing has moved", async () => {
  const asked = await createTestApp();
  await asked.store([{ ...BUS, timestamp: NOON_MS }]);
  const etag = (await ask("10/503/331.mvt", {}, asked)).headers.get("etag")!;
  expect((await ask("10/503/331.mvt", { "if-none-match": etag }, asked)).status).toBe(304);
  await asked.store([{ ...BUS, timestamp: NOON_MS + 1 }]);
  expect((await ask("10/503/331.mvt", { "if-none-match": etag }, asked)).status).toBe(200);
});

test("a tile that is none is refused", async () => {
  const refused = async (path: string, message: string) => {
    const { status, body } = await app.get(`/api/v1/tiles/${path}`);
    expect({ path, status, message: body.message }).toEqual({ path, status: 400, message });
  };
  await refused("17/0/0.mvt", "z in the path must be an integer between 0 and 16");
  await refused("-1/0/0.mvt", "z in the path must be an integer between 0 and 16");
  await refused("1.0/0/0.mvt", "z in the path must be an integer between 0 and 16");
  await refused("a/0/0.mvt", "z in the path must be an integer between 0 and 16");
  await refused("0/1/0.mvt", "x and y must be at most 0 at zoom 0");
  await refused("3/0/8.mvt", "x and y must be at most 7 at zoom 3");
  await refused("3/99999/8.mvt", "x in the path must be an integer between 0 and 65535");
  await refused("0/0/0", "y in the path must be followed by .mvt");
  await refused("0/0/0.png", "y in the path must be followed by .mvt");
  await refused("0/0/.mvt", "y in the path must be an integer between 0 and 65535");
  await refused("0/0/0.mvt?layer=heat", "layer must be current or density or tracks");
  await refused("0/0/0.mvt?layer=density", "start and end are required with layer=density");
  await refused("0/0/0.mvt?layer=density&start=2&end=1", "start must be before end");
  await refused("0/%ff/0.mvt", "x in the path must be percent-encoded UTF-8");
});

test("a long tile is compressed", async () => {
  const asked = await createTestApp();
  const reports = Array.from({ length: 500 }, (_, index) => ({
    ...BUS,
    device_id: `bus-${index}`,
    longitude: BUS.longitude + index / 5000,
    timestamp: NOON_MS,
  }));
  await asked.store(reports);
  const response = await ask("10/503/331.mvt", { "accept-encoding": "gzip" }, asked);
  expect(response.headers.get("content-encoding")).toBe("gzip");
  const bytes = Bun.gunzipSync(new Uint8Array(await response.arrayBuffer()));
  expect(new VectorTile(new PbfReader(bytes)).layers.current!.length).toBeGreaterThan(200);
});

test("a share link draws its devices alone, where and when it shows them", async () => {
  const asked = await createTestApp();
  await asked.store([
    { ...BUS, timestamp: NOON_MS - 1234, speed: 5, bearing: 96 },
    { ...BUS, device_id: "tram", timestamp: NOON_MS },
  ]);
  const drawn = async (path: string, key: "viewer" | "blurredViewer") => {
    const headers = { authorization: `Bearer ${asked.keys[key]}` };
    const response = await asked.fetch(`/api/v1/tiles/${path}`, { headers });
    if (response.status !== 200) return [];
    const { current } = await layersOf(response);
    const features = Array.from({ length: current!.length }, (_, index) => current!.feature(index));
    const isInside = ({ x, y }: { x: number; y: number }) => Math.min(x, y) >= 0 && Math.max(x, y) < 4096;
    return features
      .filter((feature) => isInside(feature.loadGeometry()[0]![0]!))
      .map(({ properties }) => properties);
  };
  expect(await drawn("10/503/331.mvt", "viewer")).toEqual([
    { device_id: "bus", timestamp: NOON_MS - 1234, speed: 5, bearing: 96, count: 1 },
  ]);
  // It is in one tile of a zoom at which a tile is narrower than the grid: that of the grid's center, not its own.
  const { body } = await asked.get("/api/v1/devices/bus/locations/current", "blurredViewer");
  const shown = body.location as { latitude: number; longitude: number; timestamp: number };
  const tileOf = ({ latitude, longitude }: { latitude: number; longitude: number }) =>
    `16/${cellAt(mercatorX(longitude), 16)}/${cellAt(mercatorY(latitude), 16)}.mvt`;
  expect(tileOf(shown)).not.toBe(tileOf(BUS));
  expect(await drawn(tileOf(BUS), "blurredViewer")).toEqual([]);
  expect(await drawn(tileOf(shown), "blurredViewer")).toEqual([
    { device_id: "bus", timestamp: shown.timestamp, count: 1 },
  ]);
  expect(shown.timestamp).toBe(NOON_MS - 60_000);
});

test("a share link draws no density", async () => {
  const { status } = await app.get(`/api/v1/tiles/0/0/0.mvt?layer=density&start=0&end=1`, "viewer");
  expect(status).toBe(403);
});

test("tracks have the app's positions as points with counts, and are not sent again while they are the same", async () => {
  const asked = await createTestApp();
  await asked.store([
    { ...BUS, timestamp: NOON_MS - 2 },
    { ...BUS, timestamp: NOON_MS - 1 },
  ]);
  const response = await ask("10/503/331.mvt?layer=tracks", {}, asked);
  const { tracks } = await layersOf(response);
  expect([tracks!.length, tracks!.feature(0).properties]).toEqual([1, { count: 2 }]);
  const [longitude, latitude] = (
    tracks!.feature(0).toGeoJSON(503, 331, 10).geometry as unknown as { coordinates: [number, number] }
  ).coordinates;
  expect(longitude).toBeCloseTo(BUS.longitude, 2);
  expect(latitude).toBeCloseTo(BUS.latitude, 2);
  const headers = { "if-none-match": response.headers.get("etag")! };
  expect((await ask("10/503/331.mvt?layer=tracks", headers, asked)).status).toBe(304);
  const other = await asked.fetch("/api/v1/tiles/10/503/331.mvt?layer=tracks", {
    headers: { authorization: `Bearer ${asked.keys.other}`, ...headers },
  });
  expect(other.status).toBe(204);
});

test("a share link draws no tracks", async () => {
  const { status } = await app.get("/api/v1/tiles/10/503/331.mvt?layer=tracks", "viewer");
  expect(status).toBe(403);
});
