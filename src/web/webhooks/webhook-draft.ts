import type { Draft } from "../items/draft-editor.ts";
import { type DraftFault, draftFault } from "../items/draft-fault.ts";
import type { Webhook } from "./webhook.ts";
import { KINDS } from "./webhook-texts.ts";

/* A webhook while a user edits it. The server checks all of it, and its errors name the member. */

export interface WebhookDraft extends Draft {
  readonly url: string;
  readonly name: string;
  readonly types: readonly string[];
  readonly devices: readonly string[];
  /** Geofences and alerts. */
  readonly watches: readonly string[];
  readonly isLate: boolean;
  /** Null leaves the headers as they are: answers have only their names. */
  readonly headers: readonly HeaderDraft[] | null;
  readonly headerNames: readonly string[];
  /** The members that the form does not show. */
  readonly others: Pick<Webhook, "users">;
}

export interface HeaderDraft {
  readonly name: string;
  readonly value: string;
}

export const HEADERS_MAX = 5;

const ALL_KINDS = KINDS.map(({ kind }) => kind);

export const NEW_WEBHOOK: WebhookDraft = {
  ...{ id: null, url: "", name: "", types: ALL_KINDS, devices: [], watches: [], isLate: false },
  ...{ headers: [], headerNames: [], others: {} },
};

export function draftOf(webhook: Webhook): WebhookDraft {
  const { id, url, name = "", types = ALL_KINDS, devices = [], watches = [], late, headers, users } = webhook;
  const others = users === undefined ? {} : { users };
  return {
    ...{ id, url, name, types, devices, watches, isLate: late },
    ...{ headers: null, headerNames: headers, others },
  };
}

/** The request's body. A list without kinds is sent as it is: the server says that it needs one. */
export function bodyOf({ url, name, types, devices, watches, isLate, headers, others }: WebhookDraft) {
  const filled = headers?.filter((header) => header.name.trim() !== "" || header.value !== "");
  return {
    ...others,
    url: url.trim(),
    ...(name.trim() === "" ? {} : { name: name.trim() }),
    ...(types.length === ALL_KINDS.length ? {} : { types }),
    ...(devices.length === 0 ? {} : { devices }),
    ...(watches.length === 0 ? {} : { watches }),
    late: isLate,
    ...(filled === undefined
      ? {}
      : { headers: Object.fromEntries(filled.map((header) => [header.name.trim(), header.value])) }),
  };
}

const SHOWN: readonly string[] = ["url", "name", "types", "devices", "watches", "headers"];

export function faultOf(message: string): DraftFault {
  return draftFault(message, SHOWN);
}
