import { ok, type Result } from "../../../lib/result.ts";
import type { ServiceError } from "../../../model/errors.ts";
import type { Webhook } from "../../../model/webhooks/webhook.ts";
import { parseWebhookRequest, type WebhookRequest } from "../../../service/webhooks/parse-webhook.ts";
import { readShortObject } from "../../body/short-body.ts";
import type { Call } from "../../call.ts";
import { queryEndpoint } from "../../endpoint.ts";
import { limit, offset } from "../../parameters/common.ts";
import type { Services } from "../../services.ts";
import {
  always,
  count,
  EXAMPLE_LIST_PAGINATION,
  list,
  listPagination,
  object,
  paginationOf,
  ref,
  text,
  type ValueOf,
} from "../../shapes/shape.ts";
import { editOf } from "../geofences/read-watch.ts";
import {
  BODY_BYTES_MAX,
  EXAMPLE_NEW_WEBHOOK,
  EXAMPLE_SECRET,
  EXAMPLE_WEBHOOK,
  NEW_WEBHOOK_SCHEMA,
  type PresentedWebhook,
  presentWebhook,
  WEBHOOK_BODY_FAILURES,
  WEBHOOK_SCHEMA,
  webhookShape,
} from "./shapes.ts";

const ALL = "/api/v1/webhooks";

/** A webhook as answers show it. */
export function present({ webhooks }: Pick<Services, "webhooks">, webhook: Webhook): PresentedWebhook {
  const { edit, resend } = webhooks();
  return presentWebhook(webhook, edit.headerNames(webhook.id), resend.findFailing(webhook.id));
}

const page = object({
  success: always(true),
  webhooks: list(webhookShape),
  pagination: listPagination("Webhooks before paging."),
});

export const listWebhooks = queryEndpoint({
  operationId: "getWebhooks",
  tag: "Webhooks",
  summary: "The webhooks of the app",
  description: "In the order in which they were made, without their secrets.",
  permission: "manage",
  alsoReads: true,
  path: ALL,
  inPath: {},
  query: { limit, offset },
  wrongQuery: "limit=0",
  answer: {
    name: "Webhooks",
    description: "One page of the webhooks.",
    shape: page,
    example: { success: true, webhooks: [EXAMPLE_WEBHOOK], pagination: EXAMPLE_LIST_PAGINATION },
  },
  schemas: { Webhook: WEBHOOK_SCHEMA },
  open(services) {
    return (call, { limit, offset }) => {
      const all = services.hot.webhooks.ofApp(call.appId);
      const webhooks = all.slice(offset, offset + limit).map((webhook) => present(services, webhook));
      const pagination = paginationOf(webhooks.length, all.length, offset, limit);
      const body: ValueOf<typeof page> = { success: true, webhooks, pagination };
      return call.object(body, 200);
    };
  },
});

export const withSecret = object({
  success: always(true),
  webhook: webhookShape,
  secret: text("What signs its requests. No other answer shows it."),
  sequence: count("Position in the log after this request."),
});

export const webhookBody = {
  description: "The webhook.",
  example: EXAMPLE_NEW_WEBHOOK,
  content: {
    "application/json": { schema: ref("schemas", "NewWebhook"), example: EXAMPLE_NEW_WEBHOOK },
  },
};

export async function readWebhook(call: Call): Promise<Result<WebhookRequest, ServiceError>> {
  const members = await readShortObject(call.request, { bytesMax: BODY_BYTES_MAX });
  if (!members.ok) return members;
  const parsed = parseWebhookRequest(members.value);
  if (parsed.ok) return ok(parsed.value);
  return { ok: false, error: { kind: "invalid_parameter", message: parsed.error } };
}

export const createWebhook = queryEndpoint({
  operationId: "createWebhook",
  tag: "Webhooks",
  summary: "Makes a webhook",
  description: `It gets the events that are made from now on. An app has at most 1,000.`,
  method: "POST",
  permission: "manage",
  alsoReads: true,
  path: ALL,
  inPath: {},
  query: {},
  body: webhookBody,
  answer: {
    name: "WebhookMade",
    description: "The webhook and its secret.",
    shape: withSecret,
    example: { success: true, webhook: EXAMPLE_WEBHOOK, secret: EXAMPLE_SECRET, sequence: 4711 },
  },
  failures: WEBHOOK_BODY_FAILURES,
  schemas: { NewWebhook: NEW_WEBHOOK_SCHEMA },
  open(services) {
    return async (call) => {
      const wanted = await readWebhook(call);
      if (!wanted.ok) return call.fail(wanted.error);
      const creation = await services.webhooks().edit.create(editOf(call), wanted.value);
      if (!creation.ok) return call.fail(creation.error);
      const { webhook, secret, sequence } = creation.value;
      const body: ValueOf<typeof withSecret> = {
        success: true,
        webhook: present(services, webhook),
        ...{ secret, sequence },
      };
      return call.object(body, 200);
    };
  },
});
