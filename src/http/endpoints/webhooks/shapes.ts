import { EVENT_KINDS } from "../../../geofences/watch.ts";
import { ok } from "../../../lib/result.ts";
import { type Delivery, type Failing, OUTCOMES } from "../../../model/webhooks/delivery.ts";
import {
  URL_CHARACTERS_MAX,
  WEBHOOK_STATES,
  WEBHOOKS_OF_APP_MAX,
  type Webhook,
} from "../../../model/webhooks/webhook.ts";
import { CORRECTION_ID_PATTERN } from "../../../service/corrections/correction-id.ts";
import {
  FILTER_ITEMS_MAX,
  HEADER_CHARACTERS_MAX,
  HEADERS_MAX,
  NAME_CHARACTERS_MAX,
} from "../../../service/webhooks/parse-webhook.ts";
import { exampleOf, failure, SENT_WITH_DATA } from "../../openapi/responses.ts";
import type { PathParameter } from "../../parameters/path-parameter.ts";
import { closed, plain, ref, type Schema, type Schemas } from "../../shapes/shape.ts";
import { EXAMPLE_FENCE_ID, nullable } from "../geofences/shapes.ts";

/* What the endpoints of webhooks share. */

export const EXAMPLE_WEBHOOK_ID = "01KDTV3GZ8W3M5T7V9X1Z3B5D8";
export const EXAMPLE_SECRET = `whsec_${"MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYq"}=`;

export const webhookId: PathParameter<string> = {
  description: "The webhook.",
  schema: { type: "string", minLength: 1, pattern: CORRECTION_ID_PATTERN },
  example: EXAMPLE_WEBHOOK_ID,
  refusesEmpty: false,
  refusal: null,
  parse: (id) => ok(id),
};

function ids(description: string): Schema {
  return {
    type: "array",
    minItems: 1,
    maxItems: FILTER_ITEMS_MAX,
    items: { type: "string", minLength: 1, maxLength: 128 },
    description: `${description}; all by default.`,
  };
}

const MEMBERS: Schemas = {
  name: { type: "string", minLength: 1, maxLength: NAME_CHARACTERS_MAX, description: "What people call it." },
  types: {
    type: "array",
    minItems: 1,
    maxItems: EVENT_KINDS.length,
    items: { type: "string", enum: EVENT_KINDS },
    description: "Only events of these kinds; all by default.",
  },
  watches: ids("Only events of these geofences and alerts"),
  devices: ids("Only events of these devices"),
  users: ids("Only events of these users"),
};

const LATE: Schema = {
  type: "boolean",
  default: false,
  description: "Whether events that were made more than a day after their time are sent, too.",
};

const URL_MEMBER: Schema = {
  type: "string",
  minLength: 1,
  maxLength: URL_CHARACTERS_MAX,
  description: "Where events are sent: https, without a user name.",
};

/** The body of a request. */
export const NEW_WEBHOOK_SCHEMA = closed(
  { url: URL_MEMBER },
  nullable({
    ...MEMBERS,
    late: LATE,
    headers: {
      type: "object",
      maxProperties: HEADERS_MAX,
      additionalProperties: { type: "string", minLength: 1, maxLength: HEADER_CHARACTERS_MAX },
      description:
        "Headers of each request; none of its own, such as `content-type`. A webhook that is replaced keeps its headers if they are absent.",
    },
  }),
);

const unixMs = (description: string): Schema => ({ type: "integer", format: "int64", description });

const FAILING: Schema = closed(
  {
    failures: { type: "integer", minimum: 1, description: "How often in a row it failed." },
    next_attempt: unixMs("When it is tried again, Unix milliseconds."),
  },
  {},
  "Absent unless its receiver fails.",
);

/** A filter can become empty: the erasure of a device or a user takes it out. */
const filtersOfAnswer = Object.fromEntries(
  Object.entries(MEMBERS).map(([name, { minItems: _, ...schema }]) => [name, schema]),
);

export const WEBHOOK_SCHEMA = closed(
  {
    id: { type: "string", description: "Its id." },
    url: URL_MEMBER,
    late: LATE,
    headers: { type: "array", items: { type: "string" }, description: "The names of its headers." },
    state: {
      type: "string",
      enum: WEBHOOK_STATES,
      description: "`paused` keeps its place among the events for 30 days, `disabled` does not.",
    },
    state_since: unixMs("When it got into this state, Unix milliseconds."),
    created: unixMs("When it was made, Unix milliseconds."),
    updated: unixMs("When a client changed it last, Unix milliseconds."),
    made_by: { type: "string", description: "The id of the key that made it." },
  },
  {
    ...filtersOfAnswer,
    reason: { type: "string", description: "Why the server paused or disabled it." },
    failing: FAILING,
  },
);

export interface PresentedWebhook extends Readonly<Record<string, unknown>> {
  readonly id: string;
  readonly url: string;
  readonly state: Webhook["state"];
}

export const webhookShape = plain<PresentedWebhook>(ref("schemas", "Webhook"));

export function presentWebhook(
  webhook: Webhook,
  headers: readonly string[],
  failing: Failing | null,
): PresentedWebhook {
  const { id, url, name, types, watches, devices, users, sendsLate, state, stateMs, reason } = webhook;
  return {
    ...{ id, url },
    ...(name === null ? {} : { name }),
    ...(types === null ? {} : { types }),
    ...(watches === null ? {} : { watches }),
    ...(devices === null ? {} : { devices }),
    ...(users === null ? {} : { users }),
    ...{ late: sendsLate, headers, state, state_since: stateMs },
    ...(reason === null ? {} : { reason }),
    ...(failing === null
      ? {}
      : { failing: { failures: failing.failures, next_attempt: Math.round(failing.nextMs) } }),
    ...{ created: webhook.createdMs, updated: webhook.changedMs, made_by: webhook.keyId },
  };
}

export const EXAMPLE_NEW_WEBHOOK = {
  url: "https://hooks.example.com/wherehouse?token=a1b2",
  name: "Depot",
  types: ["enter", "exit"],
  watches: [EXAMPLE_FENCE_ID],
} as const;

export const EXAMPLE_WEBHOOK: PresentedWebhook = {
  ...EXAMPLE_NEW_WEBHOOK,
  ...{ id: EXAMPLE_WEBHOOK_ID, late: false, headers: [], state: "active", state_since: 1_795_200_000_000 },
  ...{ created: 1_795_200_000_000, updated: 1_795_200_000_000, made_by: "k_0Hq3aZ9k" },
};

/** A request to a receiver. */
export const DELIVERY_SCHEMA = closed(
  {
    event_id: { type: "string", nullable: true, description: "The event; null of a test." },
    revision: { type: "integer", minimum: 0, description: "Its revision; 0 of a test." },
    timestamp: unixMs("When the request was sent, Unix milliseconds."),
    outcome: {
      type: "string",
      enum: OUTCOMES,
      description:
        "`failed`: the receiver does not work, and all events wait. `rejected`: it does not want this event, which is tried 5 times, then `parked`.",
    },
    status: { type: "integer", nullable: true, description: "The status of the answer; null if none came." },
    latency_ms: { type: "integer", minimum: 0, description: "How long the answer took." },
    answer: { type: "string", description: "The first kilobyte of the answer, or why there is none." },
  },
  {},
);

export interface PresentedDelivery extends Readonly<Record<string, unknown>> {
  readonly outcome: Delivery["outcome"];
}

export const deliveryShape = plain<PresentedDelivery>(ref("schemas", "WebhookDelivery"));

export function presentDelivery(delivery: Delivery): PresentedDelivery {
  const { eventId, revision, atMs, outcome, status, latencyMs, answer } = delivery;
  const latency_ms = Math.round(latencyMs);
  return { event_id: eventId, revision, timestamp: atMs, outcome, status, latency_ms, answer };
}

export const EXAMPLE_DELIVERY: PresentedDelivery = {
  ...{ event_id: "01KM4KHX80CJ494MV86VVH0PPH", revision: 1, timestamp: 1_795_200_060_000 },
  ...{ outcome: "delivered", status: 204, latency_ms: 38, answer: "" },
};

export const MISSING_WEBHOOK = failure("The app has no such webhook.", SENT_WITH_DATA, ["PlainError"], {
  webhook_not_found: exampleOf({ kind: "webhook_not_found" }),
});

export const BODY_BYTES_MAX = 512 * 1024;

const message = (sentence: string) => ({ success: false, message: sentence });

const TOO_LARGE = failure("The body is too long.", SENT_WITH_DATA, ["PlainError"], {
  too_large: message(`the body must be at most ${BODY_BYTES_MAX / 1024} KiB`),
});

const WRONG_TYPE = failure("The body is of another type.", SENT_WITH_DATA, ["PlainError"], {
  wrong_type: message("content-type must be application/json"),
});

export const SHORT_BODY_FAILURES: Readonly<Record<number, Schema>> = {
  413: failure("The body is too long.", SENT_WITH_DATA, ["PlainError"], {
    too_large: message("the body must be at most 8 KiB"),
  }),
  415: WRONG_TYPE,
};

/** Answers to bodies that are no webhook, or that there is no room for. */
export const WEBHOOK_BODY_FAILURES: Readonly<Record<number, Schema>> = {
  400: failure(
    "A parameter or the body is not valid; the message has the path of the member.",
    SENT_WITH_DATA,
    ["PlainError"],
    {
      wrong_url: message("url must begin with https://"),
      refused_address: message(
        "url leads to a private address, which webhooks may not reach: the operator can allow it with --webhook-allow",
      ),
    },
  ),
  409: failure("There is no room for it.", SENT_WITH_DATA, ["PlainError"], {
    too_many: exampleOf({ kind: "too_many_webhooks", owner: "an app", countMax: WEBHOOKS_OF_APP_MAX }),
  }),
  413: TOO_LARGE,
  415: WRONG_TYPE,
};
