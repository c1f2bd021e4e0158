import { describe, expect, test } from "bun:test";
import type { ClientMessage } from "../../../src/clients/client.ts";
import { opengts } from "../../../src/clients/opengts.ts";
import { collect, messageOf } from "../../support/clients/collected.ts";
import { parametersOf, sample } from "../../support/clients/sample.ts";

function read(query: string, other: Partial<ClientMessage> = {}) {
  return collect(opengts, messageOf({ kind: "empty" }, { query: parametersOf(query), ...other }));
}

const REQUEST = sample("opengts/request.txt").trim();
const SENTENCE = "$GPRMC,024000,A,5231.20048,N,1324.29724,E,25.269972,271.400000,020226,,";

describe("OpenGTS mode", () => {
  test("has a sentence of NMEA's with knots", () => {
    expect(read(REQUEST).points).toEqual([
      {
        device: "phone1",
        user: "anna",
        timestampMs: 1_770_000_000_000,
        latitude: 52.520008,
        longitude: 13.404954,
        details: { altitude: 34.2, speed: 13, bearing: 271.4, battery_level: 81 },
      },
    ]);
  });

  test("has other units where the operator says so", () => {
    expect(read(REQUEST, { speedUnit: "mps" }).points[0]?.details.speed).toBe(25.269972);
  });

  test("names the device twice, and it is no user where no account was typed", () => {
    expect(read(`dev=d&id=i&acct=a&gprmc=${SENTENCE}`).points[0]).toMatchObject({ device: "d", user: "a" });
    expect(read(`id=i&acct=i&gprmc=${SENTENCE}`).points[0]).toMatchObject({ device: "i", user: null });
  });

  test("knows neither altitude nor battery where they are 0", () => {
    expect(read(`dev=d&alt=0.0&batt=0&gprmc=${SENTENCE}`).points[0]?.details).toEqual({
      speed: 13,
      bearing: 271.4,
    });
  });

  test("skips a fix that isn't valid, and refuses what is not as it was sent", () => {
    expect(read(`dev=d&gprmc=${SENTENCE.replace(",A,", ",V,")}`).skipped).toEqual(["no fix"]);
    expect(read(REQUEST.replace("*1C", "*1D")).refused).toEqual([
      { reason: "unknown_shape", raw: undefined },
    ]);
    expect(read("dev=d&batt=81").refused).toEqual([{ reason: "no_position", raw: undefined }]);
  });
});
