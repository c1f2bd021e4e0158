import { expect, test } from "bun:test";
import { openTileFile } from "../../../../src/map/tile-file.ts";
import { createTestApp } from "../../../support/test-app.ts";
import { openTestBaseMap } from "../../../support/test-base-map.ts";
import { inputsWith, STREETS_BOUNDS, streetsFile } from "../../map/fixture.ts";

/* The base map's tiles and what the page is told of them; nobody needs a key. */

async function appWith(streets: Uint8Array | null) {
  const { world } = await openTestBaseMap();
  const file = streets === null ? null : await openTileFile(inputsWith(streets), "boston.pmtiles");
  return createTestApp({ baseMap: () => ({ world, streets: file }) });
}

const GZIP = { headers: { "accept-encoding": "br, gzip;q=0.5" } };

test("GET /map/base.json says where tiles are, by version, and whom to credit", async () => {
  const app = await appWith(streetsFile());
  const response = await app.fetch("/map/base.json");
  expect(response.headers.get("cache-control")).toBe("no-cache");
  const { world, streets } = (await response.json()) as Record<string, Record<string, unknown>>;
  expect(world).toEqual({
    tiles: expect.stringMatching(/^\/map\/tiles\/\{z\}\/\{x\}\/\{y\}\?v=[\w-]{16}$/),
    minzoom: 0,
    maxzoom: 6,
    bounds: [-180, -85.0511287, 180, 85.0511287],
    areas: [[-180, -85.0511287, 180, 85.0511287]],
    credits: [{ text: "Natural Earth, GeoNames (CC BY 4.0)", url: null }],
  });
  expect(streets).toEqual({
    tiles: expect.stringMatching(/^\/map\/streets\/\{z\}\/\{x\}\/\{y\}\?v=[\w-]{16}$/),
    minzoom: 0,
    maxzoom: 14,
    bounds: STREETS_BOUNDS,
    areas: [STREETS_BOUNDS],
    credits: [
      { text: "Protomaps", url: "https://github.com/protomaps/basemaps" },
      { text: " © ", url: null },
      { text: "OpenStreetMap", url: "https://openstreetmap.org/" },
    ],
  });
  expect(await (await (await appWith(null)).fetch("/map/base.json")).json()).toEqual({
    world,
    streets: null,
  });
});

test("a tile comes as it lies in the file, for good where its version is named", async () => {
  const app = await appWith(null);
  const { world } = (await (await app.fetch("/map/base.json")).json()) as { world: { tiles: string } };
  const path = world.tiles.replace("{z}/{x}/{y}", "6/19/23");
  const named = await app.fetch(path, GZIP);
  expect(named.status).toBe(200);
  expect(named.headers.get("content-type")).toBe("application/vnd.mapbox-vector-tile");
  expect(named.headers.get("content-encoding")).toBe("gzip");
  expect(named.headers.get("vary")).toContain("Accept-Encoding");
  expect(named.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
  for (const other of ["/map/tiles/6/19/23", path.replace("?v=", "?v=x"), `${path}x`, `${path}&x=1`]) {
    const unnamed = await app.fetch(other, GZIP);
    expect([unnamed.status, unnamed.headers.get("cache-control")]).toEqual([200, "no-cache"]);
  }
});

test("who takes no gzip gets the tile unpacked", async () => {
  const app = await appWith(null);
  const packed = await app.fetch("/map/tiles/6/19/23", GZIP);
  const bytes = Bun.gunzipSync(new Uint8Array(await packed.arrayBuffer()));
  for (const accepted of ["", "br", "gzip;q=0", "zstd"]) {
    const plain = await app.fetch("/map/tiles/6/19/23", { headers: { "accept-encoding": accepted } });
    expect(plain.headers.get("content-encoding")).toBeNull();
    expect(new Uint8Array(await plain.arrayBuffer())).toEqual(new Uint8Array(bytes));
  }
});

test("204 where there is nothing, 404 where no tile can be, 400 for what is no number", async () => {
  const app = await appWith(null);
  const answers = await Promise.all(
    ["6/0/63", "7/1/1", "26/1/1", "3/8/0", "3/0/8", "0/0/1", "27/0/0", "6/-1/0", "6/1.5/0", "a/b/c"].map(
      async (address) => {
        const response = await app.fetch(`/map/tiles/${address}`);
        return [address, response.status, await response.text()];
      },
    ),
  );
  const no = (address: string) => `{"success":false,"message":"the map has no tile ${address}"}`;
  const refused = (name: string, maximum: number) =>
    `{"success":false,"message":"${name} in the path must be an integer between 0 and ${maximum}"}`;
  expect(answers).toEqual([
    ["6/0/63", 200, expect.anything()],
    ["7/1/1", 204, ""],
    ["26/1/1", 204, ""],
    ["3/8/0", 404, no("3/8/0")],
    ["3/0/8", 404, no("3/0/8")],
    ["0/0/1", 404, no("0/0/1")],
    ["27/0/0", 400, refused("z", 26)],
    ["6/-1/0", 400, refused("x", 2 ** 26 - 1)],
    ["6/1.5/0", 400, refused("x", 2 ** 26 - 1)],
    ["a/b/c", 400, refused("z", 26)],
  ]);
});

test("tiles of streets come from the operator's file, and are not there without one", async () => {
  const app = await appWith(streetsFile());
  expect((await app.fetch("/map/streets/14/4956/6060")).status).toBe(200);
  expect((await app.fetch("/map/streets/14/0/0")).status).toBe(204);
  const none = await (await appWith(null)).fetch("/map/streets/14/4956/6060");
  expect([none.status, await none.json()]).toEqual([
    404,
    { success: false, message: "the server has no map of streets" },
  ]);
});

test("a tile that can't be unpacked is a fault of ours, told by an id alone", async () => {
  const bytes = streetsFile();
  const tilesAt = Number(new DataView(bytes.buffer).getBigUint64(56, true));
  bytes.fill(7, tilesAt);
  const app = await appWith(bytes);
  const response = await app.fetch("/map/streets/0/0/0");
  expect(response.status).toBe(500);
  expect(await response.json()).toMatchObject({
    message: "the server failed to answer; its log has the details",
  });
});

test("a damaged directory is a fault of ours, for this tile alone", async () => {
  const bytes = streetsFile();
  bytes.fill(7, 130, 160);
  const app = await appWith(bytes);
  expect((await app.fetch("/map/streets/0/0/0", GZIP)).status).toBe(500);
  expect((await app.fetch("/map/tiles/0/0/0", GZIP)).status).toBe(200);
});

test("tiles that lie there unpacked are sent so", async () => {
  const bytes = streetsFile();
  bytes[98] = 1;
  const app = await appWith(bytes);
  const response = await app.fetch("/map/streets/14/4956/6060");
  const sent = new Uint8Array(await response.arrayBuffer());
  expect([...sent.subarray(0, 2)]).toEqual([0x1f, 0x8b]); // What this file says is unpacked.
});
