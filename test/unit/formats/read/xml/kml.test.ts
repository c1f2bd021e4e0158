import { describe, expect, test } from "bun:test";
import type { FilePoint } from "../../../../../src/formats/read/file-point.ts";
import { kml } from "../../../../../src/formats/read/xml/kml.ts";
import * as fc from "../../../../support/fast-check.ts";
import { contentOf, type Findings, readWhole, sampleContent } from "../../../../support/formats/read-file.ts";

const TIME = "2026-02-02T02:40:00Z";
const TIME_MS = Date.UTC(2026, 1, 2, 2, 40);

function read(inDocument: string, options = {}): Promise<Findings> {
  return readWhole(kml, contentOf(`<kml><Document>${inDocument}</Document></kml>`), options);
}

function when(minute: number): string {
  return `<when>2026-02-02T02:${String(minute).padStart(2, "0")}:00Z</when>`;
}

function coord(text: string): string {
  return `<gx:coord>${text}</gx:coord>`;
}

function array(name: string, values: readonly (number | "")[]): string {
  const all = values.map((value) => `<gx:value>${value}</gx:value>`).join("");
  return `<ExtendedData><SchemaData><gx:SimpleArrayData name="${name}">${all}</gx:SimpleArrayData></SchemaData></ExtendedData>`;
}

function track(members: string): string {
  return `<Placemark><gx:Track>${members}</gx:Track></Placemark>`;
}

function placesOf({ points }: Findings) {
  return points.map(({ timestampMs, longitude, latitude }) => [
    timestampMs === null ? null : (timestampMs - TIME_MS) / 60_000,
    longitude,
    latitude,
  ]);
}

describe("samples", () => {
  test("of a track", async () => {
    const found = await readWhole(kml, sampleContent("kml/gxtrack.kml"));
    expect(found).toMatchObject({ error: null, skips: {} });
    expect(found.points).toHaveLength(7);
    expect(found.points[0]).toEqual({
      timestampMs: Date.UTC(2010, 4, 28, 2, 2, 9),
      latitude: 37.371915,
      longitude: -122.207881,
      device: null,
      user: null,
      details: { altitude: 156 },
    });
    expect(found.places).toEqual([7, 8, 9, 10, 11, 12, 13]);
  });

  test("of a track in parts, between two Placemarks of their own", async () => {
    const { points, error, skips } = await readWhole(kml, sampleContent("kml/gxmultitrack.kml"));
    expect([points.length, error, skips]).toEqual([28, null, {}]);
    expect(points.every(({ timestampMs, latitude }) => timestampMs !== null && latitude !== null)).toBe(true);
    expect(points[1]).toMatchObject({
      timestampMs: Date.UTC(2014, 3, 12, 14, 26, 16, 702),
      latitude: -40.139527,
    });
  });

  test("of arrays beside a track on the ground, with a place that is missing", async () => {
    const found = await readWhole(kml, sampleContent("kml/gxtrack-speed-accuracy.kml"));
    expect(found.points.map(({ details }) => details)).toEqual([
      { speed: 13, horizontal_accuracy: 4.8 },
      { speed: 0, horizontal_accuracy: 5 },
    ]);
    expect(placesOf(found)).toEqual([
      [0, 13.404954, 52.520008],
      [1, null, null],
    ]);
  });

  test("of Placemarks, one at a month and one at no time", async () => {
    const found = await readWhole(kml, sampleContent("kml/points-with-timestamp.kml"));
    expect(placesOf(found)).toEqual([
      [0, 13.404954, 52.520008],
      [Number.NaN, 13.4051, 52.5201],
      [null, 13.4, 52.5],
    ]);
    expect(found.points.map(({ details }) => details)).toEqual([{ altitude: 34.2 }, {}, {}]);
  });

  test("of lines has no times", async () => {
    const { points, skips, error } = await readWhole(kml, sampleContent("kml/linestring-no-times.kml"));
    expect([points, skips, error]).toEqual([[], { untimed_line: 2 }, null]);
  });
});

describe("a track", () => {
  test("has its k-th time at its k-th place, in whichever order they stand", async () => {
    const expected = [
      [40, 1, 2],
      [41, 3, 4],
    ].map(([minute, ...place]) => [minute! - 40, ...place]);
    const orders = [
      when(40) + coord("1 2 3") + when(41) + coord("3 4 5"),
      when(40) + when(41) + coord("1 2 3") + coord("3 4 5"),
      coord("1 2") + coord(" 3  4 ") + when(40) + when(41),
    ];
    for (const order of orders) expect(placesOf(await read(track(order)))).toEqual(expected);
  });

  test("keeps the places of times and coords that say nothing", async () => {
    const found = await read(
      track(`${when(40)}<when/>${when(42)}${when(43)}${coord("1 2")}${coord("3 4")}${coord("")}`),
    );
    expect(placesOf(found)).toEqual([
      [0, 1, 2],
      [null, 3, 4],
      [2, null, null],
      [3, null, null],
    ]);
  });

  test("has arrays beside it, and none of another name or another track", async () => {
    const one = when(40) + when(41) + coord("1 2") + coord("3 4");
    const arrays = array("speed", [36, ""]) + array("bearing", ["", 90, 91]) + array("cadence", [1, 2]);
    const { points } = await read(track(one + arrays) + track(one) + array("speed", [1]), {
      speedUnit: "kmh",
    });
    expect(points.map(({ details }) => details)).toEqual([{ speed: 10 }, { bearing: 90 }, {}, {}]);
  });

  test("has no values of an array in which another track began", async () => {
    const within = `<gx:SimpleArrayData name="speed"><gx:Track/><gx:value>1</gx:value></gx:SimpleArrayData>`;
    const { points } = await read(track(when(40) + coord("1 2") + within));
    expect(points.map(({ details }) => details)).toEqual([{}]);
  });

  test("has altitudes above the sea, and 0 only where it says so", async () => {
    const altitudes = async (mode: string, around = track) =>
      (await read(around(`${mode}${when(40)}${coord("1 2 0")}${when(41)}${coord("1 2 5")}`))).points.map(
        ({ details }) => details.altitude,
      );
    expect(await altitudes("")).toEqual([undefined, 5]);
    expect(await altitudes("<altitudeMode>clampToGround</altitudeMode>")).toEqual([undefined, 5]);
    expect(await altitudes("<altitudeMode> absolute </altitudeMode>")).toEqual([0, 5]);
    expect(await altitudes("<altitudeMode>relativeToGround</altitudeMode>")).toEqual([undefined, undefined]);
    const inMulti = (members: string) =>
      `<gx:MultiTrack><altitudeMode>absolute</altitudeMode><gx:Track>${members}</gx:Track></gx:MultiTrack>`;
    expect(await altitudes("", inMulti)).toEqual([0, 5]);
    const after = (members: string) => track("<altitudeMode>absolute</altitudeMode>") + track(members);
    expect(await altitudes("", after)).toEqual([undefined, 5]);
  });

  test("that is cut off gives what has both time and place, with what is known of it", async () => {
    const whole = `<kml><gx:Track>${when(40)}${when(41)}${when(42)}${coord("1 2")}${coord("3 4")}`;
    const found = await readWhole(kml, contentOf(`${whole}<gx:coord>5 6`));
    expect(found.error?.message).toContain("cut off within <coord>");
    expect(placesOf(found)).toEqual([
      [0, 1, 2],
      [1, 3, 4],
    ]);
    const inArray = await readWhole(kml, contentOf(`${whole}${array("speed", [7, 8, 9]).slice(0, -60)}`));
    expect(inArray.error).not.toBeNull();
    expect(inArray.points.map(({ details }) => details.speed)).toEqual([7, 8]);
  });
});

describe("a Placemark", () => {
  const point = "<Point><coordinates> 13.4,52.5,0 </coordinates></Point>";
  const stamp = `<TimeStamp><when>${TIME}</when></TimeStamp>`;

  test("has its time before its Points or behind them, and not that of the one before", async () => {
    const found = await read(
      `<Placemark>${stamp}${point}</Placemark><Placemark>${point}</Placemark>
       <Placemark><MultiGeometry>${point}${point}</MultiGeometry>${stamp}</Placemark>`,
    );
    expect(placesOf(found).map(([minute]) => minute)).toEqual([0, null, 0, 0]);
  });

  test("has no time of the view that shows it, of a folder or of a stretch", async () => {
    const view = `<LookAt><gx:TimeStamp><when>${TIME}</when></gx:TimeStamp></LookAt>`;
    const span = `<TimeSpan><begin>${TIME}</begin></TimeSpan>`;
    const found = await read(`<Folder>${stamp}<Placemark>${view}${span}${point}</Placemark></Folder>`);
    expect(placesOf(found)).toEqual([[null, 13.4, 52.5]]);
  });

  test("of a date or a month has a time that can't be read, one of nothing has none", async () => {
    const dated = ["2026-02-02", "2026-02", ""].map(
      (date) => `<Placemark><TimeStamp><when>${date}</when></TimeStamp>${point}</Placemark>`,
    );
    expect((await read(dated.join(""))).points.map(({ timestampMs }) => timestampMs)).toEqual([
      Number.NaN,
      Number.NaN,
      null,
    ]);
  });

  test("of an area, or of what lies elsewhere, is no position", async () => {
    const area =
      "<Polygon><outerBoundaryIs><LinearRing><coordinates>1,2</coordinates></LinearRing></outerBoundaryIs></Polygon>";
    const elsewhere = "<NetworkLink><Link><href>http://127.0.0.1:1/</href></Link></NetworkLink>";
    const found = await read(`<Placemark>${stamp}${area}</Placemark>${elsewhere}`);
    expect([found.points, found.skips]).toEqual([[], { no_location: 2 }]);
  });

  test("with a line of many megabytes is passed over", async () => {
    const line = `<Placemark><LineString><coordinates>${"13.4,52.5,0 ".repeat(500_000)}</coordinates></LineString></Placemark>`;
    const found = await read(`${line}<Placemark>${stamp}${point}</Placemark>`);
    expect([found.points.length, found.skips, found.error]).toEqual([1, { untimed_line: 1 }, null]);
  });
});

describe("a long track", () => {
  const COUNT = 600_000;
  const whens = when(40).repeat(1000);
  const coords = coord("1 2").repeat(1000);

  test("is handed over bit by bit, in order, its oldest points without what stands at its end", async () => {
    function* kilopoint(from: number) {
      for (let i = from; i < from + 1000; i++) yield when(40) + coord(`${i / 10_000} 2`);
    }
    async function* pieces() {
      yield new TextEncoder().encode("<kml><gx:Track>");
      for (let i = 0; i < COUNT; i += 1000) yield new TextEncoder().encode([...kilopoint(i)].join(""));
      yield new TextEncoder().encode(`${array("speed", new Array(COUNT).fill(1))}</gx:Track></kml>`);
    }
    let given = 0;
    let givenBetween = 0;
    let most = 0;
    let inOrder = 0;
    let withSpeed = 0;
    const add = ({ longitude, details }: FilePoint) => {
      if (longitude === given++ / 10_000) inOrder++;
      if (details.speed === 1) withSpeed++;
    };
    const reading = kml.read(
      { ...contentOf("", { name: "a.kml" }), pieces },
      { add, skip: () => {}, note: () => {} },
      { zone: null, speedUnit: null, waypoints: false, semantic: false } as never,
    );
    for await (const _ of reading) {
      most = Math.max(most, given - givenBetween);
      givenBetween = given;
    }
    expect({ given, inOrder, most, withSpeed }).toEqual({
      given: COUNT,
      inOrder: COUNT,
      most: 4096,
      withSpeed: 500_000,
    });
  });

  test("of more times than can be held before the first place is refused, with what came before", async () => {
    const first = track(when(40) + coord("1 2"));
    const { points, error } = await read(
      `${first}<gx:Track>${whens.repeat(1001)}${coords.repeat(1001)}</gx:Track>`,
    );
    expect(points).toHaveLength(1);
    expect(error?.message).toBe("line 1: more than 1000000 points wait for their other parts");
  });
});

test("tracks, Placemarks and lines come in the order of the file, whatever their parts' order and the pieces", async () => {
  const part = fc.oneof(
    fc.record({ kind: fc.constant("track"), whens: fc.nat(5), coords: fc.nat(5), isMixed: fc.boolean() }),
    fc.record({ kind: fc.constant("point"), isTimed: fc.boolean(), isTimeFirst: fc.boolean() }),
    fc.record({ kind: fc.constant("line") }),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(part as fc.Arbitrary<Part>),
      fc.integer({ min: 1, max: 500 }),
      async (parts, pieceBytes) => {
        const { text, expected } = written(parts);
        const found: (FilePoint | string)[] = [];
        const reading = kml.read(
          contentOf(text, { pieceBytes }),
          { add: (point) => found.push(point), skip: (reason) => found.push(reason), note: () => {} },
          { zone: null, speedUnit: null, waypoints: false, semantic: false } as never,
        );
        for await (const _ of reading);
        expect(
          found.map((each) => (typeof each === "string" ? each : [each.timestampMs, each.longitude])),
        ).toEqual(expected);
      },
    ),
  );
});

interface Part {
  readonly kind: "track" | "point" | "line";
  readonly whens: number;
  readonly coords: number;
  readonly isMixed: boolean;
  readonly isTimed: boolean;
  readonly isTimeFirst: boolean;
}

/** A document of parts, each point of which has its number for a longitude and for a minute. */
function written(parts: readonly Part[]) {
  const expected: (string | [number | null, number | null])[] = [];
  let text = "<kml>";
  let next = 0;
  const timeAt = (number: number) => TIME_MS + number * 60_000;
  const whenAt = (number: number) => `<when>${new Date(timeAt(number)).toISOString()}</when>`;
  for (const { kind, whens, coords, isMixed, isTimed, isTimeFirst } of parts) {
    if (kind === "line") {
      text += "<Placemark><LineString><coordinates>1,2 3,4</coordinates></LineString></Placemark>";
      expected.push("untimed_line");
    } else if (kind === "point") {
      const stamp = isTimed ? `<TimeStamp>${whenAt(next)}</TimeStamp>` : "";
      const point = `<Point><coordinates>${next},1</coordinates></Point>`;
      text += `<Placemark>${isTimeFirst ? stamp + point : point + stamp}</Placemark>`;
      expected.push([isTimed ? timeAt(next) : null, next++]);
    } else {
      const times = Array.from({ length: whens }, (_, i) => whenAt(next + i));
      const places = Array.from({ length: coords }, (_, i) => `<gx:coord>${next + i} 1</gx:coord>`);
      const count = Math.max(whens, coords);
      const mixed = Array.from({ length: count }, (_, i) => (times[i] ?? "") + (places[i] ?? ""));
      text += `<Placemark><gx:Track>${(isMixed ? mixed : [...times, ...places]).join("")}</gx:Track></Placemark>`;
      for (let i = 0; i < count; i++)
        expected.push([i < whens ? timeAt(next + i) : null, i < coords ? next + i : null]);
      next += count;
    }
  }
  return { text: `${text}</kml>`, expected };
}

test("recognise() tells KML by its outermost element", () => {
  const recognise = (text: string) =>
    kml.recognise({ bytes: new TextEncoder().encode(text), text, isWhole: false, name: "a.kml" });
  expect(recognise('<?xml version="1.0"?><kml xmlns="x">')).toBe("its outermost element is <kml>");
  expect(recognise("<gpx>")).toBeNull();
});
