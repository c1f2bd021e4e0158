import { CLIENT_NAMES } from "../../../clients/client.ts";
import { mapMaybe } from "../../../lib/schedule/maybe-promise.ts";
import { FINDING_KINDS, type Finding } from "../../../service/doctor/diagnoses.ts";
import type { MqttStatus } from "../../../service/metrics/service-metrics.ts";
import { createFindings } from "../../../service/queries/findings.ts";
import { queryEndpoint } from "../../endpoint.ts";
import { limit } from "../../parameters/common.ts";
import { optionalText } from "../../parameters/kinds.ts";
import { EXAMPLE_REPORT } from "../../shapes/record-schemas.ts";
import {
  always,
  amount,
  count,
  list,
  object,
  optional,
  plain,
  text,
  type ValueOf,
} from "../../shapes/shape.ts";

const finding = object({
  device_id: text("The device."),
  client: plain<string>({
    type: "string",
    enum: [...CLIENT_NAMES, "native"],
    description: "The sender of the device's reports; native is a caller of POST /ingest/v1/locations.",
  }),
  kind: plain<Finding["kind"]>({
    type: "string",
    enum: FINDING_KINDS,
    description: [
      "The device's clock is wrong, its speeds are in another unit, it repeats itself, most of its points are refused,",
      "values of them can't be used, they have no time, or it is silent for much longer than usual.",
    ].join(" "),
  }),
  at: plain<number>({
    type: "integer",
    format: "int64",
    description:
      "Unix milliseconds of the last message that shows the problem, or of when a silent device was due.",
  }),
  what: text("The problem."),
  measured: text("The evidence."),
  advice: text("The remedy."),
});

const mqtt = object(
  {
    connections: count("Connections to the broker that should exist, one for each topic filter."),
    connected: count("Connections that exist."),
    unassured_messages: count("Messages with QoS 0. Such messages are lost while the server is down."),
    unheard_messages: count(
      "Positions under topics with more or fewer levels than --mqtt-topic has. They are not stored.",
    ),
    unheard_topics: list(text("One of these topics.")),
    outage_seconds: optional(
      amount("How long the server may be down before the broker drops messages; absent if unknown."),
    ),
  },
  "The MQTT broker that brings reports to the app.",
);

const answer = object({
  success: always(true),
  app_id: text("Application of the key."),
  findings: list(finding),
  total_count: count("All findings, including those beyond the limit."),
  mqtt: optional(mqtt),
});

export const appDoctor = queryEndpoint({
  operationId: "getFindings",
  tag: "App",
  summary: "Problems of the app's devices",
  description: [
    "Newest first. Examines what devices have sent since the server started: everything, or a sample if there is much of",
    "it. A device whose reports come through two clients is examined twice.",
  ].join(" "),
  path: "/api/v1/doctor",
  inPath: {},
  query: { device_id: optionalText("Only findings of this device."), limit },
  wrongQuery: "limit=0",
  answer: {
    name: "Findings",
    description: "The findings.",
    shape: answer,
    example: {
      success: true,
      app_id: "default",
      findings: [
        {
          device_id: EXAMPLE_REPORT.device_id,
          client: "homeassistant",
          kind: "units",
          at: EXAMPLE_REPORT.timestamp,
          what: "Speeds look like km/h that are taken for m/s.",
          measured:
            "Over its last 30 stretches the device reported 3.62 times the speed that its positions tell (median).",
          advice: "Add ?speed_unit=kmh to the URL in the app, or use the path that is meant for what sends.",
        },
      ],
      total_count: 1,
      mqtt: {
        connections: 1,
        connected: 1,
        unassured_messages: 0,
        unheard_messages: 0,
        unheard_topics: [],
        outage_seconds: 86400,
      },
    },
  },
  open(services) {
    const findings = createFindings(services);
    return (call, { device_id, limit }) =>
      mapMaybe(
        findings.ofApp(call.appId, { deviceId: device_id, limit }, call.request),
        ({ findings, total }) => {
          const body: ValueOf<typeof answer> = {
            success: true,
            app_id: call.appId,
            findings: findings.map(presented),
            total_count: total,
            mqtt: presentedMqtt(services.mqttOf(call.appId)),
          };
          return call.object(body, 200);
        },
      );
  },
});

function presented({
  deviceId,
  client,
  kind,
  atMs,
  what,
  measured,
  advice,
}: Finding): ValueOf<typeof finding> {
  return { device_id: deviceId, client, kind, at: atMs, what, measured, advice };
}

function presentedMqtt(status: MqttStatus | null): ValueOf<typeof mqtt> | undefined {
  if (status === null) return undefined;
  const { connections, connected, unassured, unheard, outageSeconds } = status;
  return {
    connections,
    connected,
    unassured_messages: unassured,
    unheard_messages: unheard.count,
    unheard_topics: [...unheard.topics],
    outage_seconds: outageSeconds ?? undefined,
  };
}
