import { expect, test } from "bun:test";
import { checkMqtt } from "../../../../src/operator/checkup/check-mqtt.ts";

const WELL = { connections: 2, connected: 2, unassured_messages: 0, outage_seconds: 3600 };

test("checkMqtt() finds connections that are not there, and messages that nobody keeps", () => {
  expect(checkMqtt(WELL)).toEqual([]);
  expect(checkMqtt({ ...WELL, connected: 1, unassured_messages: 7 }).map(({ what }) => what)).toEqual([
    "1 of 2 connections to the MQTT broker are up: the rest of what phones publish waits there.",
    "Phones published with QoS 0, which the broker keeps for nobody: 7 of what came.",
  ]);
  const [problem] = checkMqtt({ ...WELL, unheard_messages: 2, unheard_topics: ["owntracks/pixel"] });
  expect(problem?.what).toBe(
    "2 positions were published to topics that --mqtt-topic does not take, and are not stored: owntracks/pixel.",
  );
});
