import { Buffer } from "node:buffer";
import { isObject } from "../../lib/is-object.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import { systemTimers, type Timers } from "../../lib/schedule/timers.ts";
import { parseJson } from "../../lib/text/long-json.ts";
import { decodeUtf8 } from "../../lib/text/long-text.ts";
import type { ServiceError } from "../../model/errors.ts";
import { piecesUntil } from "./body-reader.ts";

/** 8 KiB: the names of some hundred devices. Endpoints may take more. */
export const SHORT_BODY_BYTES_MAX = 8 * 1024;

const ARRIVAL_MS_MAX = 10_000;

const JSON_TYPE = "application/json";

export interface ShortBodyOptions {
  readonly timers?: Timers;
  readonly bytesMax?: number;
  /** Defaults to `application/json` alone. */
  readonly mediaTypes?: readonly string[];
}

/**
 * Reads the members of a short JSON object. It uses no part of the memory for reports: clients without a key could use
 * that up, and this takes no more than an open connection.
 */
export async function readShortObject(
  request: Request,
  { timers = systemTimers, bytesMax = SHORT_BODY_BYTES_MAX, mediaTypes = [JSON_TYPE] }: ShortBodyOptions = {},
): Promise<Result<Readonly<Record<string, unknown>>, ServiceError>> {
  const [mediaType = ""] = (request.headers.get("content-type") ?? "").split(";", 1);
  if (!mediaTypes.includes(mediaType.trim().toLowerCase())) {
    const message = `content-type must be ${mediaTypes.join(" or ")}`;
    return fail({ kind: "media_type_unsupported", message });
  }
  const body = await readInTime(request, timers, bytesMax);
  if (!body.ok) return body;
  const text = decodeUtf8(body.value);
  const value = text === null ? undefined : parseJson(text);
  return isObject(value) ? ok(value) : fail(NO_OBJECT);
}

/** Gives up a late body and drops what still arrives. */
async function readInTime(
  request: Request,
  timers: Timers,
  bytesMax: number,
): Promise<Result<Uint8Array, ServiceError>> {
  const late = Promise.withResolvers<Result<never, ServiceError>>();
  const giveUp = new AbortController();
  const stopTimer = timers.after(ARRIVAL_MS_MAX, () => {
    giveUp.abort();
    late.resolve(fail(INCOMPLETE));
  });
  try {
    return await Promise.race([late.promise, collect(request, giveUp.signal, bytesMax)]);
  } catch {
    return fail(INCOMPLETE);
  } finally {
    stopTimer();
  }
}

async function collect(
  { body, headers }: Request,
  givenUp: AbortSignal,
  bytesMax: number,
): Promise<Result<Uint8Array, ServiceError>> {
  if (Number(headers.get("content-length") ?? 0) > bytesMax) return fail(tooLarge(bytesMax));
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body === null ? [] : piecesUntil(body, givenUp)) {
    bytes += piece.length;
    if (bytes > bytesMax) return fail(tooLarge(bytesMax));
    pieces.push(piece);
  }
  return ok(Buffer.concat(pieces));
}

function tooLarge(bytesMax: number): ServiceError {
  return { kind: "body_too_large", message: `the body must be at most ${bytesMax / 1024} KiB` };
}

const NO_OBJECT: ServiceError = { kind: "body_unreadable", message: "the body must be a JSON object" };
const INCOMPLETE: ServiceError = {
  kind: "body_incomplete",
  message: "the body ended before it was complete, or took too long to arrive",
};
