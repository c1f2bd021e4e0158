import { CLIENT_NAMES } from "../../../clients/client.ts";
import { countSince } from "../../../hot/hidden/held-correction.ts";
import type { HotStore } from "../../../hot/hot-store.ts";
import { mapMaybe } from "../../../lib/schedule/maybe-promise.ts";
import { ACTIVE_CORRECTIONS_MAX, CORRECTED_RECORDS_MAX } from "../../../model/correction.ts";
import { PROFILES_BYTES_MAX } from "../../../model/device-profile.ts";
import type { AppId } from "../../../model/ids.ts";
import { originOf, WEBHOOK_STATES, type WebhookState } from "../../../model/webhooks/webhook.ts";
import { FINDING_KINDS, type Finding } from "../../../service/doctor/diagnoses.ts";
import type { MqttStatus } from "../../../service/metrics/service-metrics.ts";
import { createFindings } from "../../../service/queries/findings.ts";
import { queryEndpoint } from "../../endpoint.ts";
import { limit } from "../../parameters/common.ts";
import { optionalText } from "../../parameters/kinds.ts";
import type { Services } from "../../services.ts";
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
import { EXAMPLE_PROFILE } from "../devices/profile-shapes.ts";

const finding = object({
  device_id: text("The device."),
  name: optional(text("Its name, if its profile has one.")),
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

const webhook = object(
  {
    id: text("The webhook."),
    host: text("The scheme and the host of its URL."),
    state: plain<WebhookState>({
      type: "string",
      enum: WEBHOOK_STATES,
      description: "An active one is here because its receiver fails.",
    }),
    reason: optional(text("Why the server paused or disabled it.")),
    failures: optional(count("How often in a row its receiver failed.")),
  },
  "A webhook that the server paused or disabled, or whose receiver fails.",
);

const stored = object(
  {
    corrections: count("Active corrections."),
    corrections_max: count("As many as an app may have."),
    corrected_records: count("Records that active corrections touch."),
    corrected_records_max: count("As many as those of an app may touch."),
    profiles: count("Devices with a profile."),
    profile_bytes: count("Size of the profiles."),
    profile_bytes_max: count("Size that those of an app may have."),
  },
  "What the app has besides records, and its bounds.",
);

const answer = object({
  success: always(true),
  app_id: text("Application of the key."),
  findings: list(finding),
  total_count: count("All findings, including those beyond the limit."),
  stored,
  mqtt: optional(mqtt),
  webhooks: optional(list(webhook)),
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
          name: EXAMPLE_PROFILE.name,
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
      stored: {
        corrections: 3,
        corrections_max: ACTIVE_CORRECTIONS_MAX,
        corrected_records: 1200,
        corrected_records_max: CORRECTED_RECORDS_MAX,
        profiles: 12,
        profile_bytes: 4310,
        profile_bytes_max: PROFILES_BYTES_MAX,
      },
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
    const { profiles } = services.hot;
    const nameOf = (appId: AppId, deviceId: string) => profiles.find(appId, deviceId)?.name ?? undefined;
    return (call, { device_id, limit }) =>
      mapMaybe(
        findings.ofApp(call.appId, { deviceId: device_id, limit }, call.request),
        ({ findings, total }) => {
          const body: ValueOf<typeof answer> = {
            success: true,
            app_id: call.appId,
            findings: findings.map((each) => presented(each, nameOf(call.appId, each.deviceId))),
            total_count: total,
            stored: presentedStored(services.hot, call.appId, services.retention.startMs(call.nowMs)),
            mqtt: presentedMqtt(services.mqttOf(call.appId)),
            webhooks: presentedWebhooks(services, call.appId),
          };
          return call.object(body, 200);
        },
      );
  },
});

function presented(
  { deviceId, client, kind, atMs, what, measured, advice }: Finding,
  name: string | undefined,
): ValueOf<typeof finding> {
  return { device_id: deviceId, name, client, kind, at: atMs, what, measured, advice };
}

/** At most a few: most apps have no webhook that is in trouble. */
function presentedWebhooks(
  { hot, webhooks }: Pick<Services, "hot" | "webhooks">,
  appId: AppId,
): readonly ValueOf<typeof webhook>[] | undefined {
  const inTrouble = hot.webhooks.ofApp(appId).flatMap(({ id, url, state, reason }) => {
    const failures = webhooks().resend.findFailing(id)?.failures;
    if (reason === null && failures === undefined) return [];
    return [{ id, host: originOf(url), state, reason: reason ?? undefined, failures }];
  });
  return inTrouble.length === 0 ? undefined : inTrouble.slice(0, WEBHOOKS_SHOWN_MAX);
}

const WEBHOOKS_SHOWN_MAX = 100;

function presentedStored(
  { corrections, profiles }: Pick<HotStore, "corrections" | "profiles">,
  appId: AppId,
  startMs: number,
): ValueOf<typeof stored> {
  const ofApp = corrections.find(appId);
  const { active, records } = ofApp === null ? { active: 0, records: 0 } : countSince(ofApp, startMs);
  return {
    corrections: active,
    corrections_max: ACTIVE_CORRECTIONS_MAX,
    corrected_records: records,
    corrected_records_max: CORRECTED_RECORDS_MAX,
    profiles: profiles.countOf(appId),
    profile_bytes: profiles.bytesOf(appId),
    profile_bytes_max: PROFILES_BYTES_MAX,
  };
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
