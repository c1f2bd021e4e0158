import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "../../../../../src/archive/duckdb/database.ts";
import {
  FormatError,
  HeaderError,
  type ReadOptions,
  ZoneNeededError,
} from "../../../../../src/formats/read/format.ts";
import { parquet } from "../../../../../src/formats/read/table/parquet.ts";
import { REPORT_FIELDS } from "../../../../../src/model/location-fields.ts";
import { parseZone } from "../../../../../src/model/time/zone.ts";
import * as fc from "../../../../support/fast-check.ts";
import { contentOf, readWhole } from "../../../../support/formats/read-file.ts";

const directory = mkdtempSync(join(tmpdir(), "parquet-"));
const database = await openDatabase({
  threads: 1,
  memoryBytes: 500_000_000,
  directories: [directory],
  spillDirectory: directory,
  cachesFiles: false,
});
const connection = await database.connect();

afterAll(() => {
  connection.close();
  database.close();
  rmSync(directory, { recursive: true });
});

const TIME_MS = 1_770_000_000_000;
const HERE = { timestampMs: TIME_MS, latitude: 52.520008, longitude: 13.404954, device: null, user: null };
const WHERE = "52.520008 AS lat, 13.404954 AS lon";

/** A file of what a statement selects. */
async function fileOf(select: string): Promise<Uint8Array> {
  const path = join(directory, "file.parquet");
  await connection.run(`COPY (SELECT ${select}) TO '${path}' (FORMAT parquet)`);
  return readFileSync(path);
}

async function read(select: string, options: Partial<ReadOptions> = {}) {
  return readWhole(parquet, contentOf(await fileOf(select)), options);
}

async function pointsOf(select: string, options: Partial<ReadOptions> = {}) {
  const { points, skips, error } = await read(select, options);
  expect([skips, error]).toEqual([{}, null]);
  return points;
}

describe("columns", () => {
  test("are known by the names that tables have", async () => {
    const more =
      "'van 3 ' AS tracker_id, 46.8 AS speed_kmh, 0.81 AS battery, 7::UTINYINT AS acc, '271.5' AS heading";
    expect(await pointsOf(`1770000000 AS tst, ${WHERE}, ${more}`)).toEqual([
      {
        ...HERE,
        device: "van 3",
        details: { speed: 13, bearing: 271.5, horizontal_accuracy: 7, battery_level: 81 },
      },
    ]);
  });

  test("may be said", async () => {
    const columns = new Map([
      ["latitude", "Breite"],
      ["timestamp", "Zeit"],
    ]);
    const select = "1770000000 AS Zeit, 52.520008 AS Breite, 13.404954 AS x";
    expect(await pointsOf(select, { columns })).toEqual([{ ...HERE, details: {} }]);
    expect((await read(select)).error).toBeInstanceOf(HeaderError);
  });

  test("of any name reach no statement", async () => {
    const name = `"c1"", (SELECT content FROM read_text('/etc/passwd')) AS ""x"`;
    expect(await pointsOf(`1770000000 AS tst, ${WHERE}, 1 AS ${name}`)).toEqual([{ ...HERE, details: {} }]);
  });

  test("of types that hold neither numbers nor texts are empty", async () => {
    const odd =
      "[1, 2] AS speed, {'a': 1} AS device, MAP {'a': 'b'} AS alt, 'x'::BLOB AS brand, true AS course";
    const [point] = await pointsOf(`1770000000 AS tst, ${WHERE}, ${odd}`);
    expect(point).toMatchObject({ ...HERE, details: { bearing: 1 } });
    expect(point!.details.speed).toBeUndefined();
    expect(point!.details.altitude).toBeUndefined();
  });
});

test("a record of ours keeps what it has, be it a blank, nothing or 0/0", async () => {
  const values: Readonly<Record<string, string>> = {
    device_id: "' van 3 '",
    timestamp: "1770000000000::BIGINT",
    latitude: "0.0::DOUBLE",
    longitude: "0.0::DOUBLE",
    user_id: "'ANONYMOUS'",
    battery_level: "0.5::DOUBLE",
    type: "''",
    is_mock: "false",
    network_status: "true",
    tz_offset: "'+0'",
    brand: "' Google'",
    app_version_name: "'5.4.0'",
  };
  const known = {
    number: "NULL::DOUBLE",
    integer: "NULL::BIGINT",
    boolean: "NULL::BOOLEAN",
    string: "NULL::VARCHAR",
  };
  const columns = REPORT_FIELDS.map(({ name, type }) => `${values[name] ?? known[type]} AS ${name}`);
  const point = {
    ...HERE,
    latitude: 0,
    longitude: 0,
    device: " van 3 ",
    details: {
      battery_level: 0.5,
      type: "",
      is_mock: false,
      network_status: true,
      tz_offset: "+0",
      brand: " Google",
      app_version_name: "5.4.0",
    },
  };
  expect(await pointsOf([...columns, "'POINT (0 0)'::GEOMETRY AS geometry"].join(", "))).toEqual([
    { ...point, isRecord: true },
  ]);
  // With a column less it is another program's.
  expect(await pointsOf(columns.filter((column) => !column.endsWith(" os")).join(", "))).toEqual([point]);
});

describe("times", () => {
  test.each([
    "1770000000",
    "1770000000000::BIGINT",
    "1770000000000000::HUGEINT",
    "1770000000.0::DECIMAL(18, 1)",
    "'2026-02-02T02:40:00Z'",
    "TIMESTAMPTZ '2026-02-02 03:40:00+01'",
  ])("are read from %s", async (time) => {
    expect(await pointsOf(`${time} AS time, ${WHERE}`)).toEqual([{ ...HERE, details: {} }]);
  });

  test("without zone need one that is said", async () => {
    for (const time of ["TIMESTAMP '2026-02-02 03:40:00'", "TIMESTAMP_NS '2026-02-02 03:40:00'"]) {
      const select = `${time} AS time, ${WHERE}`;
      expect((await read(select)).error).toBeInstanceOf(ZoneNeededError);
      expect(await pointsOf(select, { zone: parseZone("Europe/Berlin")! })).toEqual([
        { ...HERE, details: {} },
      ]);
    }
    const parts = `DATE '2026-02-02' AS date, TIME '03:40:00' AS time, ${WHERE}`;
    expect(await pointsOf(parts, { zone: parseZone("Europe/Berlin")! })).toEqual([{ ...HERE, details: {} }]);
  });

  test("that are none leave the point without", async () => {
    for (const [time, timestampMs] of [
      ["DATE '2026-02-02'", Number.NaN],
      ["NULL::BIGINT", null],
      ["'soon'", Number.NaN],
      ["NULL::TIMESTAMPTZ", null],
      ["true", Number.NaN],
    ] as const)
      expect(await pointsOf(`${time} AS time, ${WHERE}`)).toEqual([{ ...HERE, timestampMs, details: {} }]);
  });
});

describe("GeoParquet", () => {
  const shape = (text: string) => `1770000000 AS time, '${text}'::GEOMETRY AS geometry`;

  test("has positions in its shapes, where no columns have them", async () => {
    expect(await pointsOf(shape("POINT (13.404954 52.520008)"))).toEqual([{ ...HERE, details: {} }]);
    expect(await pointsOf(shape("POINT Z (13.404954 52.520008 34)"))).toEqual([{ ...HERE, details: {} }]);
    expect(await pointsOf(`${shape("POINT (1 2)")}, ${WHERE}`)).toEqual([{ ...HERE, details: {} }]);
    const binary = "unhex('00000000014020000000000000C024000000000000') AS geom";
    expect(await pointsOf(`1770000000 AS time, ${binary}`)).toEqual([
      { ...HERE, longitude: 8, latitude: -10, details: {} },
    ]);
    const located = "unhex('0101000020E610000000000000000020400000000000002440') AS geom";
    expect(await pointsOf(`1770000000 AS time, ${located}`)).toEqual([
      { ...HERE, longitude: 8, latitude: 10, details: {} },
    ]);
  });

  test("of other shapes has none", async () => {
    for (const text of ["LINESTRING (1 2, 3 4)", "POINT EMPTY", "POLYGON ((0 0, 1 0, 1 1, 0 0))"])
      expect((await pointsOf(shape(text)))[0]).toMatchObject({ latitude: null, longitude: null });
    const nothing = await pointsOf("1770000000 AS time, NULL::BLOB AS geom");
    expect(nothing[0]).toMatchObject({ latitude: null, longitude: null });
  });
});

describe("rows", () => {
  test("come in their order, with their places", async () => {
    const { points, places, error } = await read(
      "1770000000 + range AS tst, 1.5 AS lat, 2.5 AS lon FROM range(50000)",
    );
    expect(error).toBeNull();
    expect(points.map(({ timestampMs }) => timestampMs)).toEqual(
      Array.from({ length: 50_000 }, (_, index) => TIME_MS + index * 1000),
    );
    expect(places).toEqual(points.map((_, index) => index + 1));
  });

  test("more than a history of that size has are refused", async () => {
    const { points, error } = await read("1 AS tst, 1 AS lat, 2 AS lon FROM range(3000000)");
    expect(error).toEqual(new FormatError("it has more rows than a history of its size"));
    expect(points.length).toBeGreaterThan(1_000_000);
  });

  test("have no texts of megabytes", async () => {
    const [point] = await pointsOf(`1770000000 AS tst, ${WHERE}, repeat('x', 5000000) AS device`);
    expect(point!.device).toBeNull();
  });
});

describe("damage", () => {
  test("is an error of the format, whichever bytes are wrong or missing", async () => {
    const whole = await fileOf(`1770000000 + range AS tst, ${WHERE}, 'a' || range AS device FROM range(20)`);
    expect((await readWhole(parquet, contentOf(whole.slice(0, -100)))).error).toBeInstanceOf(FormatError);
    expect((await readWhole(parquet, contentOf("PAR1"))).error).toBeInstanceOf(FormatError);
    const change = fc.tuple(fc.nat(whole.length - 1), fc.nat(255));
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 5 }), async (changes) => {
        const bytes = Uint8Array.from(whole);
        for (const [at, byte] of changes) bytes[at] = byte;
        await readWhole(parquet, contentOf(bytes));
      }),
      { numRuns: 50 },
    );
  });
});

test("recognise() knows it by its first bytes", () => {
  const said = (text: string) =>
    parquet.recognise({ bytes: new TextEncoder().encode(text), text, isWhole: true, name: "file" });
  expect(said("PAR1...")).toBe('it begins with "PAR1"');
  expect(said("PAR")).toBeNull();
});
