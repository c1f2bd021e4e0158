import { isObject } from "../../lib/is-object.ts";
import { printableLine } from "../../lib/text/printable.ts";
import { originOf } from "../../model/webhooks/webhook.ts";
import { askForAll, fetchAnswer, jsonRequest, refusalText } from "../../operator/remote/ask-server.ts";
import type { CommandContext } from "../arguments/command.ts";
import { formatTable, refuse } from "../screen/layout.ts";
import { urlToAsk } from "./own-server.ts";
import type {
  WebhookOptions,
  WebhooksListOptions,
  WebhooksRedeliverOptions,
  WebhooksServer,
} from "./webhooks-command.ts";

/* The commands about the webhooks of a running server. */

const PATH = "/api/v1/webhooks";

const HEADER = ["id", "host", "state", "failures", "name", "why"];

export async function listWebhooks(
  { server, json }: WebhooksListOptions,
  context: CommandContext,
): Promise<number> {
  const { terminal } = context;
  const remote = await remoteOf(server, "webhooks list", context);
  const list = await askForAll(remote, { path: PATH, parameters: {}, member: "webhooks" }, fetch);
  if (!list.ok) return refuse(printableLine(list.error), terminal);
  if (json) terminal.out(`${JSON.stringify(list.value, null, 2)}\n`);
  else if (list.value.length === 0) terminal.error("The app has no webhooks.\n");
  else terminal.out(formatTable(HEADER, list.value.map(row)));
  return 0;
}

function row(webhook: unknown): string[] {
  const { id, url, state, failing, name, reason } = isObject(webhook) ? webhook : {};
  const failures = isObject(failing) ? failing.failures : "-";
  const host = URL.canParse(String(url)) ? originOf(String(url)) : "-";
  return [id, host, state, failures, name, reason].map((cell) => printableLine(String(cell ?? "-")));
}

export function testWebhook({ server, id }: WebhookOptions, context: CommandContext): Promise<number> {
  return sendAndTell(server, "webhooks test", `${PATH}/${encodeURIComponent(id)}/test`, {}, context);
}

export function redeliverWebhook(
  { server, id, eventId, sinceMs }: WebhooksRedeliverOptions,
  context: CommandContext,
): Promise<number> {
  const path = `${PATH}/${encodeURIComponent(id)}/redeliver`;
  const body = eventId === null ? { since: sinceMs } : { event_id: eventId };
  return sendAndTell(server, "webhooks redeliver", path, body, context);
}

/** Sends a request that answers with a delivery, if one was made at once. */
async function sendAndTell(
  server: WebhooksServer,
  command: string,
  path: string,
  body: object,
  context: CommandContext,
): Promise<number> {
  const { terminal } = context;
  const remote = await remoteOf(server, command, context);
  const answer = await fetchAnswer(remote, path, fetch, jsonRequest("POST", body));
  if (!answer.ok) return refuse(printableLine(answer.error), terminal);
  const { status, body: members } = answer.value;
  if (status !== 200 || !isObject(members))
    return refuse(printableLine(refusalText(remote.url, status, members)), terminal);
  const { delivery } = members;
  if (!isObject(delivery)) {
    terminal.out("Sending begins again at that time.\n");
    return 0;
  }
  const { outcome, status: receiverStatus, latency_ms, answer: text } = delivery;
  const answered = receiverStatus === null ? "no answer" : `status ${receiverStatus}`;
  terminal.out(`${printableLine(`${outcome} after ${latency_ms} ms: ${answered}. ${text}`.trim())}\n`);
  return outcome === "delivered" ? 0 : 1;
}

async function remoteOf(server: WebhooksServer, command: string, { platform, clock }: CommandContext) {
  return { url: await urlToAsk(server, command, platform, clock), key: server.key };
}
