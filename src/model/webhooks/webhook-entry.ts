import { Buffer } from "node:buffer";
import { padded, type Views } from "../../lib/frames/views.ts";
import { isObject } from "../../lib/is-object.ts";
import { FormatVersionError } from "../../lib/text/versioned-json.ts";
import { type AppId, parseAppId } from "../ids.ts";
import { WEBHOOK_STATES, type Webhook } from "./webhook.ts";

/*
 * The entry of a webhook, padded with zeros to a multiple of 8:
 *
 *    0  u8   kind, 9
 *    1  u8   bytes of the app id
 *    2  u16  zero
 *    4  u32  bytes of the members
 *    8  app id, members (JSON)
 *
 * Secrets and headers are never in it.
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

const HEAD_BYTES = 8;

/** The encoded entry behind `headroomBytes` for the caller, a multiple of 8. */
export function encodeWebhookEntry(
  { appId, id, webhook }: WebhookEntry,
  headroomBytes: number,
): Uint8Array<ArrayBuffer> {
  const { id: _, appId: __, ...rest } = webhook ?? { id, appId };
  const json = Buffer.from(JSON.stringify({ id, webhook: webhook === null ? null : rest }));
  const contentAt = headroomBytes + HEAD_BYTES;
  const encoded = new Uint8Array(padded(contentAt + appId.length + json.length));
  const bytes = Buffer.from(encoded.buffer);
  bytes[headroomBytes] = WEBHOOK_KIND;
  bytes[headroomBytes + 1] = bytes.write(appId, contentAt, "latin1");
  bytes.writeUInt32LE(json.length, headroomBytes + 4);
  bytes.set(json, contentAt + appId.length);
  return encoded;
}

/**
 * The entry of this kind from `start` to `end`, both 8-aligned; null if the bytes are not valid. Throws a
 * `FormatVersionError`, which names `path`, if it has a member or a state that a newer version added.
 */
export function decodeWebhookEntry(
  { bytes }: Views,
  start: number,
  end: number,
  path: string,
): WebhookEntry | null {
  if (start + HEAD_BYTES > end || end > bytes.length) return null;
  const jsonAt = start + HEAD_BYTES + bytes[start + 1]!;
  const jsonEnd = jsonAt + bytes.readUInt32LE(start + 4);
  if (padded(jsonEnd) !== end) return null;
  const appId = parseAppId(bytes.toString("latin1", start + HEAD_BYTES, jsonAt));
  const members = parseMembers(bytes.toString("utf8", jsonAt, jsonEnd));
  if (appId === null || members === null || typeof members.id !== "string") return null;
  refuseStrangers(members, ["id", "webhook"], path);
  const { id, webhook } = members;
  if (webhook === null) return { kind: "webhook", appId, id, webhook };
  const parsed = parseWebhook(webhook, path);
  return parsed === null ? null : { kind: "webhook", appId, id, webhook: { ...parsed, id, appId } };
}

function parseMembers(text: string): Record<string, unknown> | null {
  try {
    const members: unknown = JSON.parse(text);
    return isObject(members) ? members : null;
  } catch {
    return null;
  }
}

function refuseStrangers(members: object, known: readonly string[], path: string): void {
  const stranger = Object.keys(members).find((name) => !known.includes(name));
  if (stranger !== undefined)
    throw new FormatVersionError("webhook", path, "known members", `member "${stranger}"`);
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
  refuseStrangers(value, Object.keys(CHECKS), path);
  if (!Object.entries(CHECKS).every(([name, isValid]) => isValid(value[name]))) return null;
  const members = value as unknown as Members;
  if (!WEBHOOK_STATES.includes(members.state))
    throw new FormatVersionError("webhook", path, "known states", `state "${members.state}"`);
  return members;
}
