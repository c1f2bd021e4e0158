import { decodeNamedMembers, encodeNamedMembers } from "../../lib/frames/named-members.ts";
import type { Views } from "../../lib/frames/views.ts";
import { isObject } from "../../lib/is-object.ts";
import { refuseStrangers } from "../../lib/text/versioned-json.ts";
import { type AppId, type DeviceId, parseAppId, type UserId } from "../ids.ts";

/** The kind of the entry by which one node of a cluster publishes events (`lib/frames/named-members.ts`). */
export const EVENTS_KIND = 10;

/** Events of an app are as follows from now on, on all nodes. */
export interface EventsEntry {
  readonly kind: "events";
  readonly appId: AppId;
  readonly events: readonly PublishedEvent[];
}

/** A revision of an event, as the node that publishes it decided it. */
export interface PublishedEvent {
  /** Its place in the order of all events, and its revision, if that node has all that was published before. */
  readonly seq: number;
  readonly revision: number;
  readonly isWithdrawn: boolean;
  readonly isLate: boolean;
  readonly madeMs: number;
  /** The time of the record that decided it; null if the clock of timed events did. */
  readonly decidedMs: number | null;
  readonly id: string;
  readonly kind: string;
  readonly timestampMs: number;
  readonly deviceId: DeviceId;
  readonly userId: UserId;
  readonly watchId: string;
  readonly version: number;
  readonly visitId: string;
  readonly ending: Readonly<Record<string, unknown>> | null;
  readonly dueMs: number;
}

/** The encoded entry behind `headroomBytes` for the caller, a multiple of 8. */
export function encodeEventsEntry(
  { appId, events }: EventsEntry,
  headroomBytes: number,
): Uint8Array<ArrayBuffer> {
  return encodeNamedMembers(EVENTS_KIND, appId, { events }, headroomBytes);
}

/**
 * The entry of this kind from `start` to `end`, both 8-aligned; null if the bytes are not valid. Throws a
 * `FormatVersionError`, which names `path`, if it has a member that a newer version added.
 */
export function decodeEventsEntry(
  views: Views,
  start: number,
  end: number,
  path: string,
): EventsEntry | null {
  const named = decodeNamedMembers(views, start, end);
  const appId = named === null ? null : parseAppId(named.owner);
  if (named === null || appId === null) return null;
  refuseStrangers("events", path, named.members, ["events"]);
  const { events } = named.members;
  if (!Array.isArray(events)) return null;
  for (const event of events) {
    if (!isObject(event)) return null;
    refuseStrangers("event", path, event, Object.keys(CHECKS));
    if (!Object.entries(CHECKS).every(([name, isValid]) => isValid(event[name]))) return null;
  }
  return { kind: "events", appId, events };
}

const isText = (value: unknown) => typeof value === "string";
const isWhole = (value: unknown) => Number.isSafeInteger(value);
const isFlag = (value: unknown) => typeof value === "boolean";

const CHECKS: { readonly [Name in keyof PublishedEvent]: (value: unknown) => boolean } = {
  seq: isWhole,
  revision: isWhole,
  isWithdrawn: isFlag,
  isLate: isFlag,
  madeMs: isWhole,
  decidedMs: (value) => value === null || typeof value === "number",
  id: isText,
  kind: isText,
  timestampMs: isWhole,
  deviceId: isText,
  userId: isText,
  watchId: isText,
  version: isWhole,
  visitId: isText,
  ending: (value) => value === null || isObject(value),
  dueMs: isWhole,
};
