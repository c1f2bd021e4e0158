import type { Steps } from "../../lib/schedule/steps.ts";
import type { ClientMessage } from "../client.ts";
import { listOf } from "../content.ts";
import type { Claim, ClientPoint, MessageSink, RefusalReason } from "../point.ts";
import type { SpeedUnit } from "./speed.ts";
import { readOs } from "./states.ts";
import { isJsonObject, type JsonObject, objectOfParameters } from "./values.ts";

/** Values that the points of a message share. */
export interface MessageContext {
  readonly arrivedMs: number;
  /** The user name of Basic authentication, the only place where some apps can put one. */
  readonly user: string | null;
  readonly os: string | null;
  readonly speedUnit: SpeedUnit;
  /** The unit of speeds set by the operator; null if the client's applies. */
  readonly configuredUnit: SpeedUnit | null;
}

/** Speeds are in the client's unit unless the operator sets another. */
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

/** The result of reading a part of a message: a point, something to ignore, or something that can't be used. */
export type PointResult =
  | ClientPoint
  | { readonly skipped: string }
  /** `from` names the sender as far as the rest of the message does. */
  | { readonly refused: RefusalReason; readonly from?: Claim };

export const HEARTBEAT: PointResult = { skipped: "heartbeat" };
export const NO_FIX: PointResult = { skipped: "no fix" };
export const UNKNOWN_SHAPE: PointResult = { refused: "unknown_shape" };

/** The result for a part that names its device, but has no position. */
export function noPosition({ device, user, isDeviceUnreadable }: Claim): PointResult {
  return {
    refused: "no_position",
    from: { device, user, ...(isDeviceUnreadable && { isDeviceUnreadable }) },
  };
}

/** `raw` is stored if the part can't be used: a message with only this part, or undefined for the whole message. */
export function emit(result: PointResult, raw: unknown, sink: MessageSink): void {
  if ("skipped" in result) sink.skip(result.skipped);
  else if ("refused" in result) sink.refuse(result.refused, raw, result.from);
  else sink.add(result, raw);
}

const WHOLE_MESSAGE = undefined;

/** Reads points of a few names and values from a form, URL parameters, a JSON object or a list of objects. */
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

/** One element of a long body may take 0.4 ms to parse. */
const ELEMENTS_PER_STEP = 32;

/** Reads a message's list in steps. An empty list is a valid message. */
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
