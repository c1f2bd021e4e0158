import { describe, expect, test } from "bun:test";
import { nmea } from "../../../../src/formats/read/nmea.ts";
import * as fc from "../../../support/fast-check.ts";
import { contentOf, readWhole, sampleContent } from "../../../support/formats/read-file.ts";

const MIDNIGHT_MS = Date.UTC(2026, 1, 3);
const NOBODY = { device: null, user: null };

/** A sentence with its checksum. */
function sentence(body: string): string {
  let sum = 0;
  for (const character of body) sum ^= character.charCodeAt(0);
  return `$${body}*${sum.toString(16).toUpperCase().padStart(2, "0")}`;
}

const rmc = (time: string, { latitude = "5230.00,N", status = "A", date = "020226" } = {}) =>
  sentence(`GPRMC,${time},${status},${latitude},01324.00,E,10,90,${date},,,A`);
const gga = (time: string, { latitude = "5215.00,N", quality = "1", altitude = "34.2" } = {}) =>
  sentence(`GPGGA,${time},${latitude},01324.00,E,${quality},08,0.9,${altitude},M,45.1,M,,`);

async function read(...lines: string[]) {
  const { points, skips, error } = await readWhole(nmea, contentOf(lines.join("\r\n")));
  expect(error).toBeNull();
  const seen = points.map(({ timestampMs, latitude, details }) => [
    timestampMs === null ? null : new Date(timestampMs).toISOString().slice(0, -1),
    latitude,
    details.altitude ?? null,
  ]);
  return { seen, skips };
}

describe("the sample", () => {
  test("has five positions", async () => {
    const { points, skips, skipPlaces, remarks, error } = await readWhole(
      nmea,
      sampleContent("nmea/log.nmea"),
    );
    expect(points).toEqual([
      {
        ...NOBODY,
        timestampMs: MIDNIGHT_MS - 2000,
        latitude: 52.520008,
        longitude: 13.404954,
        details: { altitude: 34.2, speed: 13, bearing: 271.4 },
      },
      {
        ...NOBODY,
        timestampMs: MIDNIGHT_MS - 500,
        latitude: 52.52001,
        longitude: 13.404956667,
        details: { altitude: 34.3, speed: 12.964, bearing: 271.5 },
      },
      {
        ...NOBODY,
        timestampMs: MIDNIGHT_MS,
        latitude: 52.520013333,
        longitude: 13.40496,
        details: { speed: 12.913, bearing: 271.6 },
      },
      {
        ...NOBODY,
        timestampMs: MIDNIGHT_MS + 3000,
        latitude: -33.8688,
        longitude: 151.2093,
        details: { speed: 0 },
      },
      {
        ...NOBODY,
        timestampMs: MIDNIGHT_MS + 4000,
        latitude: 52.5200165,
        longitude: 13.404963333,
        details: { speed: 12.913, bearing: 271.6 },
      },
    ]);
    expect(skips).toEqual({ no_fix: 1, bad_checksum: 1, unreadable: 1 });
    expect(skipPlaces).toEqual([6, 7, 9]);
    expect([remarks, error]).toEqual([{}, null]);
  });

  test("is the same in pieces of any size", async () => {
    const whole = await readWhole(nmea, sampleContent("nmea/log.nmea"));
    for (const pieceBytes of [1, 2, 5, 17, 100])
      expect(await readWhole(nmea, sampleContent("nmea/log.nmea", pieceBytes))).toEqual(whole);
  });
});

describe("RMC and GGA", () => {
  test("of a second are one position, in whichever order they come", async () => {
    const point = ["2026-02-02T10:00:00.000", 52.5, 34.2];
    expect((await read(rmc("100000"), gga("100000"))).seen).toEqual([point]);
    expect((await read(gga("100000"), rmc("100000"))).seen).toEqual([point]);
    expect((await read(rmc("100000"), gga("100001"))).seen[0]).toEqual([point[0]!, 52.5, null]);
  });

  test("without a fix are no position", async () => {
    for (const lines of [
      [rmc("100000"), gga("100000", { quality: "0" })],
      [gga("100000", { quality: "0" }), rmc("100000")],
      [gga("100000"), rmc("100000", { status: "V" })],
      [rmc("100000", { status: "V" }), gga("100000")],
    ])
      expect(await read(...lines)).toEqual({ seen: [], skips: { no_fix: 1 } });
  });

  test("ten times a second keep each its altitude", async () => {
    const lines = ["100000.00", "100000.10", "100000.20"].flatMap((time, index) => [
      gga(time, { altitude: String(index) }),
      rmc(time),
    ]);
    const expected = [0, 1, 2].map((index) => [`2026-02-02T10:00:00.${index}00`, 52.5, index]);
    expect((await read(...lines)).seen).toEqual(expected);
    const behind = [0, 2, 4].flatMap((index) => [lines[index + 1]!, lines[index]!]);
    expect((await read(...behind)).seen).toEqual(expected);
  });

  test("once a second beside GGA ten times a second are one position", async () => {
    const lines = [
      rmc("100000.00"),
      ...[0, 1, 2, 3].map((tenth) => gga(`100000.${tenth}0`)),
      rmc("100001.00"),
    ];
    expect((await read(...lines)).seen.map(([time]) => time)).toEqual([
      "2026-02-02T10:00:00.000",
      "2026-02-02T10:00:01.000",
    ]);
  });

  test("of several kinds of satellites are one position", async () => {
    const other = sentence("GNRMC,100000,A,5230.00,N,01324.00,E,10,90,020226,,,A");
    expect((await read(rmc("100000"), other)).seen).toHaveLength(1);
    // Of one kind there may be too few.
    const none = sentence("GLRMC,100000,V,,,,,,,020226,,,N");
    const found = await read(rmc("100000"), none, gga("100000"), rmc("100001"));
    expect(found.seen.map(([time, , altitude]) => [time, altitude])).toEqual([
      ["2026-02-02T10:00:00.000", 34.2],
      ["2026-02-02T10:00:01.000", null],
    ]);
  });
});

describe("RMC of two receivers", () => {
  const talking = (talker: string, line: string) => sentence(talker + line.slice(3, line.indexOf("*")));
  const ours = { latitude: "5230.00,N", altitude: "11" };
  const theirs = { latitude: "5231.50,N", altitude: "22" };
  const ourRmc = rmc("100000", ours);
  const ourGga = gga("100000", ours);
  const theirRmc = talking("GL", rmc("100000", theirs));
  const theirGga = talking("GL", gga("100000", theirs));
  const altitudes = new Map([
    [52.5, 11],
    [52.525, 22],
  ]);

  test("are two positions of an instant, with no altitude of each other", async () => {
    const orders = fc.shuffledSubarray([ourGga, theirGga], { minLength: 0 });
    const both = fc.shuffledSubarray([ourRmc, theirRmc], { minLength: 2 });
    await fc.assert(
      fc.asyncProperty(both, orders, orders, async ([first, second], before, behind) => {
        const { seen } = await read(...before, first!, second!, ...behind, rmc("100001"));
        const ofInstant = seen.filter(([time]) => time === "2026-02-02T10:00:00.000");
        expect(ofInstant.map(([, latitude]) => Number(latitude)).toSorted()).toEqual([52.5, 52.525]);
        for (const [, latitude, altitude] of ofInstant)
          if (altitude !== null) expect(altitude).toBe(altitudes.get(Number(latitude))!);
      }),
    );
  });
});

describe("GGA alone", () => {
  test("has no day before the first date", async () => {
    const { seen } = await read(gga("100000"), gga("100001"));
    expect(seen.map(([time]) => time)).toEqual([null, null]);
  });

  test("has no day from a ZDA without a year of four digits", async () => {
    for (const year of ["", ",", ",26", ",6.0", ",x"]) {
      const { points, skips } = await readWhole(
        nmea,
        contentOf([`GPZDA,100000,1,1${year}`, "GNGGA,100000,5230.0,N,1330.0,E,1"].map(sentence).join("\r\n")),
      );
      expect(points.map(({ timestampMs }) => timestampMs)).toEqual([null]);
      expect(skips).toEqual({});
    }
  });

  test("follows the day that RMC or ZDA said, over midnight too", async () => {
    const zda = sentence("GPZDA,235957.00,02,02,2026,00,00");
    const times = ["235958", "235959", "000000", "120000", "235959", "000000"];
    for (const first of [zda, rmc("235957")]) {
      const { seen } = await read(first, ...times.map((time) => gga(time)));
      expect(seen.slice(-times.length)).toEqual([
        ["2026-02-02T23:59:58.000", 52.25, 34.2],
        ["2026-02-02T23:59:59.000", 52.25, 34.2],
        ["2026-02-03T00:00:00.000", 52.25, 34.2],
        ["2026-02-03T12:00:00.000", 52.25, 34.2],
        ["2026-02-03T23:59:59.000", 52.25, 34.2],
        ["2026-02-04T00:00:00.000", 52.25, 34.2],
      ]);
    }
  });
});

describe("days that meet at the same second of the day", () => {
  const days = ["010626", "020626", "030626"];
  const altitudes = ["1", "2", "3"];
  const expected = (hasAltitude: boolean) =>
    altitudes.map((altitude, index) => [
      `2026-06-0${index + 1}T12:00:00.000`,
      52.5,
      hasAltitude ? Number(altitude) : null,
    ]);
  const ofDay = (index: number) => ({
    rmc: rmc("120000", { date: days[index]! }),
    gga: gga("120000", { latitude: "5230.00,N", altitude: altitudes[index]! }),
    zda: sentence(`GPZDA,120000,0${index + 1},06,2026,00,00`),
  });

  test.each([
    ["RMC", (day: ReturnType<typeof ofDay>) => [day.rmc], false],
    ["RMC, GGA", (day: ReturnType<typeof ofDay>) => [day.rmc, day.gga], true],
    ["GGA, RMC", (day: ReturnType<typeof ofDay>) => [day.gga, day.rmc], true],
    ["ZDA, GGA", (day: ReturnType<typeof ofDay>) => [day.zda, day.gga], true],
    ["GGA, ZDA", (day: ReturnType<typeof ofDay>) => [day.gga, day.zda], true],
    ["ZDA, GGA, RMC", (day: ReturnType<typeof ofDay>) => [day.zda, day.gga, day.rmc], true],
    ["RMC, ZDA, GGA", (day: ReturnType<typeof ofDay>) => [day.rmc, day.zda, day.gga], true],
    ["GGA, RMC, ZDA", (day: ReturnType<typeof ofDay>) => [day.gga, day.rmc, day.zda], true],
    ["RMC, GGA, ZDA", (day: ReturnType<typeof ofDay>) => [day.rmc, day.gga, day.zda], true],
  ] as const)("are a position each, with their own altitude: %s", async (_order, linesOf, hasAltitude) => {
    const { seen, skips } = await read(...[0, 1, 2].flatMap((index) => linesOf(ofDay(index))));
    expect([seen, skips]).toEqual([expected(hasAltitude), {}]);
  });

  test("keep the positions on both sides of the break, and no altitude of the day before", async () => {
    const { seen } = await read(
      rmc("120000", { date: days[0]! }),
      gga("120000", { altitude: "99" }),
      rmc("120000", { date: days[1]! }),
      rmc("120001", { date: days[1]! }),
    );
    expect(seen).toEqual([
      ["2026-06-01T12:00:00.000", 52.5, 99],
      ["2026-06-02T12:00:00.000", 52.5, null],
      ["2026-06-02T12:00:01.000", 52.5, null],
    ]);
  });

  test("date a GGA by what was said before it, whatever date comes next", async () => {
    const { seen } = await read(
      sentence("GPZDA,120000,01,06,2026,00,00"),
      gga("120000"),
      sentence("GPZDA,115950,02,06,2026,00,00"),
      gga("115950"),
    );
    expect(seen.map(([time]) => time)).toEqual(["2026-06-01T12:00:00.000", "2026-06-02T11:59:50.000"]);
  });

  test("lose no position, however receivers order their sentences", async () => {
    const orders = fc.shuffledSubarray(["rmc", "gga", "zda"] as const, { minLength: 1 });
    const starts = fc.array(fc.integer({ min: 1, max: 28 }), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(orders, starts, async (order, dates) => {
        fc.pre(order.includes("rmc") || order.includes("zda"));
        fc.pre(order.includes("rmc") || order.includes("gga"));
        const sessions = [...new Set(dates)].toSorted((a, b) => a - b);
        const lines: string[] = [];
        const expectedPoints: string[] = [];
        for (const date of sessions)
          for (const second of [0, 1]) {
            const day = String(date).padStart(2, "0");
            const time = `12000${second}`;
            const said = {
              rmc: rmc(time, { date: `${day}0626` }),
              gga: gga(time, { latitude: "5230.00,N", altitude: String(date * 10 + second) }),
              zda: sentence(`GPZDA,${time},${day},06,2026,00,00`),
            };
            lines.push(...order.map((kind) => said[kind]));
            const altitude = order.includes("gga") ? date * 10 + second : null;
            expectedPoints.push(`2026-06-${day}T12:00:0${second}.000 ${altitude}`);
          }
        const { seen } = await read(...lines);
        expect(seen.map(([time, , altitude]) => `${time} ${altitude}`)).toEqual(expectedPoints);
      }),
    );
  });
});

describe("lines", () => {
  test("without a checksum are taken, with another one not", async () => {
    const plain = rmc("100000").replace(/\*.*/, "");
    expect((await read(plain)).seen).toHaveLength(1);
    expect(await read(`${plain}*00`)).toEqual({ seen: [], skips: { bad_checksum: 1 } });
    expect(await read(`${plain}*`)).toEqual({ seen: [], skips: { bad_checksum: 1 } });
  });

  test("may have anything before and behind the sentence", async () => {
    expect((await read(`NMEA,${rmc("100000")},1770076804123`)).seen).toHaveLength(1);
    expect((await read(`$GPRMC,1000${rmc("100000")}`)).seen).toHaveLength(1);
  });

  test("that ran together, or stand among binary messages, are each read", async () => {
    const text = `\xb5b\x01\x07\0$\xff${rmc("100000")}\r${rmc("100001")}${gga("100001")}\r\n${rmc("100002")}`;
    const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
    const { points, skips } = await readWhole(nmea, contentOf(bytes));
    expect(points.map(({ timestampMs }) => timestampMs! % 60_000)).toEqual([0, 1000, 2000]);
    expect(skips).toEqual({ unreadable: 1 });
  });

  test("whose values can't be read say so of each", async () => {
    const body = "GPRMC,1000x0,A,5275.0000,N,01324.00,E,fast,-,020226,,,A";
    const { points } = await readWhole(nmea, contentOf(sentence(body)));
    expect(points).toEqual([
      {
        ...NOBODY,
        timestampMs: Number.NaN,
        latitude: Number.NaN,
        longitude: 13.4,
        details: { speed: Number.NaN, bearing: Number.NaN },
      },
    ]);
  });

  test("of manufacturers, of other ships, and of unknown kinds are skipped", async () => {
    const settings = "$PGRMC,A,100,100,6378137,298.257,0,0,0,A,3,1,1,4,30";
    const others = [
      "$PGRME,1,M,2,M,3,M",
      settings,
      "!AIVDM,1,1,,A,13u?etPv2;0n:dDPwUM1U1Cb069D,0",
      "$GPGSV,1,1,00*79",
    ];
    expect(await read(...others)).toEqual({ seen: [], skips: {} });
  });

  test("say the hemisphere", async () => {
    const line = sentence("GPRMC,100000,A,3352.128,S,05830.00,W,0,,020226,,,A");
    const { points } = await readWhole(nmea, contentOf(line));
    expect(points.map(({ latitude, longitude }) => [latitude, longitude])).toEqual([[-33.8688, -58.5]]);
  });

  test("have dates of the last century from 80 on", async () => {
    expect((await read(rmc("100000", { date: "060180" }))).seen).toEqual([
      ["1980-01-06T10:00:00.000", 52.5, null],
    ]);
    const { points } = await readWhole(nmea, contentOf(rmc("100000", { date: "310226" })));
    expect(points.map(({ timestampMs }) => timestampMs)).toEqual([Number.NaN]);
  });

  test("that are no UTF-8 or too long are skipped alone", async () => {
    const text = `${rmc("100000")}\n${"x".repeat(3 << 20)}\n\xff\n${rmc("100001")}\n`;
    const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
    const { points, places, skips } = await readWhole(nmea, contentOf(bytes));
    expect([points.length, places, skips]).toEqual([2, [4, 5], { too_large: 1, unreadable: 1 }]);
  });

  test("cut off anywhere keep every position before the cut", async () => {
    const lines = [0, 1, 2, 3].flatMap((second) => [gga(`10000${second}`), rmc(`10000${second}`)]);
    const text = `${lines.join("\r\n")}\r\n`;
    const whole = (await readWhole(nmea, contentOf(text))).points;
    for (let cut = 0; cut < text.length; cut++) {
      const { points } = await readWhole(nmea, contentOf(text.slice(0, cut)));
      const kept = (text.slice(0, cut).match(/RMC.*\r\n/g) ?? []).length;
      expect(points.slice(0, kept)).toEqual(whole.slice(0, kept));
    }
  });

  test("of any characters fail in no other way", async () => {
    const field = fc.constantFrom(
      "100000",
      "",
      "A",
      "V",
      "5230.0",
      "N",
      "E",
      "0",
      "1",
      "020226",
      "-",
      "999999",
    );
    const line = fc
      .tuple(fc.constantFrom("GPRMC", "GNGGA", "GPZDA", "X"), fc.array(field, { maxLength: 12 }))
      .map(([kind, fields]) => [kind, ...fields].join(","));
    await fc.assert(
      fc.asyncProperty(fc.array(line), async (bodies) => {
        const { error } = await readWhole(nmea, contentOf(bodies.map(sentence).join("\r\n")));
        expect(error).toBeNull();
      }),
    );
  });
});

test("recognise() knows a sentence at the beginning of a line", () => {
  const said = (text: string) =>
    nmea.recognise({ bytes: new TextEncoder().encode(text), text, isWhole: true, name: "file" });
  expect(said(`foobar\n1770076804123 ${rmc("100000")}`)).toBe("lines that begin with $GPRMC");
  expect(said('{"note":"$GPRMC,100000"}')).toBeNull();
  const bytes = Uint8Array.from(`\xb5b\0\x01${rmc("100000")}`, (character) => character.charCodeAt(0));
  expect(nmea.recognise({ bytes, text: "", isWhole: true, name: "file" })).toBe(
    "sentences such as $GPRMC among binary messages",
  );
});
