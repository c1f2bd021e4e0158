import { describe, expect, test } from "bun:test";
import type { ClientMessage } from "../../../src/clients/client.ts";
import { LongList } from "../../../src/clients/content.ts";
import { phonetrack } from "../../../src/clients/phonetrack.ts";
import { collect, contentOf, messageOf } from "../../support/clients/collected.ts";
import { parametersOf, sample } from "../../support/clients/sample.ts";

function read(body: string, other: Partial<ClientMessage> = {}) {
  return collect(phonetrack, messageOf(contentOf(body), other));
}

const POINT = {
  device: null,
  user: null,
  timestampMs: 1_770_000_000_000,
  latitude: 52.520008,
  longitude: 13.404954,
  details: { horizontal_accuracy: 4.8, altitude: 34.2, speed: 13, bearing: 271.4, battery_level: 81 },
};
const ROWS = [
  POINT,
  {
    device: null,
    user: null,
    timestampMs: 1_770_000_060_000,
    latitude: 52.5201,
    longitude: 13.4051,
    details: { horizontal_accuracy: 25, battery_level: 81 },
  },
];

describe("PhoneTrack's log routes", () => {
  const query = sample("phonetrack/query.txt").trim();

  test("take a point as parameters of a URL, as a form, and as JSON", () => {
    const asQuery = collect(phonetrack, messageOf({ kind: "empty" }, { query: parametersOf(query) }));
    expect(asQuery.points).toEqual([POINT]);
    expect(read(query).points).toEqual([POINT]);
    expect(read(JSON.stringify(Object.fromEntries(parametersOf(query)))).points).toEqual([POINT]);
  });

  test("take milliseconds, and Locus Map's names", () => {
    expect(read("lat=1&lon=2&timestamp=1770000000123").points[0]?.timestampMs).toBe(1_770_000_000_123);
    expect(read("lat=1&lon=2&time=1770000000&battery=81").points[0]).toMatchObject({
      timestampMs: 1_770_000_000_000,
      details: { battery_level: 81 },
    });
  });

  test("take empty values and -1 for what is not known", () => {
    const { points } = read("lat=1&lon=2&timestamp=1770000000&alt=&acc=&speed=&bearing=&sat=&bat=-1");
    expect(points[0]?.details).toEqual({});
  });

  test("take many points as rows, with nulls in them", () => {
    const body = sample("phonetrack/multiple.json");
    const { points, raws } = read(body);
    expect(points).toEqual(ROWS);
    expect(raws.flatMap((raw) => read(JSON.stringify(raw)).points)).toEqual(ROWS);

    const list = JSON.parse(body).points;
    const long = new LongList(list.length, (index) => list[index]);
    const value = { points: long };
    expect(collect(phonetrack, messageOf({ kind: "json", value })).points).toEqual(ROWS);
  });

  test("refuse rows that are none, alone", () => {
    expect(read('{"points":[7,[null,null,1770000000]]}').refused).toEqual([
      { reason: "unknown_shape", raw: { points: [7] } },
      { reason: "no_position", raw: { points: [[null, null, 1_770_000_000]] } },
    ]);
  });

  test("have speeds in what the operator says", () => {
    expect(read("lat=1&lon=2&speed=36", { speedUnit: "kmh" }).points[0]?.details.speed).toBe(10);
  });

  test("answer what makes the Android app delete a point", () => {
    expect(phonetrack.success).toEqual({ contentType: "application/json", body: '{"done":1,"friends":[]}' });
  });
});
