import {
  type AccessError,
  answerError,
  DEVICE_NOT_FOUND,
  type HttpError,
  timezoneMessage,
} from "../errors.ts";
import { emptyDeviceHistory } from "../present/history.ts";
import { EXAMPLE_REPORT } from "./describe-records.ts";
import { always, closed, count, type Members, text } from "./describe-schema.ts";

/** The bodies of failures, and examples made by the very code that answers with them. */

const success = always(false);
const nothing = { type: "integer", enum: [0] };
const message = text("What is wrong, in words: the parameter and the bound it broke.");

const DEVICE_ID = String(EXAMPLE_REPORT.device_id);

/** Every way the door refuses, once. */
const REFUSALS: Readonly<Record<AccessError["kind"], AccessError>> = {
  key_missing: { kind: "key_missing" },
  key_unknown: { kind: "key_unknown" },
  key_revoked: { kind: "key_revoked" },
  key_expired: { kind: "key_expired" },
  permission_missing: { kind: "permission_missing", permission: "read" },
  rate_exceeded: { kind: "rate_exceeded", retryAfterSeconds: 1 },
};

const refusalBodies = Object.values(REFUSALS).map((refusal) => answerError(refusal).body);

export const ERROR_SCHEMAS = {
  PlainError: closed({ success, message }, {}, "What is wrong, in words."),
  AuthError: closed({
    success,
    error: { type: "string", enum: refusalBodies.map((body) => body.error) },
    code: { type: "string", enum: refusalBodies.map((body) => body.code) },
    message: text("What is wrong, in words."),
  }),
  UserIdError: closed({ error: always("Invalid user_id"), message }),
  DeviceError: closed({
    success,
    device_id: text("The device that was asked for."),
    message: always(DEVICE_NOT_FOUND),
  }),
  EmptyDeviceHistory: closed(
    {
      success,
      device_id: text("The device that was asked for."),
      locations: { type: "array", items: {}, maxItems: 0 },
      pagination: closed({ count: nothing, has_more: always(false) }),
      query_info: closed({
        time_range: closed({
          start: text("start_date, or empty where the timezone is invalid."),
          end: text("end_date, or empty where the timezone is invalid."),
        }),
        data_scanned_mb: nothing,
        query_time_ms: nothing,
      }),
      message,
    },
    {},
    "The envelope of device history with nothing in it, and why.",
  ),
  ServerError: closed({
    success,
    message,
    request_id: text("The id under which the server's log says more."),
  }),
  NotReady: {
    oneOf: [
      closed({
        status: always("starting"),
        replayed: count("Bytes of the log read so far."),
        total: count("Bytes of the log in all."),
      }),
      closed({ status: always("stopping") }),
    ],
  },
} satisfies Members;

export type ErrorName = keyof typeof ERROR_SCHEMAS;

/** The body that the service itself gives for an error. */
export function exampleOf(error: HttpError): unknown {
  return answerError(error).body;
}

/** The empty envelopes of device history, for a timezone that is none and for a device that is not there. */
export const EMPTY_HISTORY_EXAMPLES = {
  invalid_timezone: emptyDeviceHistory(DEVICE_ID, "", "", timezoneMessage("Mars/Olympus")),
  unknown_device: emptyDeviceHistory(DEVICE_ID, "2026-01-26", "2026-01-26", DEVICE_NOT_FOUND),
};
