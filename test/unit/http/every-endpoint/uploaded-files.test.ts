import { describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { DAWARICH_ENDPOINTS } from "../../../../src/http/clients/client-endpoints.ts";
import { EXAMPLE_REPORT } from "../../../../src/http/shapes/record-schemas.ts";
import { createTestApp } from "../../../support/test-app.ts";
import { askedWith, nameOf, OF_CLIENTS, pathTo } from "../requests.ts";

/*
 * An app that uploads a file and is told of success deletes it. So on no path of a client is a file answered with
 * success, or kept in the quarantine, where no replay could make a report of it.
 */

const GPX =
  '<?xml version="1.0"?><gpx version="1.1"><trk><trkseg><trkpt lat="52.5" lon="13.4"/></trkseg></trk></gpx>';
const BINARY = Uint8Array.of(14, 32, 84, 8, 112, 6, 0, 0, 0x2e, 0x46, 0x49, 0x54, 1, 2);

const OCTETS = "application/octet-stream";

/** What is uploaded, and the types that it comes with; null for none. */
const FILES: readonly (readonly [
  name: string,
  body: string | Uint8Array,
  types: readonly (string | null)[],
])[] = [
  [
    "GPX",
    GPX,
    ["application/gpx+xml", "Application/GPX+XML; charset=utf-8", "text/xml", OCTETS, "text/plain", null],
  ],
  ["GPX after a mark", `\ufeff\n${GPX}`, [OCTETS, null]],
  ["KML", "<kml><Document/></kml>", ["application/vnd.google-earth.kml+xml", OCTETS, null]],
  ["KMZ", "PK\u0003\u0004rest", ["application/vnd.google-earth.kmz", "application/zip", OCTETS, null]],
  ["TCX", "<TrainingCenterDatabase/>", ["application/vnd.garmin.tcx+xml", "application/xml", null]],
  ["FIT", BINARY, ["application/vnd.ant.fit", "application/fit", OCTETS, null]],
  ["gzip", gzipSync(GPX), ["application/gzip", "application/x-gzip", OCTETS, null]],
  [
    "a form of parts",
    `--x1y2\r\nContent-Disposition: form-data; name="f"\r\n\r\n${GPX}\r\n--x1y2--`,
    ["multipart/form-data; boundary=x1y2", "multipart/related", OCTETS, null],
  ],
  ["a photo", Uint8Array.of(0xff, 0xd8, 0xff, 0xe0, 0, 16, 0x4a, 0x46), ["image/jpeg", OCTETS, null]],
  ["a film", "anything", ["video/mp4", "audio/mpeg", "application/pdf", "application/x-sqlite3"]],
  ["NMEA", "$GPRMC,1,A\r\n$GPGGA,2\r\n", ["application/nmea", "text/plain", OCTETS, null]],
  [
    "a table",
    "time,lat,lon\n2026-02-02T02:40:00Z,52.5,13.4\n",
    ["text/csv", "application/csv", OCTETS, null],
  ],
  ...[
    ["a table without a header", "52.5,13.4,2026-02-02T02:40:00Z\n52.6,13.4,2026-02-02T02:40:01Z\n"],
    ["a table behind a title", "My = track\nlat,lon,time\n"],
    ["a table behind what a spreadsheet asks for", "sep=;\r\nlat;lon;time\r\n"],
    ["a table with units", "Time,Latitude (deg),Longitude (deg)\r1,2,3\r"],
    ["a track of OziExplorer", "OziExplorer Track Point File Version 2.1\r\nWGS 84\r\n"],
    ["a log of NMEA behind times", "1609 $GPRMC,1,A\r\n1610 $GPGGA,2\r\n"],
    ["lines of OwnTracks Recorder", '2026-02-02T02:40:00Z\t*  \t{"_type":"location"}\n2026\t*\t{}\n'],
    ["XML behind blanks", `${" ".repeat(5000)}<gpx version="1.1"/>`],
    ["lines of JSON", '{"device_id":"a"}\n{"device_id":"b"}\n'],
    ["GeoJSONSeq", '{"type":"Feature","geometry":null}\r\n{"type":"Feature","geometry":null}\r\n'],
    ["a Feature", '{"type":"Feature","geometry":{"type":"LineString","coordinates":[]}}'],
    ["TopoJSON", '{"type":"Topology","objects":{},"arcs":[]}'],
  ].map(([name, body]) => [name!, body!, ["text/plain", OCTETS, null]] as const),
  [
    "GeoJSON",
    '{"type":"FeatureCollection","features":[]}',
    ["application/geo+json", "application/json", null],
  ],
  ["Google's records", '{"locations":[{"latitudeE7":1,"longitudeE7":2}]}', ["application/json", null]],
  ["Google's Timeline", '{"semanticSegments":[]}', ["application/json", OCTETS, null]],
  ["what nobody knows", "x", ["application/vnd.example.thing", "chemical/x-pdb"]],
];

const POSTS = [...OF_CLIENTS, ...DAWARICH_ENDPOINTS].filter(({ method }) => method === "POST");

describe.each(POSTS.map((endpoint) => [nameOf(endpoint), endpoint] as const))("%s", (_name, endpoint) => {
  test("refuses files by a 415 that says what to do, and keeps nothing of them", async () => {
    const app = await createTestApp({ moreEndpoints: DAWARICH_ENDPOINTS });
    const key = app.keys.writer;
    const path = pathTo(endpoint, { key, device: "pixel7" });
    const authorization: Record<string, string> = path.includes(key)
      ? {}
      : { authorization: `Bearer ${key}` };
    for (const [name, body, types] of FILES) {
      for (const type of types) {
        const headers = { ...authorization, ...(type !== null && { "content-type": type }) };
        const init = { method: "POST", headers, body: new Blob([body as BlobPart]) };
        const answer = await app.fetch(path, init);
        const text = await answer.text();
        expect({ name, type, status: answer.status }).toEqual({ name, type, status: 415 });
        expect(text).toContain("import");
        expect(text).not.toMatch(/"result"|"_type"|background_geolocation/);
      }
    }
    expect((await app.get("/api/v1/quarantine")).body.total_count).toBe(0);
    expect((await app.get("/api/v1/locations/current")).body.locations).toEqual([]);
  });

  test("keeps what may be a damaged report, or a form of any values", async () => {
    const app = await createTestApp({ moreEndpoints: DAWARICH_ENDPOINTS });
    const path = pathTo(endpoint, { key: app.keys.writer, device: "pixel7" });
    const headers = { authorization: `Bearer ${app.keys.writer}`, "content-type": "text/plain" };
    const bodies = ['{"_type":"location",\n"lat":52,', "hello\n", "act=x&desc=one\ntwo", "[\n1,"];
    for (const body of bodies)
      expect([body, (await app.fetch(path, { method: "POST", headers, body })).status]).toEqual([body, 200]);
    expect((await app.get("/api/v1/quarantine")).body.total_count).toBe(bodies.length);
  });

  test("takes its own report under any type that apps give it", async () => {
    const startMs = Number(EXAMPLE_REPORT.timestamp);
    const app = await createTestApp({ moreEndpoints: DAWARICH_ENDPOINTS, startMs });
    const [path, init] = askedWith(endpoint, app.keys.writer);
    for (const type of [
      "application/json",
      OCTETS,
      "text/plain",
      "text/json",
      "application/x-www-form-urlencoded",
    ]) {
      const headers = { ...(init.headers as Record<string, string>), "content-type": type };
      expect([type, (await app.fetch(path, { ...init, headers })).status]).toEqual([type, 200]);
    }
    expect((await app.get("/api/v1/quarantine")).body.total_count).toBe(0);
    expect((await app.get("/api/v1/locations/current")).body.locations).toHaveLength(1);
  });
});
