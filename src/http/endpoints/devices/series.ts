import { mapMaybe } from "../../../lib/schedule/maybe-promise.ts";
import { NUMBER_FIELDS, type NumberFieldName, type StoredField } from "../../../model/location-fields.ts";
import { type Series, SeriesReading } from "../../../service/queries/series.ts";
import { type Column, jsonColumns } from "../../encode/json-columns.ts";
import { queryEndpoint } from "../../endpoint.ts";
import { missingDevice, UNKNOWN_DEVICE } from "../../openapi/responses.ts";
import { numberParameter, severalWords } from "../../parameters/kinds.ts";
import { deviceId } from "../../parameters/path-parameter.ts";
import { instants, RANGE_DAYS_MAX, readInstants } from "../../parameters/ranges.ts";
import { incomplete } from "../../shapes/history.ts";
import { EXAMPLE_REPORT, fieldSchema } from "../../shapes/record-schemas.ts";
import { always, object, optional, plain, text } from "../../shapes/shape.ts";

const BUCKETS_MAX = 4000;

/** The type lists the same rows of the table. */
const NAMES = NUMBER_FIELDS.map(({ name }) => name as NumberFieldName);

const MEASURES = ["min", "max", "last"] as const;

const column = (items: object) => plain<readonly number[]>({ type: "array", items });

function columnsOf(field: StoredField) {
  const values = column({ ...fieldSchema(field), nullable: true });
  return MEASURES.map((measure) => [`${field.name}_${measure}`, optional(values)] as const);
}

const answer = object({
  success: always(true),
  device_id: text("The requested device."),
  incomplete: optional(incomplete),
  timestamp: column({ type: "integer", format: "int64", description: "Last record of a bucket, Unix ms." }),
  ...Object.fromEntries(NUMBER_FIELDS.flatMap(columnsOf)),
});

export const deviceSeries = queryEndpoint({
  operationId: "getDeviceSeries",
  tag: "Devices",
  summary: "Speed, altitude, battery or any numeric field of a device over time",
  description: [
    "For plots: the range is divided into equal buckets. For each bucket with records there are the time of its last one,",
    "and the least, greatest and last value of each field; null if no record of the bucket has it. Oldest first. At most",
    `${RANGE_DAYS_MAX} days.`,
  ].join(" "),
  path: "/api/v1/devices/:deviceId/series",
  inPath: { deviceId },
  query: {
    ...instants,
    fields: severalWords("The fields to plot.", NAMES, ["speed"]),
    buckets: numberParameter(
      "integer",
      { description: "The number of buckets.", minimum: 1, maximum: BUCKETS_MAX },
      1200,
    ),
  },
  wrongQuery: "start=1&end=2&buckets=4001",
  answer: {
    name: "DeviceSeries",
    description: "The values.",
    shape: answer,
    example: {
      success: true,
      device_id: EXAMPLE_REPORT.device_id,
      timestamp: [1_774_012_603_000, 1_774_012_690_000],
      speed_min: [7.9, null],
      speed_max: [12.4, null],
      speed_last: [8.3, null],
    },
  },
  failures: { 404: missingDevice("DeviceError", UNKNOWN_DEVICE) },
  versionOf: ({ versions }, { appId }, { deviceId }) => versions.ofDevice(appId, deviceId),
  open({ readPositions }) {
    return (call, { deviceId, fields, buckets, ...values }) => {
      const range = readInstants(values);
      if (!range.ok) return call.fail(range.error);
      const query = { deviceId, range: range.value, fields };
      const begin = () => new SeriesReading(query.range, buckets, fields.length);
      return mapMaybe(readPositions(call.appId, query, call.request, begin), (read) => {
        if (!read.ok) return call.fail(read.error);
        const members = {
          success: true,
          device_id: deviceId,
          ...(read.value.isIncomplete ? { incomplete: true } : {}),
        };
        return call.pieces(jsonColumns(members, columnsFrom(read.value.value, fields)));
      });
    };
  },
});

function columnsFrom({ timestampMs, fields }: Series, names: readonly NumberFieldName[]): readonly Column[] {
  const values = fields.flatMap((field, index) =>
    MEASURES.map((measure) => ({ name: `${names[index]!}_${measure}`, blocks: [field[measure]] })),
  );
  return [{ name: "timestamp", blocks: [timestampMs] }, ...values];
}
