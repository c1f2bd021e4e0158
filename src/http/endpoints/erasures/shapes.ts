import { ok } from "../../../lib/result.ts";
import { CORRECTION_ID_PATTERN } from "../../../service/corrections/correction-id.ts";
import { ERASURE_PLACES, type ErasureReport, type ErasureState } from "../../../service/erasures/states.ts";
import { exampleOf, failure, SENT_WITH_DATA } from "../../openapi/responses.ts";
import type { PathParameter } from "../../parameters/path-parameter.ts";
import {
  count,
  instant,
  list,
  object,
  optional,
  plain,
  type Schema,
  text,
  type ValueOf,
} from "../../shapes/shape.ts";

/* What the endpoints of erasures share. */

export const EXAMPLE_ERASURE_ID = "01KDTV3GZ8Q3M5T7V9X1Z3B5D8";

export const erasureId: PathParameter<string> = {
  description: "The erasure.",
  schema: { type: "string", minLength: 1, pattern: CORRECTION_ID_PATTERN },
  example: EXAMPLE_ERASURE_ID,
  refusesEmpty: false,
  refusal: null,
  parse: (id) => ok(id),
};

const STATE: Schema = {
  type: "string",
  enum: ["pending", "finished"],
  description: "`pending` while files may still have something of it; no answer has.",
};

const crc = (description: string) => plain<number>({ type: "integer", format: "int64", description });

const place = object({
  place: plain<string>({ type: "string", enum: ERASURE_PLACES, description: "Where it was searched." }),
  removed: count("Records, entries, messages or keys that were removed."),
  bytes: count("Bytes of the files that had them."),
  files: list(
    object({
      file: text("A file of the data directory."),
      before: crc("CRC-32 of the file before it."),
      after: plain<number | null>({
        type: "integer",
        format: "int64",
        nullable: true,
        description: "CRC-32 of the file in its place; null if there is none.",
      }),
    }),
  ),
});

const remaining = object({
  where: text("Where something may remain."),
  why: text("Why."),
  until: optional(instant("When that goes by itself at the latest, Unix milliseconds.")),
});

const report = object(
  { places: list(place), remains: list(remaining) },
  "What was found and removed. It does not name the subject.",
);

const members = {
  id: text("The erasure's id."),
  state: plain<string>(STATE),
  created: instant("When it was made, Unix milliseconds."),
  start: optional(instant("The first erased instant, Unix milliseconds; absent for all before the end.")),
  end: optional(instant("The instant after the last, Unix milliseconds; absent for all since the start.")),
  block: plain<boolean>({
    type: "boolean",
    description: "Whether reports of the subject are refused since then.",
  }),
  days_left: count("Archived days whose files wait to be rewritten."),
  finished: optional(instant("When it was finished, Unix milliseconds.")),
};

export const erasureShape = object(members);

export const reportedErasureShape = object({ ...members, report: optional(report) });

export const EXAMPLE_ERASURE = {
  id: EXAMPLE_ERASURE_ID,
  state: "finished",
  created: 1_795_200_000_000,
  block: false,
  days_left: 0,
  finished: 1_795_200_042_000,
} satisfies ValueOf<typeof erasureShape>;

export const EXAMPLE_REPORT: ValueOf<typeof report> = {
  places: [{ place: "log", removed: 4711, bytes: 180_224, files: [] }],
  remains: [],
};

export const MISSING_ERASURE = failure("The app has no such erasure.", SENT_WITH_DATA, ["PlainError"], {
  erasure_not_found: exampleOf({ kind: "erasure_not_found" }),
});

export function presentErasure(state: ErasureState): ValueOf<typeof erasureShape> {
  const { id, range, block, createdMs, finishedMs, daysLeft } = state;
  return {
    ...{ id, state: finishedMs === null ? "pending" : "finished", created: createdMs },
    ...(Number.isFinite(range.startMs) ? { start: range.startMs } : {}),
    ...(Number.isFinite(range.endMs) ? { end: range.endMs } : {}),
    ...{ block, days_left: daysLeft },
    ...(finishedMs === null ? {} : { finished: finishedMs }),
  };
}

export function presentReport({ places, remains }: ErasureReport): ValueOf<typeof report> {
  return {
    places: places.map(({ place, removed, bytes, files }) => ({ place, removed, bytes, files: [...files] })),
    remains: remains.map(({ where, why, untilMs }) => ({
      where,
      why,
      ...(untilMs === null ? {} : { until: untilMs }),
    })),
  };
}
