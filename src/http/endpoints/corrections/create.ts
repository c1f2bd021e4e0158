import { createHash } from "node:crypto";
import { fail, ok, type Result } from "../../../lib/result.ts";
import type { ServiceError } from "../../../model/errors.ts";
import type { NewCorrection } from "../../../service/corrections/new-correction.ts";
import { parseNewCorrection } from "../../../service/corrections/new-correction.ts";
import { SAMPLE_RECORDS_MAX } from "../../../service/corrections/select-records.ts";
import { readShortObject } from "../../body/short-body.ts";
import { queryEndpoint } from "../../endpoint.ts";
import {
  exampleOf,
  failure,
  missingDevice,
  SENT_WITH_DATA,
  UNKNOWN_DEVICE,
} from "../../openapi/responses.ts";
import { flag } from "../../parameters/kinds.ts";
import { field } from "../../shapes/record-schemas.ts";
import {
  always,
  count,
  list,
  object,
  optional,
  plain,
  ref,
  type Schema,
  type ValueOf,
} from "../../shapes/shape.ts";
import {
  correctionShape,
  EXAMPLE_CORRECTION,
  EXAMPLE_CORRECTION_ID,
  EXAMPLE_NEW_CORRECTION,
  NEW_CORRECTION_SCHEMA,
  presentCorrection,
  presentTarget,
  previewShape,
} from "./shapes.ts";

/** Longer than 1,000 timestamps and a note with each character escaped. */
const BODY_BYTES_MAX = 64 * 1024;

const position = object({
  timestamp: field("timestamp"),
  latitude: field("latitude"),
  longitude: field("longitude"),
  horizontal_accuracy: optional(
    plain<number>({ type: "number", description: "Horizontal accuracy, meters." }),
  ),
  device_id: optional(plain<string>({ type: "string", description: "The device; if it is assigned." })),
  user_id: optional(plain<string>({ type: "string", description: "The user; if it is assigned." })),
});

const change = object(
  {
    before: position,
    after: plain<ValueOf<typeof position> | null>({
      ...position.schema,
      nullable: true,
      description: "Null: not shown.",
    }),
  },
  "A record before and after.",
);

const creation = object({
  success: always(true),
  correction: correctionShape,
  sequence: count("Position in the log after this request."),
});

const previewed = object({
  success: always(true),
  correction: previewShape,
  sample: list(change),
});

const answer = plain<ValueOf<typeof creation> | ValueOf<typeof previewed>>({
  oneOf: [creation.schema, previewed.schema],
});

const IS_KEY = /^[A-Za-z0-9_-]{1,64}$/;

const IDEMPOTENCY_KEY: Schema = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description: [
    "Names this request. Within 24 hours, another with the same key and body gets the first answer and makes nothing;",
    "one with another body is a 409.",
  ].join(" "),
  schema: { type: "string", pattern: IS_KEY.source },
};

const message = (text: string) => ({ success: false, message: text });

export const createCorrection = queryEndpoint({
  operationId: "createCorrection",
  tag: "App",
  summary: "Hides, moves, shifts or assigns records of a device, until it is undone",
  description: [
    "Once it is answered, all answers are as if the records had been reported in the corrected form, or never, and it",
    "survives a restart. Nothing is destroyed: undoing it shows them as they were. `hide` takes records out of all",
    "answers; `move` gives one record another position; `shift_time` adds `by_ms` to the time of records; `assign` gives",
    "records to another device, another user or both. Records are chosen by `timestamps`, or by `start` and `end`, narrowed by `bbox`, `circle` and `accuracy_above`. A correction touches at most 100,000 records, those of an app together",
    "1,000,000, and an app has at most 10,000 active ones. Later reports for other instants of the range show. `assign`",
    "without a choice makes all that a device reported, and will report, show as the records of `to_device_id`, however",
    "many these are; at a time at which both report later, the record of `to_device_id` shows. Without `to_device_id`",
    "they show with the user `to_user_id` instead.",
  ].join(" "),
  method: "POST",
  permission: "edit",
  path: "/api/v1/corrections",
  inPath: {},
  query: {
    dry_run: flag(
      `Changes nothing, and answers what it would touch, with a sample of the first ${SAMPLE_RECORDS_MAX} records.`,
      "boolean",
    ),
  },
  headers: [IDEMPOTENCY_KEY],
  body: {
    description: "What to correct.",
    example: EXAMPLE_NEW_CORRECTION,
    content: {
      "application/json": { schema: ref("schemas", "NewCorrection"), example: EXAMPLE_NEW_CORRECTION },
    },
  },
  answer: {
    name: "CorrectionMade",
    description: "The correction; with `dry_run=true` what it would be.",
    shape: answer,
    example: { success: true, correction: EXAMPLE_CORRECTION, sequence: 4711 },
  },
  failures: {
    400: failure("A parameter or the body is not valid.", SENT_WITH_DATA, ["PlainError"], {
      invalid_action: message("action must be one of hide, move, shift_time, assign"),
      unreadable: message("the body must be a JSON object"),
      no_records: message("no record matches the selection"),
    }),
    404: missingDevice("DeviceError", UNKNOWN_DEVICE),
    409: failure(
      "It would put a record where one is, or the Idempotency-Key is used.",
      SENT_WITH_DATA,
      ["PlainError"],
      {
        record_exists: exampleOf({
          kind: "record_exists",
          deviceId: String(EXAMPLE_NEW_CORRECTION.device_id),
          timestampMs: EXAMPLE_NEW_CORRECTION.start,
        }),
        assigned: exampleOf({
          kind: "device_assigned",
          deviceId: "phone-1",
          toId: "phone-2",
          userId: null,
          correctionId: EXAMPLE_CORRECTION_ID,
        }),
        key_used: exampleOf({ kind: "idempotency_key_used" }),
      },
    ),
    413: failure("The body is too long.", SENT_WITH_DATA, ["PlainError"], {
      too_large: message(`the body must be at most ${BODY_BYTES_MAX / 1024} KiB`),
    }),
    415: failure("The body is of another type.", SENT_WITH_DATA, ["PlainError"], {
      wrong_type: message("content-type must be application/json"),
    }),
  },
  schemas: { NewCorrection: NEW_CORRECTION_SCHEMA },
  open({ correct }) {
    return async (call, { dry_run }) => {
      const key = idempotencyKeyOf(call.request);
      if (!key.ok) return call.fail(key.error);
      const members = await readShortObject(call.request, { bytesMax: BODY_BYTES_MAX });
      if (!members.ok) return call.fail(members.error);
      const wanted = parseNewCorrection(members.value);
      if (!wanted.ok) return call.fail({ kind: "invalid_parameter", message: wanted.error });
      if (dry_run) {
        const preview = await correct.preview(call.appId, wanted.value, call.request);
        if (!preview.ok) return call.fail(preview.error);
        const { records, firstMs, lastMs, sample } = preview.value;
        const body: ValueOf<typeof previewed> = {
          success: true,
          correction: {
            ...presentWanted(wanted.value),
            records,
            ...(firstMs === null ? {} : { first: firstMs }),
            ...(lastMs === null ? {} : { last: lastMs }),
          },
          sample,
        };
        return call.object(body, 200);
      }
      const repetition = key.value === null ? null : { key: key.value, hash: hashOf(members.value) };
      const request = { keyId: call.keyId, nowMs: call.nowMs, repetition };
      const created = await correct.create(call.appId, wanted.value, request, call.request);
      if (!created.ok) return call.fail(created.error);
      const { item, sequence } = created.value;
      const body: ValueOf<typeof creation> = { success: true, correction: presentCorrection(item), sequence };
      return call.object(body, 200);
    };
  },
});

function presentWanted({ action, deviceId, selection, target, note }: NewCorrection) {
  return {
    action,
    device_id: deviceId,
    ...selection.members,
    ...presentTarget(deviceId, target),
    ...(note === null ? {} : { note }),
  };
}

function idempotencyKeyOf(request: Request): Result<string | null, ServiceError> {
  const key = request.headers.get("idempotency-key");
  if (key === null || IS_KEY.test(key)) return ok(key);
  const text = "Idempotency-Key must be 1 to 64 letters, digits, hyphens and underscores";
  return fail({ kind: "invalid_parameter", message: text });
}

function hashOf(members: Readonly<Record<string, unknown>>): string {
  const sorted = Object.entries(members).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash("sha256").update(JSON.stringify(sorted)).digest("hex");
}
