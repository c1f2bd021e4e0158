import { queryEndpoint } from "../../endpoint.ts";
import { numberParameter } from "../../parameters/kinds.ts";
import { always, count, object, text, type ValueOf } from "../../shapes/shape.ts";
import { editOf } from "../geofences/read-watch.ts";
import { present, readWebhook, webhookBody, withSecret } from "./create.ts";
import {
  EXAMPLE_SECRET,
  EXAMPLE_WEBHOOK,
  EXAMPLE_WEBHOOK_ID,
  MISSING_WEBHOOK,
  WEBHOOK_BODY_FAILURES,
  webhookId,
  webhookShape,
} from "./shapes.ts";

const PATH = "/api/v1/webhooks/:webhookId";

const one = object({ success: always(true), webhook: webhookShape });

export const oneWebhook = queryEndpoint({
  operationId: "getWebhook",
  tag: "Webhooks",
  summary: "One webhook",
  description: "Without its secret.",
  permission: "manage",
  alsoReads: true,
  path: PATH,
  inPath: { webhookId },
  query: {},
  answer: {
    name: "WebhookAnswer",
    description: "The webhook.",
    shape: one,
    example: { success: true, webhook: EXAMPLE_WEBHOOK },
  },
  failures: { 404: MISSING_WEBHOOK },
  open(services) {
    return (call, { webhookId }) => {
      const webhook = services.hot.webhooks.find(call.appId, webhookId);
      if (webhook === null) return call.fail({ kind: "webhook_not_found" });
      const body: ValueOf<typeof one> = { success: true, webhook: present(services, webhook) };
      return call.object(body, 200);
    };
  },
});

const stored = object({
  success: always(true),
  webhook: webhookShape,
  sequence: count("Position in the log after this request."),
});

export const replaceWebhook = queryEndpoint({
  operationId: "replaceWebhook",
  tag: "Webhooks",
  summary: "Replaces a webhook",
  description: `Replaces all of it but its secret, its place and its state.`,
  method: "PUT",
  permission: "manage",
  alsoReads: true,
  path: PATH,
  inPath: { webhookId },
  query: {},
  body: webhookBody,
  answer: {
    name: "WebhookStored",
    description: "The webhook as it is stored.",
    shape: stored,
    example: { success: true, webhook: EXAMPLE_WEBHOOK, sequence: 4712 },
  },
  failures: { ...WEBHOOK_BODY_FAILURES, 404: MISSING_WEBHOOK },
  open(services) {
    return async (call, { webhookId }) => {
      const wanted = await readWebhook(call);
      if (!wanted.ok) return call.fail(wanted.error);
      const edited = await services.webhooks().edit.replace(editOf(call), webhookId, wanted.value);
      if (!edited.ok) return call.fail(edited.error);
      const { webhook, sequence } = edited.value;
      const body: ValueOf<typeof stored> = { success: true, webhook: present(services, webhook), sequence };
      return call.object(body, 200);
    };
  },
});

const deleted = object({
  success: always(true),
  id: text("The webhook that is no more."),
  sequence: count("Position in the log after this request."),
});

export const deleteWebhook = queryEndpoint({
  operationId: "deleteWebhook",
  tag: "Webhooks",
  summary: "Deletes a webhook",
  description: "With its secret, its place and its deliveries.",
  method: "DELETE",
  permission: "manage",
  alsoReads: true,
  path: PATH,
  inPath: { webhookId },
  query: {},
  answer: {
    name: "WebhookDeleted",
    description: "It was deleted.",
    shape: deleted,
    example: { success: true, id: EXAMPLE_WEBHOOK_ID, sequence: 4713 },
  },
  failures: { 404: MISSING_WEBHOOK },
  open({ webhooks }) {
    return async (call, { webhookId }) => {
      const edited = await webhooks().edit.delete(editOf(call), webhookId);
      if (!edited.ok) return call.fail(edited.error);
      const body: ValueOf<typeof deleted> = { success: true, id: webhookId, sequence: edited.value };
      return call.object(body, 200);
    };
  },
});

function stateEndpoint(verb: "pause" | "resume") {
  const isPause = verb === "pause";
  return queryEndpoint({
    operationId: `${verb}Webhook`,
    tag: "Webhooks",
    summary: isPause ? "Pauses a webhook" : "Resumes a webhook",
    description: isPause
      ? "Nothing is sent to it until it is resumed. It keeps its place among the events for 30 days."
      : "Sends to it again from its place on, at once if its receiver failed. One that was disabled gets what is made from now on.",
    method: "POST",
    permission: "manage",
    alsoReads: true,
    path: `${PATH}/${verb}`,
    inPath: { webhookId },
    query: {},
    answer: {
      name: isPause ? "WebhookPaused" : "WebhookResumed",
      description: "The webhook in its new state.",
      shape: stored,
      example: {
        success: true,
        webhook: { ...EXAMPLE_WEBHOOK, state: isPause ? "paused" : "active" },
        sequence: 4714,
      },
    },
    failures: { 404: MISSING_WEBHOOK },
    open(services) {
      return async (call, { webhookId }) => {
        const state = isPause ? "paused" : "active";
        const edited = await services.webhooks().edit.setState(editOf(call), webhookId, state);
        if (!edited.ok) return call.fail(edited.error);
        const { webhook, sequence } = edited.value;
        const body: ValueOf<typeof stored> = { success: true, webhook: present(services, webhook), sequence };
        return call.object(body, 200);
      };
    },
  });
}

export const pauseWebhook = stateEndpoint("pause");
export const resumeWebhook = stateEndpoint("resume");

const HOUR_MS = 3_600_000;

export const rotateWebhook = queryEndpoint({
  operationId: "rotateWebhook",
  tag: "Webhooks",
  summary: "Makes another secret",
  description: `For a day, or as long as you say, the one before signs, too.`,
  method: "POST",
  permission: "manage",
  alsoReads: true,
  path: `${PATH}/rotate`,
  inPath: { webhookId },
  query: {
    overlap_hours: numberParameter(
      "integer",
      { description: "How long both secrets sign, in hours.", minimum: 0, maximum: 720 },
      24,
    ),
  },
  wrongQuery: "overlap_hours=-1",
  answer: {
    name: "WebhookRotated",
    description: "The webhook and its new secret.",
    shape: withSecret,
    example: { success: true, webhook: EXAMPLE_WEBHOOK, secret: EXAMPLE_SECRET, sequence: 4714 },
  },
  failures: { 404: MISSING_WEBHOOK },
  open(services) {
    return async (call, { webhookId, overlap_hours }) => {
      const { edit } = services.webhooks();
      const rotated = await edit.rotate(editOf(call), webhookId, overlap_hours * HOUR_MS);
      if (!rotated.ok) return call.fail(rotated.error);
      const { webhook, secret, sequence } = rotated.value;
      const body: ValueOf<typeof withSecret> = {
        success: true,
        webhook: present(services, webhook),
        ...{ secret, sequence },
      };
      return call.object(body, 200);
    };
  },
});
