import { DEFAULT_GAP_MS } from "../../../formats/write/record-writer.ts";
import { ok, type Result } from "../../../lib/result.ts";
import type { ServiceError } from "../../../model/errors.ts";
import type { AppId, UserId } from "../../../model/ids.ts";
import { dayCount, dayRange, type LocalDate, today } from "../../../model/time/range.ts";
import { MS_PER_SECOND } from "../../../model/time/units.ts";
import { UTC, type Zone } from "../../../model/time/zone.ts";
import {
  EXPORT_FORMATS,
  type ExportFormat,
  type ExportQuery,
} from "../../../service/export/export-formats.ts";
import { NO_FILE } from "../../answer/piecewise.ts";
import { queryEndpoint } from "../../endpoint.ts";
import { missingDevice, UNKNOWN_DEVICE } from "../../openapi/responses.ts";
import { date, timezone } from "../../parameters/common.ts";
import { choice, flag, numberParameter, optionalNumber, severalTexts } from "../../parameters/kinds.ts";
import { invalid } from "../../parameters/parameter.ts";
import { optionalUserId } from "../../parameters/path-parameter.ts";

const GAP_SECONDS_MAX = 365 * 86_400;
const SIMPLIFY_METERS_MAX = 100_000;
/** A URL has room for a few more. For many devices, export all. */
const DEVICES_MAX = 100;

const FORMATS: readonly string[] = EXPORT_FORMATS.map(({ name }) => name);
const MEDIA_TYPES = [...new Set(EXPORT_FORMATS.map(({ mediaType }) => mediaType.split(";")[0]!))];

const query = {
  format: choice("The file format.", FORMATS, "ndjson"),
  start_date: date("First day, YYYY-MM-DD. Defaults to today."),
  end_date: date("Last day, YYYY-MM-DD. Defaults to today. Any number of days."),
  timezone,
  device_id: severalTexts("Only this device; may be repeated. Defaults to all devices.", DEVICES_MAX),
  user_id: optionalUserId,
  gap: numberParameter(
    "number",
    {
      description: "Seconds of silence after which tracks of gpx, kml and kmz start a new segment.",
      minimum: 1,
      maximum: GAP_SECONDS_MAX,
    },
    DEFAULT_GAP_MS / MS_PER_SECOND,
  ),
  simplify: optionalNumber("number", {
    description: "Meters: omits positions that are this near to the track without them. The file says so.",
    minimum: 0,
    maximum: SIMPLIFY_METERS_MAX,
  }),
  redact: flag("Replaces device names by numbers and omits users.", "boolean"),
  originals: flag(
    "Writes records as they were reported, without corrections. The key needs the permission edit as well.",
    "boolean",
  ),
  rs: flag("For geojsonseq: begins each line with RFC 8142's record separator.", "boolean"),
};

export const appExport = queryEndpoint({
  operationId: "exportLocations",
  tag: "App",
  summary: "Records as a file",
  description: [
    "All records of a range of days, from one device or many, as a file in a format that other programs read. Ordered by",
    "timestamp, then device_id; formats with tracks are ordered by device. Records beyond the retention are not included.",
    "The file is created while it is sent, as fast as the client reads. If it can't be completed, the connection closes",
    "before HTTP's end of the body. A client that reads nothing for a minute is disconnected. An app may have two exports",
    "running, and the server four.",
  ].join("\n"),
  path: "/api/v1/export",
  inPath: {},
  query,
  wrongQuery: "format=pdf",
  answer: {
    contentType: MEDIA_TYPES,
    description: [
      "The file, as an attachment with a name; its media type is that of its format.",
      "`Wherehouse-Incomplete: true` if it lacks records whose loss an operator has acknowledged.",
    ].join("\n"),
    schema: { description: "The file." },
  },
  failures: {
    404: missingDevice("DeviceError", UNKNOWN_DEVICE),
  },
  open({ exports }) {
    return async (call, values) => {
      if (values.originals && !call.may("edit"))
        return call.fail({ kind: "permission_missing", permission: "edit" });
      const read = readQuery(call.appId, values, call.nowMs);
      if (!read.ok) return call.fail(read.error);
      const { query, format, name } = read.value;
      if (call.request.method === "HEAD") {
        const described = await exports().describe(query);
        return described.ok
          ? call.file({ ...format, name, ...described.value, file: NO_FILE })
          : call.fail(described.error);
      }
      const started = await exports().start(query, call.request);
      if (!started.ok) return call.fail(started.error);
      const file = started.value;
      return call.file({ ...format, name, isIncomplete: file.isIncomplete, file });
    };
  },
});

interface Values {
  readonly format: string;
  readonly start_date: LocalDate | null;
  readonly end_date: LocalDate | null;
  readonly timezone: Zone | null;
  readonly device_id: readonly string[];
  readonly user_id: UserId | null;
  readonly gap: number;
  readonly simplify: number | null;
  readonly redact: boolean;
  readonly originals: boolean;
  readonly rs: boolean;
}

interface AskedFile {
  readonly query: ExportQuery;
  readonly format: ExportFormat;
  readonly name: string;
}

function readQuery(appId: AppId, values: Values, nowMs: number): Result<AskedFile, ServiceError> {
  const format = EXPORT_FORMATS.find(({ name }) => name === values.format)!;
  const zone = values.timezone ?? UTC;
  const startDate = values.start_date ?? today(zone, nowMs);
  const endDate = values.end_date ?? today(zone, nowMs);
  if (dayCount(startDate, endDate) < 1) return invalid("start_date must not be after end_date");
  if (values.simplify !== null && !format.marksSimplified)
    return invalid(`simplify is not available for ${format.name}, which can't say that it is simplified`);
  if (values.rs && format.name !== "geojsonseq") return invalid("rs is for geojsonseq");
  const query: ExportQuery = {
    appId,
    deviceIds: values.device_id.length === 0 ? null : values.device_id,
    userId: values.user_id,
    range: dayRange(startDate, endDate, zone),
    originals: values.originals,
    format: format.name,
    options: {
      zone: values.timezone,
      redact: values.redact,
      recordSeparator: values.rs,
      gapMs: values.gap * MS_PER_SECOND,
      simplifyMeters: values.simplify,
    },
  };
  const days = startDate === endDate ? startDate : `${startDate}-${endDate}`;
  return ok({ query, format, name: `locations-${days}${format.extension}` });
}
