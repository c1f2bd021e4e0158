import { fail, ok, type Result } from "../../../lib/result.ts";
import type { ServiceError } from "../../../model/errors.ts";
import { readShortObject } from "../../body/short-body.ts";
import type { Call } from "../../call.ts";
import { queryEndpoint } from "../../endpoint.ts";
import { exampleOf, failure, SENT_WITH_DATA } from "../../openapi/responses.ts";
import { limit, offset } from "../../parameters/common.ts";
import {
  always,
  EXAMPLE_LIST_PAGINATION,
  list,
  listPagination,
  object,
  optional,
  paginationOf,
  ref,
  type Schema,
  type ValueOf,
} from "../../shapes/shape.ts";
import {
  DELIVERY_SCHEMA,
  deliveryShape,
  EXAMPLE_DELIVERY,
  MISSING_WEBHOOK,
  presentDelivery,
  SHORT_BODY_FAILURES,
  webhookId,
} from "./shapes.ts";

/* What was sent to a webhook, and sending it again. */

const PATH = "/api/v1/webhooks/:webhookId";

const page = object({
  success: always(true),
  deliveries: list(deliveryShape),
  pagination: listPagination("Deliveries before paging."),
});

export const webhookDeliveries = queryEndpoint({
  operationId: "getWebhookDeliveries",
  tag: "Webhooks",
  summary: "The last requests of a webhook",
  description: "The last 1,000, newest first.",
  permission: "manage",
  alsoReads: true,
  path: `${PATH}/deliveries`,
  inPath: { webhookId },
  query: { limit, offset },
  wrongQuery: "limit=0",
  answer: {
    name: "WebhookDeliveries",
    description: "One page of the requests.",
    shape: page,
    example: { success: true, deliveries: [EXAMPLE_DELIVERY], pagination: EXAMPLE_LIST_PAGINATION },
  },
  failures: { 404: MISSING_WEBHOOK },
  schemas: { WebhookDelivery: DELIVERY_SCHEMA },
  open({ webhooks }) {
    return async (call, { webhookId, limit, offset }) => {
      const listed = await webhooks().resend.list(call.appId, webhookId, { offset, limit });
      if (!listed.ok) return call.fail(listed.error);
      const { deliveries, total } = listed.value;
      const body: ValueOf<typeof page> = {
        success: true,
        deliveries: deliveries.map(presentDelivery),
        pagination: paginationOf(deliveries.length, total, offset, limit),
      };
      return call.object(body, 200);
    };
  },
});

const test = object({ success: always(true), delivery: deliveryShape });

function resendOf({ appId, nowMs, request }: Call) {
  return { appId, nowMs, signal: request.signal };
}

export const testWebhook = queryEndpoint({
  operationId: "testWebhook",
  tag: "Webhooks",
  summary: "Sends a test to a webhook",
  description: [
    "A request of the type `test`, signed like the others. The answer says what came of it, after at most 15 s. It",
    `works also while the webhook is paused.`,
  ].join(" "),
  method: "POST",
  permission: "manage",
  alsoReads: true,
  path: `${PATH}/test`,
  inPath: { webhookId },
  query: {},
  answer: {
    name: "WebhookTested",
    description: "What came of the request, also if that failed.",
    shape: test,
    example: { success: true, delivery: { ...EXAMPLE_DELIVERY, event_id: null, revision: 0 } },
  },
  failures: { 404: MISSING_WEBHOOK },
  open({ webhooks }) {
    return async (call, { webhookId }) => {
      const delivery = await webhooks().resend.test(resendOf(call), webhookId);
      if (!delivery.ok) return call.fail(delivery.error);
      const body: ValueOf<typeof test> = { success: true, delivery: presentDelivery(delivery.value) };
      return call.object(body, 200);
    };
  },
});

const redelivery = object({ success: always(true), delivery: optional(deliveryShape) });

const REDELIVERY: Schema = {
  type: "object",
  additionalProperties: false,
  minProperties: 1,
  maxProperties: 1,
  properties: {
    event_id: { type: "string", minLength: 1, maxLength: 128, description: "One event, sent at once." },
    since: {
      type: "integer",
      format: "int64",
      minimum: 0,
      description: "All that was made at this time or later, Unix milliseconds.",
    },
  },
};

const EXAMPLE_REDELIVERY = { event_id: "01KM4KHX80CJ494MV86VVH0PPH" };

export const redeliverWebhook = queryEndpoint({
  operationId: "redeliverWebhook",
  tag: "Webhooks",
  summary: "Sends events again",
  description: [
    "One event, of which the answer has the delivery, or all since a time, in their order. What is sent again may arrive",
    `behind what came later.`,
  ].join(" "),
  method: "POST",
  permission: "manage",
  alsoReads: true,
  path: `${PATH}/redeliver`,
  inPath: { webhookId },
  query: {},
  body: {
    description: "Which events.",
    example: EXAMPLE_REDELIVERY,
    content: { "application/json": { schema: ref("schemas", "Redelivery"), example: EXAMPLE_REDELIVERY } },
  },
  answer: {
    name: "WebhookRedelivered",
    description: "The event was sent, or sending begins again.",
    shape: redelivery,
    example: { success: true, delivery: EXAMPLE_DELIVERY },
  },
  failures: {
    ...SHORT_BODY_FAILURES,
    404: failure("The app has no such webhook, or no such event.", SENT_WITH_DATA, ["PlainError"], {
      webhook_not_found: exampleOf({ kind: "webhook_not_found" }),
      event_not_found: exampleOf({ kind: "event_not_found" }),
    }),
  },
  schemas: { Redelivery: REDELIVERY },
  open({ webhooks }) {
    return async (call, { webhookId }) => {
      const members = await readShortObject(call.request);
      const wanted = members.ok ? parseRedelivery(members.value) : members;
      if (!wanted.ok) return call.fail(wanted.error);
      const { resend } = webhooks();
      const { eventId, sinceMs } = wanted.value;
      if (eventId === null) {
        const begun = await resend.redeliverSince(resendOf(call), webhookId, sinceMs);
        const body: ValueOf<typeof redelivery> = { success: true };
        return begun.ok ? call.object(body, 200) : call.fail(begun.error);
      }
      const delivery = await resend.redeliver(resendOf(call), webhookId, eventId);
      if (!delivery.ok) return call.fail(delivery.error);
      const body: ValueOf<typeof redelivery> = { success: true, delivery: presentDelivery(delivery.value) };
      return call.object(body, 200);
    };
  },
});

interface Redelivery {
  /** Null if all since a time are meant. */
  readonly eventId: string | null;
  readonly sinceMs: number;
}

function parseRedelivery(members: Readonly<Record<string, unknown>>): Result<Redelivery, ServiceError> {
  const { event_id: eventId, since, ...others } = members;
  const [stranger] = Object.keys(others);
  if (stranger !== undefined) return invalid(`${stranger.slice(0, 64)} is unknown: send event_id or since`);
  if ((eventId === undefined) === (since === undefined)) return invalid("send either event_id or since");
  if (since !== undefined)
    return Number.isSafeInteger(since) && Number(since) >= 0
      ? ok({ eventId: null, sinceMs: Number(since) })
      : invalid("since must be Unix milliseconds");
  return typeof eventId === "string" && eventId.length > 0 && eventId.length <= 128
    ? ok({ eventId, sinceMs: 0 })
    : invalid("event_id must be the id of an event");
}

function invalid(message: string): Result<never, ServiceError> {
  return fail({ kind: "invalid_parameter", message });
}
