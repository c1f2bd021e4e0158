import { CLIENT_NAMES } from "../../../clients/client.ts";
import { REFUSAL_REASONS } from "../../../clients/point.ts";
import type { EntrySummary } from "../../../service/quarantine/entry.ts";
import { exampleOf, failure, SENT_WITH_DATA } from "../../openapi/responses.ts";
import { textSegment } from "../../parameters/path-parameter.ts";
import { EXAMPLE_REPORT } from "../../shapes/record-schemas.ts";
import { count, object, optional, plain, text, type ValueOf } from "../../shapes/shape.ts";

export const EXAMPLE_ENTRY_ID = "0d6c2f5a7b9e41f08c3d5e6f7a8b9c0d";

export const entryId = textSegment("The entry.", EXAMPLE_ENTRY_ID);

const moment = { type: "integer", format: "int64" };

export const entryMembers = {
  id: text("The entry's name in paths. The same message from the same key always has the same id."),
  key_id: text("The message's key; mqtt if it came from a broker."),
  client: plain<string>({
    type: "string",
    enum: CLIENT_NAMES,
    description: "The app on whose path it arrived.",
  }),
  reason: plain<string>({ type: "string", enum: REFUSAL_REASONS, description: "Why it could not be used." }),
  device_id: optional(text("The probable device; absent if unknown.")),
  position: optional(count("The point's index in the message, from 0; absent for a whole message.")),
  body_bytes: count("Bytes of its body."),
  is_cut: plain<boolean>({
    type: "boolean",
    description: "Whether only the beginning was stored, so that it can't be replayed.",
  }),
  arrived: plain<number>({ ...moment, description: "First arrival, Unix milliseconds." }),
  last_arrived: plain<number>({ ...moment, description: "Last arrival, Unix milliseconds." }),
  count: count("How often it arrived."),
};

export const entrySummary = object(entryMembers, "An entry of the quarantine, without its content.");

export const EXAMPLE_ENTRY: ValueOf<typeof entrySummary> = {
  id: EXAMPLE_ENTRY_ID,
  key_id: "key_7Hq2",
  client: "overland",
  reason: "future",
  device_id: String(EXAMPLE_REPORT.device_id),
  position: 3,
  body_bytes: 412,
  is_cut: false,
  arrived: Number(EXAMPLE_REPORT.timestamp),
  last_arrived: Number(EXAMPLE_REPORT.timestamp),
  count: 1,
};

export function presentEntry(entry: EntrySummary): ValueOf<typeof entrySummary> {
  return {
    id: entry.id,
    key_id: entry.keyId,
    client: entry.client,
    reason: entry.reason,
    device_id: entry.deviceId ?? undefined,
    position: entry.index ?? undefined,
    body_bytes: entry.bodyBytes,
    is_cut: entry.isCut,
    arrived: entry.arrivedMs,
    last_arrived: entry.lastArrivedMs,
    count: entry.count,
  };
}

export const MISSING_ENTRY = failure(
  "The entry is unknown, deleted, or of another app; or there is nothing at this path.",
  SENT_WITH_DATA,
  ["PlainError"],
  {
    unknown_entry: exampleOf({ kind: "entry_not_found" }),
    no_such_path: exampleOf({ kind: "no_such_path" }),
  },
);
