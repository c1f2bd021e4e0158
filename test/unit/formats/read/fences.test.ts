import { expect, test } from "bun:test";
import { readFences } from "../../../../src/formats/read/fences/fence-file.ts";
import type { WatchDraft } from "../../../../src/model/watches/watch-rules.ts";

const EXTENTS = { radiusMeters: 100, bufferMeters: 50 };

async function read(text: string, pieceBytes = 1 << 16): Promise<readonly WatchDraft[] | string> {
  const drafts: WatchDraft[] = [];
  const bytes = new TextEncoder().encode(text);
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.slice(at, at + pieceBytes);
  }
  const count = await readFences(pieces(), EXTENTS, (draft) => drafts.push(draft));
  if (!count.ok) return count.error.message;
  expect(count.value).toBe(drafts.length);
  return drafts;
}

/** What the tests tell apart. */
function outlineOf(drafts: readonly WatchDraft[] | string): unknown {
  if (typeof drafts === "string") return drafts;
  return drafts.map(({ look, terms }) => {
    if (terms.kind === "alert") return null;
    const { area } = terms;
    if (area.type === "Point") return [look.name, [area.longitude, area.latitude], area.radiusMeters];
    if (area.type === "LineString") return [look.name, [...area.line], area.bufferMeters];
    return [look.name, area.polygons.map((polygon) => polygon.map((ring) => ring.length / 2))];
  });
}

const KML = `\ufeff<?xml version="1.0"?><!-- <gpx> --><kml xmlns="http://www.opengis.net/kml/2.2"><Document><name>All</name>
<Placemark><name>Yard</name><description>A &amp; B</description><Polygon>
<innerBoundaryIs><LinearRing><coordinates>1,1 2,1 2,2 1,1</coordinates></LinearRing></innerBoundaryIs>
<outerBoundaryIs><LinearRing><coordinates>0,0,5 4,0,5
 4,4,5 0,4,5 0,0,5</coordinates></LinearRing></outerBoundaryIs></Polygon></Placemark>
<Placemark><name>Both</name><MultiGeometry><Polygon><outerBoundaryIs><LinearRing><coordinates>0,0 1,0 1,1 0,0</coordinates></LinearRing></outerBoundaryIs></Polygon>
<Polygon><outerBoundaryIs><LinearRing><coordinates>5,5 6,5 6,6 5,5</coordinates></LinearRing></outerBoundaryIs></Polygon></MultiGeometry></Placemark>
<Placemark><name>Road</name><LineString><coordinates>0,0 1,1</coordinates></LineString></Placemark>
<Placemark><Point><coordinates>7,8,9</coordinates></Point></Placemark></Document></kml>`;

const GPX = `<gpx><wpt lat="8" lon="7"><name>Stop</name></wpt><rte><name>Way</name><desc>x</desc><rtept lat="0" lon="0"><name>no</name></rtept>
<rtept lat="1" lon="1"/></rte><trk><name>Track</name><trkseg><trkpt lat="1" lon="1"/></trkseg></trk></gpx>`;

test("readFences() reads KML, GPX and GeoJSON, in pieces of any size", async () => {
  const collection = JSON.stringify({
    type: "FeatureCollection",
    features: [
      {
        type: "Feature",
        geometry: { type: "Point", coordinates: [7, 8] },
        properties: { name: "A", radius_meters: 20 },
      },
      {
        type: "Feature",
        geometry: {
          type: "Polygon",
          coordinates: [
            [
              [0, 0],
              [1, 0],
              [1, 1],
              [0, 0],
            ],
          ],
        },
        properties: {},
      },
    ],
  });
  for (const pieceBytes of [1 << 16, 700]) {
    expect(outlineOf(await read(KML, pieceBytes))).toEqual([
      ["Yard", [[5, 4]]],
      ["Both", [[4], [4]]],
      ["Road", [0, 0, 1, 1], 50],
      [null, [7, 8], 100],
    ]);
    expect(outlineOf(await read(GPX, pieceBytes))).toEqual([
      ["Stop", [7, 8], 100],
      ["Way", [0, 0, 1, 1], 50],
    ]);
    expect(outlineOf(await read(collection, pieceBytes))).toEqual([
      ["A", [7, 8], 20],
      [null, [[4]]],
    ]);
  }
});

test("readFences() names the place of the first fence that is not valid, or why a file is not read", async () => {
  const feature = {
    type: "Feature",
    geometry: { type: "Point", coordinates: [7, 8] },
    properties: { radius_meters: 20 },
  };
  const collection = (...features: readonly unknown[]) =>
    JSON.stringify({ type: "FeatureCollection", features });
  const faults: readonly (readonly [string, string])[] = [
    [
      collection(feature, { ...feature, properties: {} }),
      "features[1]: properties.radius_meters is required for a Point: 10 to 100,000",
    ],
    [
      KML.replace("4,4,5 0,4,5", "4,4,5 0,95,5"),
      'Placemark 1 "Yard" (line 2): geometry.coordinates[0][3] must have a latitude from -90 to 90',
    ],
    [
      GPX.replace('lat="0"', ""),
      'route 1 "Way" (line 1): geometry.coordinates[0] must have a latitude from -90 to 90',
    ],
    [collection(), "the file has no geofences"],
    ['{"type":"Feature"}', "type must be FeatureCollection"],
    ["<html></html>", "the file must be a GeoJSON FeatureCollection, KML or GPX"],
    ["", "the file is empty"],
  ];
  for (const [text, fault] of faults) expect(await read(text)).toBe(fault);
  expect(await read(KML.slice(0, 300))).toContain("cut off");
});
