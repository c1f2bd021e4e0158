import type { ErasureCounts } from "../../../service/erasures/erase.ts";
import { type NewErasure, parseNewErasure } from "../../../service/erasures/new-erasure.ts";
import { readShortObject } from "../../body/short-body.ts";
import { queryEndpoint } from "../../endpoint.ts";
import { exampleOf, failure, SENT_WITH_DATA } from "../../openapi/responses.ts";
import { flag } from "../../parameters/kinds.ts";
import {
  always,
  closed,
  count,
  instant,
  object,
  optional,
  plain,
  ref,
  type Schema,
  text,
  type ValueOf,
} from "../../shapes/shape.ts";
import { EXAMPLE_ERASURE_ID } from "./shapes.ts";

const BODY_BYTES_MAX = 4096;

const id: Schema = { type: "string", minLength: 1, maxLength: 128 };
const timestamp: Schema = { type: "integer", format: "int64", minimum: 0, maximum: 8_640_000_000_000_000 };

const NEW_ERASURE_SCHEMA = closed(
  {},
  {
    device_id: { ...id, description: "The device; either it or a user." },
    user_id: { ...id, description: "The user; either it or a device." },
    start: {
      ...timestamp,
      description: "The first instant, Unix milliseconds; by default all before the end.",
    },
    end: {
      ...timestamp,
      description: "The instant after the last, Unix milliseconds; by default all since the start.",
    },
    block: {
      type: "boolean",
      default: false,
      description: "Whether to refuse reports of the device, or with the user, from now on.",
    },
  },
);

const EXAMPLE_NEW_ERASURE = { device_id: "phone-2025", block: true };

const covered = {
  device_id: optional(text("The device.")),
  user_id: optional(text("The user.")),
  start: optional(instant("The first erased instant, Unix milliseconds.")),
  end: optional(instant("The instant after the last, Unix milliseconds.")),
  block: plain<boolean>({ type: "boolean", description: "Whether reports of it are refused from now on." }),
  devices: count("Devices whose records go."),
  corrections: count("Corrections that go with them."),
};

const created = object({
  success: always(true),
  erasure: object({
    id: text("The erasure's id."),
    state: plain<string>({
      type: "string",
      enum: ["pending"],
      description: "Files are rewritten from now on.",
    }),
    created: instant("When it was made, Unix milliseconds."),
    ...covered,
  }),
  sequence: count("Position in the log after this request."),
});

const previewed = object({
  success: always(true),
  erasure: object({ ...covered, records: count("Records that answers show of it.") }),
});

const answer = plain<ValueOf<typeof created> | ValueOf<typeof previewed>>({
  oneOf: [created.schema, previewed.schema],
});

const message = (sentence: string) => ({ success: false, message: sentence });

export const createErasure = queryEndpoint({
  operationId: "createErasure",
  tag: "App",
  summary: "Destroys what is stored about a device or a user",
  description: [
    "It can't be undone. Once it is answered, no answer shows any of it; its bytes are gone from the files within the",
    "hour, and the erasure's report tells what was found. It covers what was reported before it: the device may report",
    "anew, and a phone or a broker may send old points again, unless `block` is true. What shows as the device goes",
    "with it. If corrections have records of both the subject and others, they must be undone first.",
  ].join(" "),
  method: "POST",
  permission: "erase",
  path: "/api/v1/erasures",
  inPath: {},
  query: { dry_run: flag("Changes nothing, and answers what it would destroy.", "boolean") },
  body: {
    description: "What to erase.",
    example: EXAMPLE_NEW_ERASURE,
    content: { "application/json": { schema: ref("schemas", "NewErasure"), example: EXAMPLE_NEW_ERASURE } },
  },
  answer: {
    name: "ErasureMade",
    description: "The erasure; with `dry_run=true` what it would be.",
    shape: answer,
    example: {
      success: true,
      erasure: {
        ...{ id: EXAMPLE_ERASURE_ID, state: "pending", created: 1_795_200_000_000 },
        ...EXAMPLE_NEW_ERASURE,
        ...{ devices: 1, corrections: 2 },
      },
      sequence: 90_210,
    },
  },
  failures: {
    400: failure("A parameter or the body is not valid.", SENT_WITH_DATA, ["PlainError"], {
      no_subject: message("an erasure has either device_id or user_id"),
      unreadable: message("the body must be a JSON object"),
    }),
    409: failure("Corrections have records of it and of others.", SENT_WITH_DATA, ["PlainError"], {
      in_the_way: exampleOf({ kind: "corrections_in_the_way", ids: [EXAMPLE_ERASURE_ID] }),
    }),
    413: failure("The body is too long.", SENT_WITH_DATA, ["PlainError"], {
      too_large: message(`the body must be at most ${BODY_BYTES_MAX / 1024} KiB`),
    }),
    415: failure("The body is of another type.", SENT_WITH_DATA, ["PlainError"], {
      wrong_type: message("content-type must be application/json"),
    }),
  },
  schemas: { NewErasure: NEW_ERASURE_SCHEMA },
  open({ erase }) {
    return async (call, { dry_run }) => {
      const members = await readShortObject(call.request, { bytesMax: BODY_BYTES_MAX });
      if (!members.ok) return call.fail(members.error);
      const wanted = parseNewErasure(members.value);
      if (!wanted.ok) return call.fail({ kind: "invalid_parameter", message: wanted.error });
      if (dry_run) {
        const preview = await erase.preview(call.appId, wanted.value, call.request);
        if (!preview.ok) return call.fail(preview.error);
        const body: ValueOf<typeof previewed> = {
          success: true,
          erasure: { ...presentCovered(wanted.value, preview.value), records: preview.value.records },
        };
        return call.object(body, 200);
      }
      const request = { keyId: call.keyId, nowMs: call.nowMs };
      const erased = await erase.create(call.appId, wanted.value, request, call.request);
      if (!erased.ok) return call.fail(erased.error);
      const { erasure, counts, sequence } = erased.value;
      const body: ValueOf<typeof created> = {
        success: true,
        erasure: {
          ...{ id: erasure.id, state: "pending", created: erasure.createdMs },
          ...presentCovered(wanted.value, counts),
        },
        sequence,
      };
      return call.object(body, 200);
    };
  },
});

function presentCovered({ subject, range, block }: NewErasure, counts: ErasureCounts) {
  return {
    ...("deviceId" in subject ? { device_id: subject.deviceId } : { user_id: subject.userId }),
    ...(Number.isFinite(range.startMs) ? { start: range.startMs } : {}),
    ...(Number.isFinite(range.endMs) ? { end: range.endMs } : {}),
    ...{ block, ...counts },
  };
}
