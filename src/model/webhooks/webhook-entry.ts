import { decodeNamedMembers, encodeNamedMembers } from "../../lib/frames/named-members.ts";
import type { Views } from "../../lib/frames/views.ts";
import { isObject } from "../../lib/is-object.ts";
import { FormatVersionError, refuseStrangers } from "../../lib/text/versioned-json.ts";
import { type AppId, parseAppId } from "../ids.ts";
import { WEBHOOK_STATES, type Webhook } from "./webhook.ts";

/**
 * The kind of the entry of a webhook, whose members its app owns (`lib/frames/named-members.ts`). Secrets and headers
 * are never in it.
 */
export const WEBHOOK_KIND = 9;

/** An app gets a webhook, another state of it, or loses it. */
export interface WebhookEntry {
  readonly kind: "webhook";
  readonly appId: AppId;
  readonly id: string;
  /** Null deletes it. */
  readonly webhook: Webhook | null;
}

/** The encoded entry behind `headroomBytes` for the caller, a multiple of 8. */
export function encodeWebhookEntry(
  { appId, id, webhook }: WebhookEntry,
  headroomBytes: number,
): Uint8Array<ArrayBuffer> {
  const { id: _, appId: __, ...rest } = webhook ?? { id, appId };
  const members = { id, webhook: webhook === null ? null : rest };
  return encodeNamedMembers(WEBHOOK_KIND, appId, members, headroomBytes);
}

/**
 * The entry of this kind from `start` to `end`, both 8-aligned; null if the bytes are not valid. Throws a
 * `FormatVersionError`, which names `path`, if it has a member or a state that a newer version added.
 */
export function decodeWebhookEntry(
  views: Views,
  start: number,
  end: number,
  path: string,
): WebhookEntry | null {
  const named = decodeNamedMembers(views, start, end);
  const appId = named === null ? null : parseAppId(named.owner);
  if (named === null || appId === null || typeof named.members.id !== "string") return null;
  refuseStrangers("webhook", path, named.members, ["id", "webhook"]);
  const { id, webhook } = named.members;
  if (webhook === null) return { kind: "webhook", appId, id, webhook };
  const parsed = parseWebhook(webhook, path);
  return parsed === null ? null : { kind: "webhook", appId, id, webhook: { ...parsed, id, appId } };
}

type Members = Omit<Webhook, "id" | "appId">;

const isText = (value: unknown) => typeof value === "string";
const isMs = (value: unknown) => Number.isSafeInteger(value);
const isList = (value: unknown) => value === null || (Array.isArray(value) && value.every(isText));
const isOptionalText = (value: unknown) => value === null || isText(value);

const CHECKS: { readonly [Name in keyof Members]: (value: unknown) => boolean } = {
  keyId: isText,
  createdMs: isMs,
  changedMs: isMs,
  state: isText,
  stateMs: isMs,
  reason: isOptionalText,
  name: isOptionalText,
  url: (value) => typeof value === "string" && URL.canParse(value),
  types: isList,
  watches: isList,
  devices: isList,
  users: isList,
  sendsLate: (value) => typeof value === "boolean",
};

function parseWebhook(value: unknown, path: string): Members | null {
  if (!isObject(value)) return null;
  refuseStrangers("webhook", path, value, Object.keys(CHECKS));
  if (!Object.entries(CHECKS).every(([name, isValid]) => isValid(value[name]))) return null;
  const members = value as unknown as Members;
  if (!WEBHOOK_STATES.includes(members.state))
    throw new FormatVersionError("webhook", path, "known states", `state "${members.state}"`);
  return members;
}
