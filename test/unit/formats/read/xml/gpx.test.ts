import { describe, expect, test } from "bun:test";
import { gpx, OnlyTrack } from "../../../../../src/formats/read/xml/gpx.ts";
import * as fc from "../../../../support/fast-check.ts";
import { contentOf, type Findings, readWhole, sampleContent } from "../../../../support/formats/read-file.ts";

/** What stands around the points of a file. */
function around(tracks: string, attributes = 'version="1.1"'): string {
  return `<?xml version="1.0"?><gpx ${attributes}>${tracks}</gpx>`;
}

function track(points: string): string {
  return around(`<trk><trkseg>${points}</trkseg></trk>`);
}

const TIME = "<time>2026-02-02T02:40:00Z</time>";
const TIME_MS = Date.UTC(2026, 1, 2, 2, 40);

function point(members: string): string {
  return track(`<trkpt lat="52.5" lon="13.4">${TIME}${members}</trkpt>`);
}

function read(text: string | Uint8Array, options = {}): Promise<Findings> {
  return readWhole(gpx, contentOf(text), options);
}

async function detailsOf(text: string, options = {}) {
  const { points, error } = await read(text, options);
  expect(error).toBeNull();
  expect(points).toHaveLength(1);
  return points[0]!.details;
}

/** Points, those of them without time, skips, and the device; times and counts as ElementTree finds them. */
const SAMPLES: Record<string, [points: number, untimed: number, skips: object, device?: string]> = {
  "gpx/apple-health-workout-route.gpx": [44, 0, {}, "Route 2019-12-15 3:50pm"],
  "gpx/garmin-extensions.gpx": [4, 4, { waypoint: 2, route_point: 3 }],
  "gpx/gpslogger-1.0.gpx": [2, 0, { waypoint: 1 }, "20260202"],
  "gpx/osmand-1.1.gpx": [1, 0, {}],
  "gpx/route-points-only.gpx": [0, 0, { route_point: 120 }],
  "gpx/strava-gpxtpx.gpx": [42, 0, {}, "Greeting SF with a dumb, dumb route"],
  "traccar/positions.gpx": [2, 0, {}, "Van 3"],
  "gpx-gpxpy/Mojstrovka.gpx": [184, 184, {}], // All at 1901-12-13, which no receiver means.
  "gpx-gpxpy/around-visnjan-with-car.gpx": [104, 0, {}, "2020-12-18 07:24:29"],
  "gpx-gpxpy/cerknicko-jezero-no-creator.gpx": [296, 0, { waypoint: 7 }],
  "gpx-gpxpy/cerknicko-jezero-with-elevations-zero.gpx": [296, 0, { waypoint: 7 }],
  "gpx-gpxpy/cerknicko-jezero-without-elevations.gpx": [296, 1, { waypoint: 7 }],
  "gpx-gpxpy/cerknicko-jezero.gpx": [296, 0, { waypoint: 7 }],
  "gpx-gpxpy/cerknicko-without-times.gpx": [296, 291, { waypoint: 7 }],
  "gpx-gpxpy/custom_schema_locations.gpx": [0, 0, {}],
  "gpx-gpxpy/default_schema_locations.gpx": [0, 0, {}],
  "gpx-gpxpy/first_and_last_elevation.gpx": [10, 0, {}],
  "gpx-gpxpy/gpx-with-node-with-comments.gpx": [1, 0, {}, "2014-05-06_132925"],
  "gpx-gpxpy/gpx1.0_with_all_fields.gpx": [1, 0, { waypoint: 2, route_point: 5 }],
  "gpx-gpxpy/gpx1.1_with_all_fields.gpx": [1, 0, { waypoint: 2, route_point: 5 }],
  "gpx-gpxpy/gpx1.1_with_extensions.gpx": [0, 0, { waypoint: 1 }],
  "gpx-gpxpy/gpx1.1_with_extensions_without_namespaces.gpx": [0, 0, { waypoint: 1 }],
  "gpx-gpxpy/gpx_with_garmin_extension.gpx": [0, 0, { waypoint: 1 }],
  "gpx-gpxpy/korita-zbevnica.gpx": [871, 358, { waypoint: 2 }],
  "gpx-gpxpy/route.gpx": [0, 0, { route_point: 55 }],
  "gpx-gpxpy/track-with-empty-segment.gpx": [9, 0, {}, "2013-07-06T14:59:00Z"],
  "gpx-gpxpy/track-with-extremes.gpx": [25, 25, {}, "Untitled Path"],
  "gpx-gpxpy/track-with-less-sec-time.gpx": [2, 0, {}],
  "gpx-gpxpy/track-with-small-floats.gpx": [3, 3, {}, "Untitled Path"],
  "gpx-gpxpy/track_with_dilution_errors.gpx": [1, 1, { waypoint: 1, route_point: 1 }],
  "gpx-gpxpy/track_with_speed.gpx": [3, 0, {}],
  "gpx-gpxpy/unicode.gpx": [0, 0, { waypoint: 6 }],
  "gpx-gpxpy/unicode2.gpx": [0, 0, {}],
  "gpx-gpxpy/unicode_with_bom.gpx": [0, 0, { waypoint: 1 }],
  "gpx-gpxpy/unicode_with_bom_noencoding.gpx": [0, 0, { waypoint: 1 }],
};

describe("samples", () => {
  for (const [path, [count, untimed, skips, device]] of Object.entries(SAMPLES)) {
    test(path, async () => {
      const found = await readWhole(gpx, sampleContent(path));
      expect(found.error).toBeNull();
      expect(found.points).toHaveLength(count);
      expect(found.points.filter(({ timestampMs }) => timestampMs === null || timestampMs < 0)).toHaveLength(
        untimed,
      );
      expect(found.skips).toEqual(skips);
      expect(found.points.every((each) => each.device === (device ?? null))).toBe(true);
    });
  }

  test("the first of Apple's points, whole", async () => {
    const { points, places } = await readWhole(gpx, sampleContent("gpx/apple-health-workout-route.gpx"));
    expect(points[0]).toEqual({
      timestampMs: Date.UTC(2019, 11, 15, 20, 19, 55),
      latitude: 32.064999,
      longitude: -81.097216,
      device: "Route 2019-12-15 3:50pm",
      user: null,
      details: {
        altitude: 14.601502,
        speed: 1.310662,
        bearing: 101.747269,
        horizontal_accuracy: 1.801682,
        vertical_accuracy: 1.189247,
      },
    });
    expect(places.slice(0, 2)).toEqual([9, 10]);
  });

  test("GPSLogger writes an offset and a ratio", async () => {
    const { points } = await readWhole(gpx, sampleContent("gpx/gpslogger-1.0.gpx"));
    expect(points.map(({ timestampMs }) => timestampMs)).toEqual([TIME_MS, TIME_MS + 60_000]);
    expect(points.map(({ details }) => details)).toEqual([{ altitude: 34.2, speed: 13, bearing: 271.4 }, {}]);
  });

  test("OsmAnd writes meters as a ratio", async () => {
    const { points } = await readWhole(gpx, sampleContent("gpx/osmand-1.1.gpx"));
    expect(points[0]!.details).toEqual({
      altitude: 34.2,
      speed: 13,
      bearing: 271.4,
      horizontal_accuracy: 4.8,
    });
  });

  test("a file that is cut off gives what is complete, and says where", async () => {
    const { points, error } = await readWhole(gpx, sampleContent("gpx/cut-off-in-the-middle.gpx"));
    expect(points.map(({ latitude }) => latitude)).toEqual([52.520008]);
    expect(error?.message).toBe("line 2, column 227: the file is cut off within <time>");
  });
});

describe("points", () => {
  test("are at their time, which is UTC where no zone is named", async () => {
    const times = [
      "2026-02-02T02:40:00",
      "2026-02-02T02:40:00.250Z",
      "2026-02-02T03:40:00+01:00",
      "2026-02-02",
    ];
    const text = times.map((time) => `<trkpt lat="1" lon="2"><time>${time}</time></trkpt>`).join("");
    const { points } = await read(track(text));
    expect(points.map(({ timestampMs }) => timestampMs)).toEqual([
      TIME_MS,
      TIME_MS + 250,
      TIME_MS,
      Number.NaN,
    ]);
  });

  test("that lack a coordinate have none", async () => {
    const { points } = await read(
      track(`<trkpt lat="1">${TIME}</trkpt><trkpt lat="1" lon="2,5">${TIME}</trkpt>`),
    );
    expect(points.map(({ longitude }) => longitude)).toEqual([null, Number.NaN]);
  });

  test("have their speed and bearing in any extension, under any prefix", async () => {
    const nested = "<extensions><a:b><c:speed>3.5</c:speed><c:course>12</c:course></a:b></extensions>";
    expect(await detailsOf(point(nested))).toEqual({ speed: 3.5, bearing: 12 });
    expect(await detailsOf(point("<speed>3.5</speed>"))).toEqual({ speed: 3.5 });
  });

  test("have a speed in the unit that the operator names", async () => {
    expect(await detailsOf(point("<speed>36</speed>"), { speedUnit: "kmh" })).toEqual({ speed: 10 });
  });

  test("take the surest name of each, and nothing that is below zero", async () => {
    expect(await detailsOf(point("<heading>1</heading><bearing>2</bearing><course>3</course>"))).toEqual({
      bearing: 3,
    });
    expect(await detailsOf(point("<heading>1</heading><bearing>2</bearing>"))).toEqual({ bearing: 2 });
    expect(await detailsOf(point("<accuracy>9</accuracy><hAcc>4</hAcc>"))).toEqual({
      horizontal_accuracy: 4,
    });
    expect(
      await detailsOf(point("<speed>-1</speed><course>-1</course><hAcc>-1</hAcc><vAcc>-1</vAcc>")),
    ).toEqual({});
  });

  test("take the first of what is there twice", async () => {
    expect(await detailsOf(point("<speed>1</speed><extensions><speed>2</speed></extensions>"))).toEqual({
      speed: 1,
    });
  });

  test("take time and altitude only from themselves", async () => {
    const inner = "<extensions><x><time>2020-01-01T00:00:00Z</time><ele>5</ele></x></extensions>";
    const { points } = await read(track(`<trkpt lat="1" lon="2">${inner}</trkpt>`));
    expect(points[0]).toMatchObject({ timestampMs: null, details: {} });
  });

  test("have prefixes, attributes in apostrophes, comments and CDATA in them", async () => {
    const text = `<g:gpx xmlns:g="x"><g:trk><g:name><![CDATA[A & B]]></g:name><g:trkseg><g:trkpt lat='1' lon='2'>
      <g:time>2026-02-02<!-- midday -->T02:40:00Z</g:time></g:trkpt></g:trkseg></g:trk></g:gpx>`;
    const { points } = await read(text);
    expect(points).toMatchObject([{ timestampMs: TIME_MS, latitude: 1, longitude: 2, device: "A & B" }]);
  });
});

describe("waypoints", () => {
  test("are positions where the operator says so", async () => {
    const { points, skips } = await readWhole(gpx, sampleContent("gpx/gpslogger-1.0.gpx"), {
      waypoints: true,
    });
    expect(points.map(({ timestampMs }) => timestampMs)).toEqual([
      TIME_MS + 30_000,
      TIME_MS,
      TIME_MS + 60_000,
    ]);
    expect(points[0]).toMatchObject({ latitude: 52.52, device: null, details: { altitude: 34 } });
    expect(skips).toEqual({});
  });
});

describe("the device", () => {
  const segment = `<trkseg><trkpt lat="1" lon="2">${TIME}</trkpt></trkseg>`;
  const devicesOf = async (tracks: string) => (await read(around(tracks))).points.map(({ device }) => device);

  test("is the only track's name", async () => {
    expect(await devicesOf(`<trk><name> Tour &amp; more </name>${segment}</trk>`)).toEqual(["Tour & more"]);
  });

  test("is unknown if there are several tracks, even if the second follows the first point", async () => {
    expect(await devicesOf(`<trk><name>A</name>${segment}</trk><trk/>`)).toEqual([null]);
  });

  test("is no name that comes behind the points, or of another element", async () => {
    expect(await devicesOf(`<trk>${segment}<name>A</name>${segment}</trk>`)).toEqual([null, null]);
    expect(await devicesOf(`<metadata><name>A</name></metadata><trk>${segment}</trk>`)).toEqual([null]);
    expect(await devicesOf(`<trk><name> </name>${segment}</trk>`)).toEqual([null]);
    const inner = "<extensions><a:name>B</a:name></extensions>";
    expect(await devicesOf(`<trk>${inner}<name>A</name>${segment}</trk>`)).toEqual(["A"]);
  });
});

describe("charsets", () => {
  const text = `<?xml version="1.0" encoding="CHARSET"?>\n<gpx><trk><name>Zoé</name><trkseg><trkpt lat="1" lon="2"/></trkseg></trk></gpx>`;
  const device = async (bytes: Uint8Array) => {
    const { points, error } = await read(bytes);
    expect(error).toBeNull();
    return points.map((each) => each.device);
  };
  const utf16 = (of: string, isBig: boolean) => {
    const view = new DataView(new ArrayBuffer(of.length * 2));
    for (let i = 0; i < of.length; i++) view.setUint16(i * 2, of.charCodeAt(i), !isBig);
    return new Uint8Array(view.buffer);
  };

  test("are found by mark, by pattern and by declaration", async () => {
    const declared = (charset: string) => text.replace("CHARSET", charset);
    expect(await device(utf16(`\ufeff${declared("UTF-16")}`, false))).toEqual(["Zoé"]);
    expect(await device(utf16(`\ufeff${declared("UTF-16")}`, true))).toEqual(["Zoé"]);
    expect(await device(utf16(declared("UTF-16"), false))).toEqual(["Zoé"]);
    expect(await device(utf16(declared("UTF-16"), true))).toEqual(["Zoé"]);
    expect(await device(Buffer.from(declared("ISO-8859-1"), "latin1"))).toEqual(["Zoé"]);
    expect(await device(new TextEncoder().encode(`\ufeff${declared("utf-8")}`))).toEqual(["Zoé"]);
  });

  test("that are declared wrongly or unknown are UTF-8", async () => {
    for (const charset of ["UTF-16", "x-nobodys"])
      expect(await device(new TextEncoder().encode(text.replace("CHARSET", charset)))).toEqual(["Zoé"]);
  });
});

test("recognise() tells GPX by its outermost element", () => {
  const recognise = (text: string) =>
    gpx.recognise({ bytes: new TextEncoder().encode(text), text, isWhole: false, name: "a.gpx" });
  expect(recognise(around(""))).toBe("its outermost element is <gpx>");
  expect(recognise('<!-- <kml> --><!DOCTYPE x [<!ENTITY y "z">]><p:gpx a="b">')).toBe(
    "its outermost element is <gpx>",
  );
  expect(recognise("<kml><gpx/></kml>")).toBeNull();
  expect(recognise("gpx")).toBeNull();
});

function look(text: string, pieceBytes = text.length) {
  const track = new OnlyTrack();
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length; at += pieceBytes) track.push(bytes.subarray(at, at + pieceBytes));
  return track;
}

test("OnlyTrack counts tracks, and nothing whose name begins or ends alike", () => {
  expect(look("<gpx><trk ><trkseg><trkpt/></trkseg></trk></gpx>").isOnly).toBe(true);
  expect(look("<gpx><trkseg/><strk/><trk-x/></trk></gpx>").isOnly).toBe(false);
  expect(look("<gpx><a:trk/>").isOnly).toBe(true);
  expect(look("<gpx><trk/><trk>")).toMatchObject({ isOnly: false, isDone: true });
});

test("OnlyTrack counts the same in any chunking", () => {
  const part = fc.constantFrom(
    "<trk>",
    "<trk/>",
    "<b:trk\n",
    "<trkpt>",
    "</trk>",
    "trk ",
    "<",
    ":",
    " x",
    "<trkseg>",
  );
  fc.assert(
    fc.property(fc.array(part), fc.integer({ min: 1, max: 50 }), (parts, pieceBytes) => {
      const text = parts.join("");
      const count = [...text.matchAll(/<(?:[^\s<>/:"']{1,32}:)?trk[\s/>]/g)].length;
      const track = look(text, pieceBytes);
      expect([track.isOnly, track.isDone]).toEqual([count === 1, count > 1]);
    }),
  );
});
