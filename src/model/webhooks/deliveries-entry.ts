import { decodeNamedMembers, encodeNamedMembers } from "../../lib/frames/named-members.ts";
import type { Views } from "../../lib/frames/views.ts";
import { isObject } from "../../lib/is-object.ts";
import { refuseStrangers } from "../../lib/text/versioned-json.ts";
import type { AppId } from "../ids.ts";
import { type Delivery, OUTCOMES, type SavedCursor } from "./delivery.ts";

/** The kind of the entry by which the nodes of a cluster know deliveries (`lib/frames/named-members.ts`). */
export const DELIVERIES_KIND = 11;

/** What a node of a cluster has sent to webhooks, or is to be sent again. */
export interface DeliveriesEntry {
  readonly kind: "deliveries";
  /** Empty: it is about webhooks of all apps. */
  readonly appId: AppId;
  /**
   * That of the lease of the node that delivers, which rises from owner to owner; null of another node. Cursors of an
   * earlier term count no more, and another node's move the webhook there.
   */
  readonly term: number | null;
  readonly cursors: readonly SavedCursor[];
  readonly deliveries: readonly Delivery[];
}

const ALL_APPS = "" as AppId;

export function deliveriesEntry(
  term: number | null,
  cursors: readonly SavedCursor[],
  deliveries: readonly Delivery[],
): DeliveriesEntry {
  return {
    ...{ kind: "deliveries", appId: ALL_APPS, term },
    cursors: cursors.map(({ failing, ...rest }) => ({
      ...rest,
      failing: failing === null ? null : { ...failing, nextMs: Math.round(failing.nextMs) },
    })),
    deliveries: deliveries.map((each) => ({ ...each, latencyMs: Math.round(each.latencyMs) })),
  };
}

/** The encoded entry behind `headroomBytes` for the caller, a multiple of 8. */
export function encodeDeliveriesEntry(
  { appId, term, cursors, deliveries }: DeliveriesEntry,
  headroomBytes: number,
): Uint8Array<ArrayBuffer> {
  return encodeNamedMembers(DELIVERIES_KIND, appId, { term, cursors, deliveries }, headroomBytes);
}

/**
 * The entry of this kind from `start` to `end`, both 8-aligned; null if the bytes are not valid. Throws a
 * `FormatVersionError`, which names `path`, if it has a member that a newer version added.
 */
export function decodeDeliveriesEntry(
  views: Views,
  start: number,
  end: number,
  path: string,
): DeliveriesEntry | null {
  const named = decodeNamedMembers(views, start, end);
  if (named === null || named.owner !== ALL_APPS) return null;
  refuseStrangers("deliveries", path, named.members, ["term", "cursors", "deliveries"]);
  const { term, cursors, deliveries } = named.members;
  if (!(term === null || isWhole(term)) || !areAll(cursors, CURSOR_CHECKS, path)) return null;
  if (!areAll(deliveries, DELIVERY_CHECKS, path)) return null;
  return deliveriesEntry(term as number | null, cursors as SavedCursor[], deliveries as Delivery[]);
}

type Check = (value: unknown) => boolean;
type Checks<Members> = { readonly [Name in keyof Members]: Check };

const isText = (value: unknown) => typeof value === "string";
const isOptionalText = (value: unknown) => value === null || isText(value);
const isWhole = (value: unknown) => Number.isSafeInteger(value);

const CURSOR_CHECKS = {
  webhookId: isText,
  seq: isWhole,
  failing: (value) => value === null || (isObject(value) && isWhole(value.failures) && isWhole(value.nextMs)),
} satisfies Checks<SavedCursor>;

const DELIVERY_CHECKS = {
  webhookId: isText,
  appId: isText,
  eventId: isOptionalText,
  revision: isWhole,
  deviceId: isOptionalText,
  userId: isOptionalText,
  atMs: isWhole,
  outcome: (value) => OUTCOMES.some((outcome) => outcome === value),
  status: (value) => value === null || isWhole(value),
  latencyMs: isWhole,
  answer: isText,
} satisfies Checks<Delivery>;

function areAll(list: unknown, checks: Readonly<Record<string, Check>>, path: string): boolean {
  if (!Array.isArray(list)) return false;
  return list.every((item) => {
    if (!isObject(item)) return false;
    refuseStrangers("deliveries", path, item, Object.keys(checks));
    return Object.entries(checks).every(([name, isValid]) => isValid(item[name]));
  });
}
