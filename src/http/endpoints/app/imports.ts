import { REMARKS, SKIP_REASONS } from "../../../formats/read/file-point.ts";
import { PLACE_MARK, type SkipCount } from "../../../import/tally/skip-counts.ts";
import { UPLOAD_FORMAT_NAMES } from "../../../import/upload/upload-formats.ts";
import type { UploadOutcome } from "../../../import/upload/uploads.ts";
import { ok, type Result } from "../../../lib/result.ts";
import type { ServiceError } from "../../../model/errors.ts";
import type { DeviceId, UserId } from "../../../model/ids.ts";
import { deviceIdFault, ERASED } from "../../../model/report.ts";
import { FUTURE_MAX_MS } from "../../../model/time/retention.ts";
import { BodyReader, TOO_MANY_REPORTS } from "../../body/body-reader.ts";
import type { Call } from "../../call.ts";
import { keyedEndpoint } from "../../endpoint.ts";
import { CONTENT_ENCODING } from "../../openapi/operation.ts";
import {
  BODY_TOO_LARGE,
  exampleOf,
  failure,
  SENT_TO_RETRY,
  SENT_WITH_DATA,
} from "../../openapi/responses.ts";
import { timezone } from "../../parameters/common.ts";
import { flag, optionalWord } from "../../parameters/kinds.ts";
import {
  invalid,
  type Parameter,
  type QueryParameters,
  type QueryValues,
  readQuery,
} from "../../parameters/parameter.ts";
import type { Services } from "../../services.ts";
import { EXAMPLE_REPORT } from "../../shapes/record-schemas.ts";
import { always, count, list, object, optional, plain, text, type ValueOf } from "../../shapes/shape.ts";

/* Takes in the points of a file that a client sends whole, or says what it would take in. */

/** Names of devices in an answer; a person looks at some of them. */
const DEVICES_MAX = 100;

const degrees = plain<number>({ type: "number" });

const answer = object({
  success: always(true),
  dry_run: plain<boolean>({ type: "boolean", description: "Whether the file was only looked at." }),
  format: text("The format that the file was read as."),
  recognized_by: text("How the file shows that format."),
  fault: optional(text("Why and where reading ended early: what comes before is in the counts.")),
  read: count("Points and other things in the file: what is `usable` and what was `skipped`."),
  usable: count("Points that can be stored."),
  skipped: count("What can't be stored, or is no position."),
  new: optional(count("Records that were made. Not in a dry run.")),
  already_there: optional(
    count(
      "Points that changed nothing. In a dry run: whose device has a record of that time, or an earlier point; absent " +
        "where the archive can't be read.",
    ),
  ),
  same_time: optional(count("Points of a time that had a record, which they changed or lost to.")),
  skips: list(
    object({
      reason: text("One word for why."),
      message: text("The reason in words."),
      count: count("How many."),
      places: list(text("One of the first places.")),
    }),
  ),
  remarks: list(object({ remark: text("One word."), message: text("In words."), count: count("Points.") })),
  left_out: list(
    object({ field: text("A field whose value was out of bounds or unreadable."), count: count("Points.") }),
  ),
  devices: list(text("A device of the file, at most 100 of them.")),
  has_more_devices: plain<boolean>({ type: "boolean", description: "Whether there are more." }),
  first: optional(plain<number>({ type: "integer", description: "Timestamp of the oldest point." })),
  last: optional(plain<number>({ type: "integer", description: "Timestamp of the newest point." })),
  bounds: optional(list(degrees)),
  lines: optional(list(list(list(degrees)))),
  sequence: optional(count("Position in the log after this request.")),
});

const device: Parameter<DeviceId | null> = {
  description: [
    "The device of all points. By default points belong to the devices that the file names (in GPX, by the name of",
    "its only track), and others are skipped.",
  ].join(" "),
  required: false,
  schema: { type: "string", minLength: 1, maxLength: 128 },
  parse(name, value) {
    if (value === null) return ok(null);
    return deviceIdFault(value) === null
      ? ok(value as DeviceId)
      : invalid(`${name} must be 1 to 128 characters, none of them control characters, and not . or ..`);
  },
};

const query = {
  device_id: device,
  format: optionalWord("The file's format; by default its beginning shows it.", UPLOAD_FORMAT_NAMES),
  timezone: { ...timezone, description: "The zone of times without a zone, which are refused by default." },
  skip_old: flag("Leaves out points before the retention, which otherwise refuse the whole file.", "boolean"),
  dry_run: flag("Stores nothing and answers what the file has, with lines to draw on a map.", "boolean"),
} satisfies QueryParameters;

const EXAMPLE_FILE = {
  type: "FeatureCollection",
  features: [
    {
      type: "Feature",
      geometry: { type: "Point", coordinates: [EXAMPLE_REPORT.longitude, EXAMPLE_REPORT.latitude] },
      properties: { device_id: EXAMPLE_REPORT.device_id, timestamp: EXAMPLE_REPORT.timestamp },
    },
  ],
};

/** Types that files come with; what the file is, its beginning shows. */
export const MEDIA_TYPES = [
  "application/gpx+xml",
  "application/vnd.google-earth.kml+xml",
  "application/geo+json",
  "application/geo+json-seq",
  "application/json",
  "application/xml",
  "text/xml",
  "application/octet-stream",
];

export const WRONG_TYPE: ServiceError = {
  kind: "media_type_unsupported",
  message: `content-type must be that of a file: ${MEDIA_TYPES.join(", ")}`,
};

const FILE = { schema: { type: "string", format: "binary", description: "The file." } };

/** The body of a request that is a file, of any media type that files have. */
export function fileBody<Example extends object>(example: Example) {
  const json = { schema: { type: "object" }, example };
  return {
    description: "The file, as it is.",
    example,
    content: Object.fromEntries(
      MEDIA_TYPES.map((type) => [type, type.endsWith("json") ? json : FILE] as const),
    ),
  };
}

export const importFile = keyedEndpoint({
  operationId: "importFile",
  tag: "Ingest",
  summary: "Imports a GPX, KML or GeoJSON file",
  description: [
    "Needs the permission `write`; the points belong to the key's app, and to its device and user where the key is",
    "bound to them. The file is the body, at most 16 MiB before and after decompression. It is read in a process of its",
    "own, within 10 seconds and 256 MiB of memory: one file of an app at a time, two in all. A file that is cut off or",
    "damaged gives what comes before, and `fault` says where that ends. Importing a file again changes nothing.",
    "Other formats and longer files are for the import command.",
  ].join(" "),
  method: "POST",
  path: "/api/v1/imports",
  permission: "write",
  isForPage: true,
  query,
  headers: [CONTENT_ENCODING],
  body: fileBody(EXAMPLE_FILE),
  answer: {
    name: "ImportResult",
    description: "The file was read; everything `new` is on disk.",
    shape: answer,
    example: {
      success: true,
      dry_run: false,
      format: "geojson",
      recognized_by: 'it has a "type" of "FeatureCollection"',
      read: 1,
      usable: 1,
      skipped: 0,
      new: 1,
      already_there: 0,
      same_time: 0,
      skips: [],
      remarks: [],
      left_out: [],
      devices: [EXAMPLE_REPORT.device_id],
      has_more_devices: false,
      first: EXAMPLE_REPORT.timestamp,
      last: EXAMPLE_REPORT.timestamp,
      bounds: [
        ...[EXAMPLE_REPORT.longitude, EXAMPLE_REPORT.latitude],
        ...[EXAMPLE_REPORT.longitude, EXAMPLE_REPORT.latitude],
      ],
      sequence: 4711,
    },
  },
  failures: {
    400: failure(
      "A parameter is invalid, or the file can't be read. Nothing was stored.",
      SENT_WITH_DATA,
      ["PlainError"],
      {
        body_unreadable: exampleOf({
          kind: "body_unreadable",
          message: "the file is a PDF, for reading; ask the program that made it for its data",
        }),
      },
    ),
    413: failure(
      "The file is larger than 16 MiB, or takes too much memory.",
      SENT_WITH_DATA,
      ["PlainError"],
      BODY_TOO_LARGE,
    ),
    415: failure(
      "The media type is not that of a file, or the content encoding is none of those above.",
      SENT_WITH_DATA,
      ["PlainError"],
      { media_type: exampleOf(WRONG_TYPE) },
    ),
    503: failure(
      "Another file is being read, reading took too long or ended, or the server takes no reports.",
      SENT_TO_RETRY,
      ["PlainError"],
      {
        busy: exampleOf({
          kind: "unavailable",
          message: "another file is being read; send this one again shortly",
          retryAfterSeconds: 5,
        }),
      },
    ),
  },
  open(services) {
    const reader = new BodyReader();
    return async (call) => {
      const read = readQuery(call.request.url, query);
      if (!read.ok) return call.fail(read.error);
      const values = boundTo(call, read.value);
      if (!values.ok) return call.fail(values.error);
      if (!isFile(call.request.headers.get("content-type"))) return call.fail(WRONG_TYPE);
      const share = services.bodies.begin(call);
      if (share === null) return call.fail(TOO_MANY_REPORTS);
      try {
        const body = await reader.read(call.request, share);
        if (!body.ok) return call.fail(body.error);
        return await importBody(services, call, body.value, values.value);
      } finally {
        share.end();
      }
    };
  },
});

type Values = QueryValues<typeof query>;

/** A bound key writes as its device alone. */
function boundTo({ binding }: Call, values: Values): Result<Values, ServiceError> {
  const { deviceId } = binding;
  if (deviceId === null) return ok(values);
  if (values.device_id !== null && values.device_id !== deviceId)
    return invalid(`device_id must be "${deviceId}" or absent: the key is bound to this device`);
  return ok({ ...values, device_id: deviceId as DeviceId });
}

export function isFile(contentType: string | null): boolean {
  const [mediaType = ""] = (contentType ?? "").split(";", 1);
  return MEDIA_TYPES.includes(mediaType.trim().toLowerCase());
}

async function importBody(services: Services, call: Call, body: Uint8Array, values: Values) {
  const { uploads, retention, reports: counts } = services;
  const { appId, nowMs, binding } = call;
  const outcome = await uploads.take(
    {
      appId,
      file: body,
      settings: {
        format: values.format,
        deviceId: values.device_id,
        userId: binding.userId as UserId | null,
        zone: values.timezone?.name ?? null,
        times: { oldestMs: retention.startMs(nowMs), newestMs: nowMs + FUTURE_MAX_MS },
      },
      isDryRun: values.dry_run,
      skipOld: values.skip_old,
    },
    call.request,
  );
  if (!outcome.ok) return call.fail(outcome.error);
  counts.accepted += outcome.value.stored?.accepted ?? 0;
  counts.duplicates += outcome.value.stored?.duplicates ?? 0;
  counts.rejected += outcome.value.stored?.blocked ?? 0;
  return call.object(answerOf(outcome.value), 200);
}

function answerOf({ survey, known, stored }: UploadOutcome): ValueOf<typeof answer> {
  const { format, reason, fault, lines, tally } = survey;
  const { remarks, leftOut, unreadable, extent } = tally;
  const blocked = stored?.blocked ?? 0;
  const points = tally.points - blocked;
  const refused: SkipCount[] = [{ reason: "rejected", message: ERASED, count: blocked, places: [] }];
  const skips = [...tally.skips, ...(blocked === 0 ? [] : refused)];
  const skipped = skips.reduce((sum, skip) => sum + skip.count, 0);
  const leftOutByField = new Map<string, number>();
  for (const [field, times] of [...leftOut, ...unreadable])
    leftOutByField.set(field, (leftOutByField.get(field) ?? 0) + times);
  return {
    success: true,
    dry_run: stored === null,
    format,
    recognized_by: reason,
    ...(fault === null ? {} : { fault }),
    read: points + skipped,
    usable: points,
    skipped,
    ...(stored === null
      ? known === null
        ? {}
        : { already_there: known }
      : { new: stored.created, already_there: stored.alreadyThere, same_time: stored.sameTime }),
    skips: skips.map(({ reason: word, message, count: times, places }) => ({
      reason: word,
      message: message ?? SKIP_REASONS[word],
      count: times,
      places: places.map((place) => place.slice(place.lastIndexOf(PLACE_MARK) + PLACE_MARK.length)),
    })),
    remarks: remarks.map(([remark, times]) => ({ remark, message: REMARKS[remark], count: times })),
    left_out: [...leftOutByField].map(([field, times]) => ({ field, count: times })),
    devices: (extent?.devices ?? []).slice(0, DEVICES_MAX),
    has_more_devices: extent !== null && (extent.hasMoreDevices || extent.devices.length > DEVICES_MAX),
    ...(extent === null
      ? {}
      : {
          first: extent.firstMs,
          last: extent.lastMs,
          bounds: [extent.west, extent.south, extent.east, extent.north],
        }),
    ...(stored === null ? { lines } : { sequence: stored.sequence }),
  };
}
