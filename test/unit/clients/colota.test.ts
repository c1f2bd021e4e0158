import { describe, expect, test } from "bun:test";
import type { ClientMessage } from "../../../src/clients/client.ts";
import { colota } from "../../../src/clients/colota.ts";
import { collect, contentOf, messageOf } from "../../support/clients/collected.ts";
import { parametersOf, sample } from "../../support/clients/sample.ts";

function read(body: string, other: Partial<ClientMessage> = {}) {
  return collect(colota, messageOf(contentOf(body), other));
}

const BERLIN = { user: null, timestampMs: 1_770_000_000_000, latitude: 52.520008, longitude: 13.404954 };
const DETAILS = {
  horizontal_accuracy: 12,
  altitude: 34,
  bearing: 271.4,
  battery_level: 81,
  battery_status: "Not Charging",
};

describe("Colota", () => {
  test("has m/s in its own words", () => {
    expect(read(sample("colota/default.json")).points).toEqual([
      { ...BERLIN, device: null, details: { ...DETAILS, speed: 13 } },
    ]);
  });

  test("has m/s in OwnTracks', and a name there that is nobody's", () => {
    const body = sample("colota/owntracks-template.json");
    expect(read(body).points).toEqual([{ ...BERLIN, device: null, details: { ...DETAILS, speed: 13.1 } }]);
    expect(read(body.replace('"AA"', '"mo"')).points[0]?.device).toBe("mo");
  });

  test("has m/s in those of its template for PhoneTrack", () => {
    const body = JSON.stringify({
      lat: 52.520008,
      lon: 13.404954,
      acc: 12,
      alt: 34,
      speed: 13.1,
      bat: 81,
      bs: 1,
      timestamp: 1_770_000_000,
      bearing: 271.4,
      useragent: "Colota",
    });
    expect(read(body).points).toEqual([{ ...BERLIN, device: null, details: { ...DETAILS, speed: 13.1 } }]);
  });

  test("has m/s in Traccar's parameters, where their path was not typed", () => {
    const query = parametersOf(sample("colota/traccar-get-query.txt").trim());
    expect(collect(colota, messageOf({ kind: "empty" }, { query })).points).toEqual([
      { ...BERLIN, device: null, details: { ...DETAILS, speed: 13.1, battery_status: "Charging" } },
    ]);
  });

  test("makes up a position as it comes into a fence", () => {
    expect(read(sample("colota/anchor-point.json")).points).toEqual([
      {
        device: null,
        user: null,
        timestampMs: 1_770_003_599_000,
        latitude: 52.5205,
        longitude: 13.4055,
        details: { horizontal_accuracy: 150, battery_level: 80, battery_status: "Not Charging" },
      },
    ]);
  });

  test("is named by fields that its user added, and they are texts", () => {
    expect(read('{"lat":1,"lon":2,"device_id":"moto","id":"x"}').points[0]?.device).toBe("moto");
    expect(read('{"lat":1,"lon":2,"device_id":"colota","id":"moto"}').points[0]?.device).toBe("moto");
    expect(read('{"lat":1,"lon":2,"id":"colota","tid":"AA"}').points[0]?.device).toBeNull();
  });

  test("says with a negative battery that it doesn't know, and with 0 nothing of whether it charges", () => {
    expect(read('{"lat":1,"lon":2,"batt":-1,"bs":0}').points[0]?.details).toEqual({});
  });

  test("has what the operator says, and is its user's who logged in", () => {
    const { points } = read('{"lat":1,"lon":2,"vel":36}', { speedUnit: "kmh", basicUser: "anna" });
    expect(points[0]).toMatchObject({ user: "anna", details: { speed: 10 } });
  });

  test("without a position is refused as a whole, and is told nothing", () => {
    expect(read('{"tst":1770000000}').refused).toEqual([{ reason: "no_position", raw: undefined }]);
    expect(colota.success).toEqual({ contentType: null, body: "" });
  });
});
