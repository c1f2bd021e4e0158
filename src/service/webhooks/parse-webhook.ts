import {
  boolean,
  choice,
  list,
  optional,
  type Parser,
  type Parsers,
  parseMembers,
  text,
} from "../../geofences/parse/members.ts";
import { EVENT_KINDS, type EventKind } from "../../geofences/watch.ts";
import { isObject } from "../../lib/is-object.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import { isText } from "../../model/device-profile.ts";
import type { DeviceId, UserId } from "../../model/ids.ts";
import { deviceIdFault, userIdFault } from "../../model/report.ts";
import { URL_CHARACTERS_MAX, type WebhookDraft } from "../../model/webhooks/webhook.ts";

/* Webhooks as clients write them. */

export const NAME_CHARACTERS_MAX = 128;
/** Geofences and alerts, devices, or users that a webhook names. */
export const FILTER_ITEMS_MAX = 1000;
export const HEADERS_MAX = 5;
export const HEADER_CHARACTERS_MAX = 1024;

export interface WebhookRequest {
  readonly draft: WebhookDraft;
  /** Null if the client named none. */
  readonly headers: Readonly<Record<string, string>> | null;
}

interface Members {
  readonly url: string;
  readonly name: string | null;
  readonly types: readonly EventKind[] | null;
  readonly watches: readonly string[] | null;
  readonly devices: readonly DeviceId[] | null;
  readonly users: readonly UserId[] | null;
  readonly late: boolean;
  readonly headers: Readonly<Record<string, string>> | null;
}

function idOf<Id extends string>(faultOf: (id: string) => string | null): Parser<Id> {
  return text<Id>((id) => (faultOf(id) === null ? null : "must be an id, of 1 to 128 characters"));
}

const anyId = idOf<string>((id) => (isText(id, 128) ? null : "not an id"));

const MEMBERS: Parsers<Members> = {
  url: text(urlFault),
  name: optional(
    text((name) =>
      isText(name, NAME_CHARACTERS_MAX)
        ? null
        : `must be 1 to ${NAME_CHARACTERS_MAX} characters, none of them control characters`,
    ),
    null,
  ),
  types: optional(list(choice(EVENT_KINDS), 1, EVENT_KINDS.length), null),
  watches: optional(list(anyId, 1, FILTER_ITEMS_MAX), null),
  devices: optional(list(idOf<DeviceId>(deviceIdFault), 1, FILTER_ITEMS_MAX), null),
  users: optional(list(idOf<UserId>(userIdFault), 1, FILTER_ITEMS_MAX), null),
  late: optional(boolean, false),
  headers: optional(parseHeaders, null),
};

/** A webhook of a JSON object. The error begins with the path of the wrong member. */
export function parseWebhookRequest(value: unknown): Result<WebhookRequest, string> {
  const members = parseMembers(value, "", MEMBERS);
  if (!members.ok) return members;
  const { late, headers, ...draft } = members.value;
  return ok({ draft: { ...draft, sendsLate: late }, headers });
}

function urlFault(value: string): string | null {
  if (value.length > URL_CHARACTERS_MAX)
    return `must have at most ${URL_CHARACTERS_MAX.toLocaleString("en")} characters`;
  if (!URL.canParse(value)) return "must be a URL, such as https://example.com/hook";
  const { protocol, username, password, hash } = new URL(value);
  if (protocol !== "https:" && protocol !== "http:") return "must begin with https://";
  if (username !== "" || password !== "") return "must have no user name and no password: send a header";
  return hash === "" ? null : "must have no fragment";
}

const HEADER_NAME = /^[a-z0-9!#$%&'*+.^_`|~-]{1,64}$/;
const HEADER_VALUE = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/;

/** Headers that the request has of itself, or that are about its connection. */
const OWN_HEADERS =
  /^(host|content-.*|webhook-.*|user-agent|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|expect|accept-encoding|date|via)$/;

function parseHeaders(value: unknown, path: string): Result<Readonly<Record<string, string>>, string> {
  if (!isObject(value)) return fail(`${path} must be an object`);
  const entries = Object.entries(value);
  if (entries.length > HEADERS_MAX) return fail(`${path} must be at most ${HEADERS_MAX} headers`);
  const headers: Record<string, string> = {};
  for (const [name, content] of entries) {
    const lower = name.toLowerCase();
    if (!HEADER_NAME.test(lower)) return fail(`${path} has a name that no header can have`);
    if (OWN_HEADERS.test(lower)) return fail(`${path}.${lower} can't be set`);
    if (typeof content !== "string" || content.length > HEADER_CHARACTERS_MAX || !HEADER_VALUE.test(content))
      return fail(
        `${path}.${lower} must be 1 to ${HEADER_CHARACTERS_MAX.toLocaleString("en")} visible ASCII characters`,
      );
    headers[lower] = content;
  }
  return ok(headers);
}
