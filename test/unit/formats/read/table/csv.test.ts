import { describe, expect, test } from "bun:test";
import {
  type Beginning,
  FormatError,
  HeaderError,
  type ReadOptions,
  ZoneNeededError,
} from "../../../../../src/formats/read/format.ts";
import { csv } from "../../../../../src/formats/read/table/csv.ts";
import { parseZone } from "../../../../../src/model/time/zone.ts";
import * as fc from "../../../../support/fast-check.ts";
import { contentOf, readWhole, sampleContent } from "../../../../support/formats/read-file.ts";

const BERLIN = parseZone("Europe/Berlin")!;
const TIME_MS = 1_770_000_000_000;
const MINUTE_MS = 60_000;

const HERE = { timestampMs: TIME_MS, latitude: 52.520008, longitude: 13.404954, device: null, user: null };

async function pointsOf(text: string, options: Partial<ReadOptions> = {}) {
  const { points, skips, remarks, error } = await readWhole(csv, contentOf(text), options);
  expect(error).toBeNull();
  expect(skips).toEqual({});
  expect(remarks).toEqual({});
  return points;
}

async function errorOf(text: string, options: Partial<ReadOptions> = {}) {
  return (await readWhole(csv, contentOf(text), options)).error;
}

describe("samples", () => {
  test("ten-millionths", async () => {
    const { points, skips, error } = await readWhole(csv, sampleContent("csv/e7.csv"));
    expect(points).toEqual([
      { ...HERE, latitude: 52.520008, longitude: 13.404954, details: { horizontal_accuracy: 12 } },
    ]);
    expect([skips, error]).toEqual([{}, null]);
  });

  test("letters of hemispheres", async () => {
    const { points, places, skips, error } = await readWhole(csv, sampleContent("csv/compass-letters.csv"));
    expect(points).toEqual([
      { ...HERE, details: {} },
      { ...HERE, timestampMs: TIME_MS + MINUTE_MS, latitude: -33.8688, longitude: 151.2093, details: {} },
    ]);
    expect([places, skips, error]).toEqual([[2, 3], {}, null]);
  });

  test("semicolons and decimal commas, in a zone that has to be said", async () => {
    const content = sampleContent("csv/semicolon-known-headers.csv");
    const { points, error } = await readWhole(csv, content);
    expect([points, error]).toEqual([[], new ZoneNeededError("2026-02-02 03:40:00")]);
    const known = await readWhole(csv, content, { zone: BERLIN });
    expect(known.points).toEqual([{ ...HERE, details: { speed: 13 } }]);
    expect([known.skips, known.error]).toEqual([{}, null]);
  });

  test("headings in another language, which have to be said", async () => {
    const content = sampleContent("csv/semicolon-comma-decimals.csv");
    const { points, error } = await readWhole(csv, content);
    expect(points).toEqual([]);
    expect(error).toBeInstanceOf(HeaderError);
    for (const part of [
      '"Zeit", "Breite", "Länge", "Höhe"',
      "latitude (also lat, y,",
      "--map timestamp=COLUMN",
    ])
      expect(error!.message).toContain(part);

    const columns = new Map([
      ["timestamp", "Zeit"],
      ["latitude", "breite"],
      ["longitude", "Länge"],
      ["altitude", "Höhe"],
    ]);
    const options = { columns, timeFormat: "dd.MM.yyyy HH:mm:ss", zone: BERLIN };
    const said = await readWhole(csv, content, options);
    expect(said.points).toEqual([{ ...HERE, details: { altitude: 34.2 } }]);
    expect([said.skips, said.error]).toEqual([{}, null]);
    const unzoned = await readWhole(csv, content, { ...options, zone: null });
    expect(unzoned.error).toEqual(new ZoneNeededError("02.02.2026 03:40:00"));
  });

  test("our own", async () => {
    const { points, skips, error } = await readWhole(csv, sampleContent("csv/wherehouse.csv"));
    expect(points).toEqual([{ ...HERE, device: "van-3", details: { speed: 13 } }]);
    expect([skips, error]).toEqual([{}, null]);
  });

  test("Traccar's, whose addresses have commas", async () => {
    const content = sampleContent("traccar/positions.csv");
    expect((await readWhole(csv, content)).error).toEqual(new ZoneNeededError("2026-02-02 03:40:00"));
    const { points, places, skips, error } = await readWhole(csv, content, { zone: BERLIN });
    expect(points).toEqual([
      {
        ...HERE,
        device: "3",
        details: { altitude: 34, speed: 13, bearing: 271, horizontal_accuracy: 5, battery_level: 81 },
      },
      {
        ...HERE,
        timestampMs: TIME_MS + MINUTE_MS,
        latitude: 52.5201,
        longitude: 13.4051,
        device: "3",
        details: { altitude: 34, speed: 0, bearing: 0 },
      },
    ]);
    expect([places, skips, error]).toEqual([[2, 3], { no_fix: 1 }, null]);
  });

  test("Traccar's trust no cell behind an address with commas, and all others", async () => {
    const header = "fixTime,serverTime,deviceTime,valid,latitude,longitude,address,accuracy,batteryLevel";
    const row = "2026-02-02T02:40:00Z,,,true,1,2,Street, 7, 9, 8";
    expect((await pointsOf(`${header}\n${row}\n`))[0]!.details).toEqual({});
    const { skips, points } = await readWhole(csv, contentOf(`${header}\n${row.slice(0, -12)}\n`));
    expect([points, skips]).toEqual([[], { wrong_width: 1 }]);
    const plain = `${header}\n${row.replace(" 7, 9, 8", "7,9")}\n`;
    expect((await pointsOf(plain))[0]!.details).toEqual({ horizontal_accuracy: 7, battery_level: 9 });
  });

  test("are the same in pieces of any size", async () => {
    const options = { zone: BERLIN };
    for (const path of ["csv/e7.csv", "csv/semicolon-known-headers.csv", "traccar/positions.csv"]) {
      const whole = await readWhole(csv, sampleContent(path), options);
      for (const pieceBytes of [1, 2, 3, 7, 64])
        expect(await readWhole(csv, sampleContent(path, pieceBytes), options)).toEqual(whole);
    }
  });
});

describe("columns", () => {
  test("of GPSLogger, whose numbers may have commas and whose exact time counts", async () => {
    const header = "time,lat,lon,elevation,accuracy,bearing,speed,satellites,provider,timestamp_ms";
    const row = '2026-02-02T03:40:00.000Z,"52,520008","13,404954","34,2",,"271,5","13,0",7,gps,1770000000000';
    expect(await pointsOf(`${header}\n${row}\n`)).toEqual([
      { ...HERE, details: { altitude: 34.2, bearing: 271.5, speed: 13 } },
    ]);
  });

  test("of GeoPulse, whose velocity is km/h", async () => {
    const text =
      "timestamp,latitude,longitude,velocity,source_type\n2026-02-02T02:40:00Z,52.5,13.4,46.8,GPX\n";
    expect((await pointsOf(text))[0]!.details).toEqual({ speed: 13 });
    expect((await pointsOf(text.replace("source_type", "kind")))[0]!.details).toEqual({ speed: 46.8 });
    expect((await pointsOf(text, { speedUnit: "mps" }))[0]!.details).toEqual({ speed: 46.8 });
  });

  test.each([
    ["speed", 13],
    ["Velocity", 13],
    ["speed_kmh", 3.611],
    ["speed_mph", 5.812],
    ["speed_kn", 6.688],
  ])("called %s are speeds", async (name, speed) => {
    expect((await pointsOf(`tst,LAT, Lng ,${name}\n1770000000,1,2,13`))[0]!.details).toEqual({ speed });
    const said = await pointsOf(`tst,lat,lng,${name}\n1770000000,1,2,13`, { speedUnit: "kmh" });
    expect(said[0]!.details).toEqual({ speed: 3.611 });
  });

  test("of a date and a time are joined", async () => {
    const text = "date,time,x,y\n2026-02-02,03:40:00,13.404954,52.520008\n";
    expect(await pointsOf(text, { zone: BERLIN })).toEqual([{ ...HERE, details: {} }]);
    const local = text.replace("2026-02-02", "02/02/2026");
    expect(await pointsOf(local, { zone: BERLIN, timeFormat: "MM/dd/yyyy HH:mm:ss" })).toEqual([
      { ...HERE, details: {} },
    ]);
    const mapped = local.replace("date,time", "Datum,Uhrzeit");
    const columns = new Map([
      ["date", "Datum"],
      ["time", "Uhrzeit"],
    ]);
    const options = { zone: BERLIN, timeFormat: "MM/dd/yyyy HH:mm:ss", columns };
    expect(await pointsOf(mapped, options)).toEqual([{ ...HERE, details: {} }]);
  });

  test("that the operator maps precede all others", async () => {
    const text = "lat,lon,time,lat2,lon2,seen\n1,2,2020-01-01T00:00:00Z,52.520008,13.404954,1770000000";
    const columns = new Map([
      ["latitude", "lat2"],
      ["longitude", "LON2"],
      ["when", "seen"],
    ]);
    expect(await pointsOf(text, { columns })).toEqual([{ ...HERE, details: {} }]);
    expect(await errorOf(text, { columns: new Map([["latitude", "lat3"]]) })).toEqual(
      new HeaderError(
        'no column is called "lat3"; the columns are "lat", "lon", "time", "lat2", "lon2", "seen"',
      ),
    );
    expect(await errorOf(text, { columns: new Map([["breadth", "lat2"]]) })).toEqual(
      new HeaderError('"breadth" is not a field of a report'),
    );
  });

  test("of our own names hold every field of a report", async () => {
    const text =
      "device_id\ttimestamp\tlatitude\tlongitude\tuser_id\ttype\tis_mock\tnetwork_status\tbrand\ttz_offset\n" +
      "van-3\t1770000000000\t52.520008\t13.404954\tanna\tMOVING\tfalse\tTRUE\tGoogle\t+0\n";
    const details = {
      type: "MOVING",
      is_mock: false,
      network_status: true,
      brand: "Google",
      tz_offset: "+0",
    };
    const points: unknown = await pointsOf(text);
    expect(points).toEqual([{ ...HERE, device: "van-3", user: "anna", details }]);
  });

  test("of batteries may hold shares of one, our own percents alone", async () => {
    const row = "\n1770000000,1,2,0.81";
    expect((await pointsOf(`tst,lat,lon,battery${row}`))[0]!.details).toEqual({ battery_level: 81 });
    expect((await pointsOf(`tst,lat,lon,battery_level${row}`))[0]!.details).toEqual({ battery_level: 0.81 });
  });
});

describe("cells", () => {
  test("are ten-millionths where both are whole and one is too large for degrees", async () => {
    const text = "tst,lat,lon\n1770000000,525200080,134049540\n1770000000,-5000,-1234567\n1770000000,91,10\n";
    expect((await pointsOf(text)).map(({ latitude, longitude }) => [latitude, longitude])).toEqual([
      [52.520008, 13.404954],
      [-0.0005, -0.1234567],
      [91, 10],
    ]);
  });

  test("say hemispheres before or behind the number", async () => {
    const rows = ["S 33.8688,W13.4", "33,8688 s;13.4° w", "N33.8,E13", "-33S,13E", "S33N,13E"];
    const read = async (row: string) => {
      const header = row.includes(";") ? "tst;lat;lon" : "tst,lat,lon";
      const [point] = await pointsOf(`${header}\n1770000000${row.includes(";") ? ";" : ","}${row}`);
      return [point!.latitude, point!.longitude];
    };
    expect(await Promise.all(rows.map(read))).toEqual([
      [-33.8688, -13.4],
      [-33.8688, -13.4],
      [33.8, 13],
      [Number.NaN, 13],
      [Number.NaN, 13],
    ]);
  });

  test("of a header that is quoted don't tell the delimiter", async () => {
    expect(await pointsOf('"a;b;c;d;e","tst",lat,lon\n,1770000000,1,2')).toHaveLength(1);
  });

  test("that are empty or hold a sentinel are skipped, and unreadable ones are named", async () => {
    const text = "tst,lat,lon,speed,acc,course,alt,device\n1770000000,1,2,-1,,NaN,-5, \n1770000000,,x,,,,,\n";
    const nowhere = { latitude: null, longitude: Number.NaN, details: {} };
    expect(await pointsOf(text)).toEqual([
      { ...HERE, latitude: 1, longitude: 2, details: { altitude: -5 }, unreadable: ["bearing"] },
      { ...HERE, ...nowhere },
    ]);
  });

  test("that are no text are named, and never taken for empty ones", async () => {
    const text = "tst,lat,lon,device,brand,is_mock\n1770000000,1,2,K\xf6ln,\xff,maybe\n";
    const { points } = await readWhole(csv, contentOf(Buffer.from(text, "latin1")));
    expect(points).toEqual([
      { ...HERE, latitude: 1, longitude: 2, device: "\0", details: {}, unreadable: ["is_mock", "brand"] },
    ]);
  });

  test("of times that are none leave the point without", async () => {
    const text = "time,lat,lon\n2026-02-02,1,2\nsoon,1,2\n,1,2\n";
    expect((await pointsOf(text)).map(({ timestampMs }) => timestampMs)).toEqual([
      Number.NaN,
      Number.NaN,
      null,
    ]);
  });

  test("of times that clocks show twice or never are noted", async () => {
    const text = "time,lat,lon\n2026-10-25 02:30:00,1,2\n2026-03-29 02:30:00,1,2\n";
    const { points, remarks } = await readWhole(csv, contentOf(text), { zone: BERLIN });
    expect(points.map(({ timestampMs }) => timestampMs)).toEqual([
      Date.UTC(2026, 9, 25, 0, 30),
      Date.UTC(2026, 2, 29, 1, 30),
    ]);
    expect(remarks).toEqual({ repeated_hour: 1, skipped_hour: 1 });
  });
});

describe("damage", () => {
  test("rows of another width, or that can't be read, are skipped alone", async () => {
    const text = 'tst,lat,lon\n1770000000,1\n1770000000,1,2,3\n1770000000,"1"x,2\n1770000000,1,2\n';
    const { points, places, skips } = await readWhole(csv, contentOf(text));
    expect([points.length, places, skips]).toEqual([1, [5], { wrong_width: 2, unreadable: 1 }]);
  });

  test("a line that never ends is an error, and what came before it is kept", async () => {
    const text = `tst,lat,lon\n1770000000,1,2\n1770000000,"${"x".repeat(3 << 20)}`;
    const { points, error } = await readWhole(csv, contentOf(text));
    expect(points).toHaveLength(1);
    expect(error).toEqual(new FormatError("line 3 is longer than 1 MiB"));
  });

  test("a file without rows has none, one without a header is no table", async () => {
    expect(await pointsOf("tst,lat,lon\n")).toEqual([]);
    expect(await errorOf("\n\n")).toBeInstanceOf(FormatError);
  });

  test("a cut anywhere keeps every row before it", async () => {
    const header = "device,tst,lat,lon";
    const rows = fc.array(fc.integer({ min: 1, max: 1e9 }), { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(rows, fc.double({ min: 0, max: 1, noNaN: true }), async (times, share) => {
        const lines = times.map((time) => `"a ""b"", c",${time},1.5,2.5`);
        const text = `${[header, ...lines].join("\r\n")}\r\n`;
        const cut = header.length + Math.floor((text.length - header.length) * share);
        const whole = await readWhole(csv, contentOf(text));
        const part = await readWhole(csv, contentOf(text.slice(0, cut)));
        const kept = Math.max(0, text.slice(0, cut).split("\n").length - 2);
        expect(part.points.slice(0, kept)).toEqual(whole.points.slice(0, kept));
      }),
    );
  });

  test("no bytes make it fail otherwise", async () => {
    const bytes = fc.string({ unit: fc.constantFrom(...'a1,;\t"\n\r.-NE:é\u0000') });
    await fc.assert(
      fc.asyncProperty(bytes, fc.integer({ min: 1, max: 9 }), async (text, pieceBytes) => {
        const whole = `time;lat;lon\n${text}`;
        const one = await readWhole(csv, contentOf(whole), { zone: BERLIN });
        expect(await readWhole(csv, contentOf(whole, { pieceBytes }), { zone: BERLIN })).toEqual(one);
      }),
    );
  });
});

describe("the time format", () => {
  test("may tell the zone itself", async () => {
    const text = "time;lat;lon\n02.02.26 03:40 +01:00;1;2\n";
    const points = await pointsOf(text, { timeFormat: "dd.MM.yy HH:mm ZZ" });
    expect(points[0]!.timestampMs).toBe(TIME_MS);
  });

  test("is refused where it tells no time of day, or nothing at all", async () => {
    for (const timeFormat of [
      "dd.MM.yyyy",
      "HH:mm",
      "yyyy-MM-dd hh:mm",
      "yyyy-MM-dd HH:mm a",
      "",
      "nonsense",
    ])
      expect(await errorOf("time,lat,lon\n1,2,3\n", { timeFormat })).toBeInstanceOf(HeaderError);
  });
});

describe("recognise()", () => {
  function beginning(text: string, name = "file"): Beginning {
    return { bytes: new TextEncoder().encode(text), text, isWhole: true, name };
  }

  test("by a header of known columns", () => {
    expect(csv.recognise(beginning("date,latitude,longitude\n"))).toBe(
      "its header names date, latitude, longitude",
    );
    expect(csv.recognise(beginning("﻿time;lat;lon;note"))).toBe("its header names time, lat, lon");
    expect(csv.recognise(beginning("fixTime,serverTime,deviceTime,valid,latitude,longitude\n"))).toBe(
      "its header names fixTime, latitude, longitude, as Traccar does",
    );
    expect(csv.recognise(beginning("lat,lon\n1,2\n"))).toBeNull();
  });

  test("by its name, where the header is in another language", () => {
    const text = "Zeit;Breite;Länge\n1;2;3\n";
    expect(csv.recognise(beginning(text, "fahrt.csv"))).toBe(
      "its name, and lines of 3 cells between semicolons",
    );
    expect(csv.recognise(beginning(text, "fahrt.txt"))).toBeNull();
    expect(csv.recognise(beginning("Zeit;Breite;Länge\n1;2\n", "fahrt.csv"))).toBeNull();
    expect(csv.recognise(beginning("", "fahrt.csv"))).toBeNull();
  });
});
