import type { Steps } from "../../lib/schedule/steps.ts";
import type { ClientMessage } from "../client.ts";
import { listOf } from "../content.ts";
import type { Claim, ClientPoint, PointSink, RefusalReason } from "../point.ts";
import type { SpeedUnit } from "./speed.ts";
import { readOs } from "./states.ts";
import { isMembers, type Members, membersOfParameters } from "./values.ts";

/** What the points of a message share. */
export interface MessageContext {
  readonly arrivedMs: number;
  /** Who logged in beside the key: apps with a field for a user have none other for it. */
  readonly user: string | null;
  readonly os: string | null;
  readonly speedUnit: SpeedUnit;
  /** What the operator says speeds are in; null if that is left to the client. */
  readonly givenUnit: SpeedUnit | null;
}

/** Speeds are in the client's unit unless the operator says otherwise. */
export function contextOf(message: ClientMessage, clientUnit: SpeedUnit): MessageContext {
  const { arrivedMs, basicUser, headers, speedUnit } = message;
  return {
    arrivedMs,
    user: basicUser,
    os: readOs(headers["user-agent"]),
    speedUnit: speedUnit ?? clientUnit,
    givenUnit: speedUnit,
  };
}

/** What a part of a message tells: a position, something that need not be kept, or nothing that can be used. */
export type Found =
  | ClientPoint
  | { readonly skipped: string }
  /** `from` says whose it is, as far as what came with it does. */
  | { readonly refused: RefusalReason; readonly from?: Claim };

export const HEARTBEAT: Found = { skipped: "heartbeat" };
export const NO_FIX: Found = { skipped: "no fix" };
export const UNKNOWN_SHAPE: Found = { refused: "unknown_shape" };

/** A part of a message that names its device, but no position. */
export function noPosition({ device, user, isDeviceUnreadable }: Claim): Found {
  return {
    refused: "no_position",
    from: { device, user, ...(isDeviceUnreadable && { isDeviceUnreadable }) },
  };
}

/** `raw` is what the sink keeps if it can't be used: a message of this part alone, undefined for the whole. */
export function handOver(found: Found, raw: unknown, sink: PointSink): void {
  if ("skipped" in found) sink.skip(found.skipped);
  else if ("refused" in found) sink.refuse(found.refused, raw, found.from);
  else sink.add(found, raw);
}

/** As `raw`, the whole message. */
const WHOLE_MESSAGE = undefined;

/**
 * Reads a message of clients whose point is a handful of names and values, whichever way they come: as a form, as the
 * parameters of the URL, as a JSON object, or as a list of those.
 */
export function* readFlat(
  { content, query }: ClientMessage,
  sink: PointSink,
  find: (members: Members) => Found,
): Steps<void> {
  switch (content.kind) {
    case "unreadable":
      return sink.refuse("bad_json");
    case "empty":
    case "text": {
      const form = new URLSearchParams(content.kind === "text" ? content.text : "");
      if (form.size + query.size > 0) handOver(find(membersOfParameters(form, query)), WHOLE_MESSAGE, sink);
      return;
    }
    case "json": {
      const findIn = (value: unknown) => (isMembers(value) ? find(value) : UNKNOWN_SHAPE);
      const list = listOf(content.value);
      if (list === null) handOver(findIn(content.value), WHOLE_MESSAGE, sink);
      else yield* readList(list, sink, (element) => handOver(findIn(element), [element], sink));
    }
  }
}

/** One of a long body may take 0.4 ms to parse. */
const ELEMENTS_PER_STEP = 32;

/** Reads a message's list, element by element, in steps. An empty one is a message that was understood. */
export function* readList(
  list: Iterable<unknown>,
  sink: PointSink,
  readElement: (element: unknown) => void,
): Steps<void> {
  let isEmpty = true;
  let untilStep = ELEMENTS_PER_STEP;
  for (const element of list) {
    readElement(element);
    isEmpty = false;
    if (--untilStep > 0) continue;
    untilStep = ELEMENTS_PER_STEP;
    yield;
  }
  if (isEmpty) sink.skip("empty message");
}
