import { describe, expect, test } from "bun:test";
import type { ClientMessage } from "../../../src/clients/client.ts";
import { homeassistant } from "../../../src/clients/homeassistant.ts";
import { ARRIVED_MS, collect, contentOf, messageOf } from "../../support/clients/collected.ts";
import { sample } from "../../support/clients/sample.ts";

function read(body: string, other: Partial<ClientMessage> = {}) {
  return collect(homeassistant, messageOf(contentOf(body), other));
}

const BERLIN = { user: null, latitude: 52.520008, longitude: 13.404954 };

describe("a rest_command of Home Assistant", () => {
  test("has m/s, and a time with microseconds and an offset", () => {
    expect(read(sample("home-assistant/rest-command.json")).points).toEqual([
      {
        ...BERLIN,
        device: "iphone_16",
        timestampMs: 1_770_000_000_123,
        details: { horizontal_accuracy: 12, altitude: 34.2, speed: 13, battery_level: 81 },
      },
    ]);
  });

  test("writes 0 for what is not known", () => {
    expect(read(sample("home-assistant/rest-command-values-missing.json")).points).toEqual([
      { ...BERLIN, device: "iphone_16", timestampMs: 1_770_000_060_123, details: {} },
    ]);
  });

  test("has km/h where the operator says that its tracker is OwnTracks", () => {
    const { points } = read(sample("home-assistant/rest-command.json"), { speedUnit: "kmh" });
    expect(points[0]?.details.speed).toBe(3.611);
  });
});

describe("the webhook of Home Assistant's phone app", () => {
  test("tells no time, since it is sent at once", () => {
    expect(read(sample("home-assistant/companion-webhook.json")).points).toEqual([
      {
        ...BERLIN,
        device: null,
        timestampMs: ARRIVED_MS,
        isTimedByArrival: true,
        details: { horizontal_accuracy: 12, vertical_accuracy: 3, altitude: 34, speed: 13, bearing: 271 },
      },
    ]);
  });

  test("tells of other things too, and at times of a zone without a position", () => {
    expect(read('{"type":"update_sensor_states","data":[]}').skipped).toEqual(["webhook"]);
    expect(read('{"type":"encrypted","encrypted":true,"encrypted_data":"…"}').skipped).toEqual(["webhook"]);
    expect(read('{"type":"update_location","data":{"location_name":"home"}}').skipped).toEqual(["heartbeat"]);
  });
});

test("what is neither is refused as a whole, and the answer is an empty object", () => {
  const webhook = '{"type":"update_location","data":{"gps":{"latitude":1,"longitude":2}}}';
  expect(read(webhook).refused).toEqual([{ reason: "unknown_shape", raw: undefined }]);
  expect(read('{"latitude":1}').refused).toEqual([{ reason: "unknown_shape", raw: undefined }]);
  expect(homeassistant.success).toEqual({ contentType: "application/json", body: "{}" });
});
