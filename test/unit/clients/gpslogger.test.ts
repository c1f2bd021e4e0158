import { describe, expect, test } from "bun:test";
import type { ClientMessage } from "../../../src/clients/client.ts";
import { gpslogger } from "../../../src/clients/gpslogger.ts";
import { collect, contentOf, messageOf } from "../../support/clients/collected.ts";
import { parametersOf, sample } from "../../support/clients/sample.ts";

function readQuery(query: string, other: Partial<ClientMessage> = {}) {
  return collect(gpslogger, messageOf({ kind: "empty" }, { query: parametersOf(query), ...other }));
}

function readBody(body: string, other: Partial<ClientMessage> = {}) {
  return collect(gpslogger, messageOf(contentOf(body), other));
}

/** Details of a point with what a test is about. */
function detailsOf(query: string, other: Partial<ClientMessage> = {}) {
  return readQuery(`lat=1&lon=2&${query}`, other).points[0]?.details;
}

const BERLIN = { user: null, latitude: 52.520008, longitude: 13.404954 };

describe("GPSLogger", () => {
  test("sends every parameter it has", () => {
    expect(readQuery(sample("gpslogger-custom-url/all-parameters-query.txt").trim()).points).toEqual([
      {
        ...BERLIN,
        device: "a1b2c3d4e5f60718",
        timestampMs: 1_770_000_000_000,
        details: {
          horizontal_accuracy: 4.8,
          altitude: 34.2,
          speed: 13,
          bearing: 271.4,
          battery_level: 81,
          battery_status: "Not Charging",
        },
      },
    ]);
  });

  test("sends the body that everybody copies, all of it texts, with m/s", () => {
    expect(readBody(sample("gpslogger-custom-url/owntracks-body.json")).points).toEqual([
      {
        ...BERLIN,
        device: null,
        timestampMs: 1_770_000_000_000,
        details: {
          horizontal_accuracy: 4.8,
          altitude: 34.2,
          speed: 13,
          battery_level: 81,
          battery_status: "Not Charging",
        },
      },
    ]);
  });

  test("writes 0.0 for what it doesn't know", () => {
    expect(readBody(sample("gpslogger-custom-url/unknown-values-are-zero.json")).points).toEqual([
      { ...BERLIN, device: null, timestampMs: 1_770_000_060_000, details: { battery_status: "Charging" } },
    ]);
  });

  test("stands still where it knows how well, or where it heads", () => {
    expect(detailsOf("spd=0.0&acc=4.8")).toEqual({ speed: 0, horizontal_accuracy: 4.8 });
    expect(detailsOf("spd=0.0&acc=0.0&dir=90")).toEqual({ speed: 0, bearing: 90 });
    expect(detailsOf("spd=0.0&acc=0.0&dir=0.0")).toEqual({});
  });

  test("heads north where it moves", () => {
    expect(detailsOf("spd=3&dir=0.0")).toEqual({ speed: 3, bearing: 0 });
  });

  test("has km/h under a name of its own, and m/s before them", () => {
    expect(detailsOf("spd_kph=36")).toEqual({ speed: 10 });
    expect(detailsOf("spd_kph=36&spd=11")).toEqual({ speed: 11 });
    expect(detailsOf("vel=36")).toEqual({ speed: 36 });
  });

  test("has what the operator says, under either name", () => {
    expect(detailsOf("spd=36", { speedUnit: "kmh" })).toEqual({ speed: 10 });
    expect(detailsOf("spd_kph=36", { speedUnit: "mps" })).toEqual({ speed: 36 });
  });

  test.each([
    ["seconds before all else", '"timestamp":"1770000000","time":"2020-01-01T00:00:00Z"'],
    ["OwnTracks' name for them", '"tst":"1770000000"'],
    ["ISO 8601", '"time":"2026-02-02T02:40:00.000Z"'],
    ["ISO 8601 with an offset", '"timeoffset":"2026-02-02T03:40:00.000+01:00"'],
    ["an offset as it is in a URL", '"timeoffset":"2026-02-02T03:40:00.000%2B01:00"'],
    ["a time as it is in a URL", '"timeoffset":"2026-02-02T03%3A40%3A00.000%2b01%3a00"'],
    [
      "a time as it is in a URL, called `timestamp` by its user",
      '"timestamp":"2026-02-02T03%3A40%3A00.000%2B01%3A00"',
    ],
    ["a time as it is in a URL, under OwnTracks' name", '"tst":"2026-02-02T02%3A40%3A00.000Z"'],
  ])("tells the time in %s", (_title, members) => {
    expect(readBody(`{"lat":1,"lon":2,${members}}`).points[0]?.timestampMs).toBe(1_770_000_000_000);
  });

  test.each<[string, string, Partial<ClientMessage>, string | null]>([
    ["what Android calls the phone", "aid=a1&ser=s1", {}, "a1"],
    ["its serial number", "ser=s1", {}, "s1"],
    [
      "a header of OwnTracks' where the serial number is unknown",
      "ser=unknown",
      { headers: { "x-limit-d": "p" } },
      "p",
    ],
    ["nothing, and least of all its profile", "profile=Default+Profile", {}, null],
  ])("is named by %s", (_title, query, other, device) => {
    expect(readQuery(`lat=1&lon=2&${query}`, other).points[0]?.device).toBe(device);
  });

  test("is its user's who logged in", () => {
    expect(readQuery("lat=1&lon=2", { basicUser: "anna" }).points[0]?.user).toBe("anna");
  });

  test("without a position is refused as a whole", () => {
    expect(readQuery("aid=a1&spd=3").refused).toEqual([{ reason: "no_position", raw: undefined }]);
    expect(gpslogger.success).toEqual({ contentType: null, body: "" });
  });
});
