import type { Steps } from "../../lib/schedule/steps.ts";
import type { ClientMessage } from "../client.ts";
import { listOf } from "../content.ts";
import type { Claim, ClientPoint, MessageSink, RefusalReason } from "../point.ts";
import type { SpeedUnit } from "./speed.ts";
import { readOs } from "./states.ts";
import { isJsonObject, type JsonObject, objectOfParameters } from "./values.ts";

/** What the points of a message share. */
export interface MessageContext {
  readonly arrivedMs: number;
  /** Who logged in beside the key: apps with a field for a user have none other for it. */
  readonly user: string | null;
  readonly os: string | null;
  readonly speedUnit: SpeedUnit;
  /** What the operator says speeds are in; null if that is left to the client. */
  readonly configuredUnit: SpeedUnit | null;
}

/** Speeds are in the client's unit unless the operator says otherwise. */
export function contextOf(message: ClientMessage, clientUnit: SpeedUnit): MessageContext {
  const { arrivedMs, basicUser, headers, speedUnit } = message;
  return {
    arrivedMs,
    user: basicUser,
    os: readOs(headers["user-agent"]),
    speedUnit: speedUnit ?? clientUnit,
    configuredUnit: speedUnit,
  };
}

/** What a part of a message tells: a position, something that need not be kept, or nothing that can be used. */
export type PointResult =
  | ClientPoint
  | { readonly skipped: string }
  /** `from` says whose it is, as far as what came with it does. */
  | { readonly refused: RefusalReason; readonly from?: Claim };

export const HEARTBEAT: PointResult = { skipped: "heartbeat" };
export const NO_FIX: PointResult = { skipped: "no fix" };
export const UNKNOWN_SHAPE: PointResult = { refused: "unknown_shape" };

/** A part of a message that names its device, but no position. */
export function noPosition({ device, user, isDeviceUnreadable }: Claim): PointResult {
  return {
    refused: "no_position",
    from: { device, user, ...(isDeviceUnreadable && { isDeviceUnreadable }) },
  };
}

/** `raw` is what the sink keeps if it can't be used: a message of this part alone, undefined for the whole. */
export function emit(found: PointResult, raw: unknown, sink: MessageSink): void {
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
  sink: MessageSink,
  find: (members: JsonObject) => PointResult,
): Steps<void> {
  switch (content.kind) {
    case "unreadable":
      return sink.refuse("bad_json");
    case "empty":
    case "text": {
      const form = new URLSearchParams(content.kind === "text" ? content.text : "");
      if (form.size + query.size > 0) emit(find(objectOfParameters(form, query)), WHOLE_MESSAGE, sink);
      return;
    }
    case "json": {
      const findIn = (value: unknown) => (isJsonObject(value) ? find(value) : UNKNOWN_SHAPE);
      const list = listOf(content.value);
      if (list === null) emit(findIn(content.value), WHOLE_MESSAGE, sink);
      else yield* readList(list, sink, (element) => emit(findIn(element), [element], sink));
    }
  }
}

/** One of a long body may take 0.4 ms to parse. */
const ELEMENTS_PER_STEP = 32;

/** Reads a message's list, element by element, in steps. An empty one is a message that was understood. */
export function* readList(
  list: Iterable<unknown>,
  sink: MessageSink,
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
