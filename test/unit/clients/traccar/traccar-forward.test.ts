import { expect, test } from "bun:test";
import type { ClientMessage } from "../../../../src/clients/client.ts";
import { traccarForward } from "../../../../src/clients/traccar/traccar-forward.ts";
import { collect, contentOf, messageOf } from "../../../support/clients/collected.ts";
import { sample } from "../../../support/clients/sample.ts";

const BODY = sample("traccar-forward/body.json");

function read(body: string, other: Partial<ClientMessage> = {}) {
  return collect(traccarForward, messageOf(contentOf(body), other));
}

test("a Traccar server forwards positions in knots", () => {
  expect(read(BODY).points).toEqual([
    {
      device: "48241179",
      user: null,
      timestampMs: 1_770_000_000_000,
      latitude: 52.520008,
      longitude: 13.404954,
      details: {
        horizontal_accuracy: 5,
        altitude: 34,
        speed: 13,
        bearing: 271,
        battery_level: 81,
        battery_status: "Not Charging",
        type: "MOVING",
      },
    },
  ]);
});

test("a Traccar server forwards an accuracy of 0 where it knows none, and speeds in what the operator says", () => {
  expect(read(BODY.replace('"accuracy":5.0', '"accuracy":0.0')).points[0]?.details).not.toHaveProperty(
    "horizontal_accuracy",
  );
  expect(read(BODY, { speedUnit: "mps" }).points[0]?.details.speed).toBe(25.27);
});

test.each([
  ["without a valid fix", BODY.replace('"valid":true', '"valid":false')],
  ["at 0/0", BODY.replace('"latitude":52.520008,"longitude":13.404954', '"latitude":0.0,"longitude":0.0')],
])("a position %s is none", (_title, body) => {
  expect(read(body)).toMatchObject({ points: [], refused: [], skipped: ["no fix"] });
});

test("what else comes on its path is refused as a whole, and the answer is empty", () => {
  expect(read('{"event":{"type":"deviceOnline"}}').refused).toEqual([
    { reason: "unknown_shape", raw: undefined },
  ]);
  expect(traccarForward.success).toEqual({ contentType: null, body: "" });
});
