import { mapMaybe } from "../../../lib/schedule/maybe-promise.ts";
import type { Places } from "../../../map/places.ts";
import { findDevice } from "../../../service/queries/find-device.ts";
import { type Line, LineBuilder } from "../../../service/queries/track/line-builder.ts";
import { jsonColumns } from "../../encode/json-columns.ts";
import { queryEndpoint } from "../../endpoint.ts";
import { missingDevice, UNKNOWN_DEVICE } from "../../openapi/responses.ts";
import { bbox, places } from "../../parameters/common.ts";
import { numberParameter } from "../../parameters/kinds.ts";
import { deviceId } from "../../parameters/path-parameter.ts";
import { instants, readInstants } from "../../parameters/ranges.ts";
import { incomplete } from "../../shapes/history.ts";
import { place, placeOf } from "../../shapes/place.ts";
import { EXAMPLE_REPORT, field } from "../../shapes/record-schemas.ts";
import { always, amount, count, object, optional, plain, text } from "../../shapes/shape.ts";

/** A line that a browser draws in about a second; some 2 MB. */
const VERTICES_MAX = 50_000;

const column = (name: "timestamp" | "latitude" | "longitude") =>
  plain<readonly number[]>({ type: "array", items: field(name).schema, maxItems: VERTICES_MAX });

const answer = object({
  success: always(true),
  device_id: text("The requested device."),
  total: count("Records in the range, including omitted ones."),
  tolerance_meters: amount(
    "The maximum distance of omitted records from the line. May be greater than requested to limit the line's size.",
  ),
  incomplete: optional(incomplete),
  start_place: optional(place),
  end_place: optional(place),
  gaps: plain<readonly number[]>({
    type: "array",
    items: { type: "integer", minimum: 1 },
    description: "Indexes of positions to which no line leads from the one before.",
  }),
  timestamp: column("timestamp"),
  latitude: column("latitude"),
  longitude: column("longitude"),
});

export const deviceTrack = queryEndpoint({
  operationId: "getDeviceTrack",
  tag: "Devices",
  summary: "Line through the positions of a device",
  description: [
    "The positions of the range, oldest first, in columns. Positions within the tolerance of a line through the others are",
    "omitted; the first and the last always stay. At most 50,000: if there would be more, the tolerance doubles. There is",
    "no line over more than 10 minutes without a record, nor where the device would have been faster than 400 m/s.",
  ].join(" "),
  path: "/api/v1/devices/:deviceId/track",
  inPath: { deviceId },
  query: {
    ...instants,
    tolerance_meters: numberParameter(
      "number",
      {
        description: "Maximum distance of records from the line, in meters.",
        minimum: 0,
        maximum: 1_000_000,
      },
      10,
    ),
    bbox: bbox("Only the part needed to draw the line in this box; total still counts the range."),
    places,
  },
  wrongQuery: "start=yesterday",
  isForViews: true,
  answer: {
    name: "DeviceTrack",
    description: "The line.",
    shape: answer,
    example: {
      success: true,
      device_id: EXAMPLE_REPORT.device_id,
      total: 3,
      tolerance_meters: 10,
      gaps: [1],
      timestamp: [1_773_964_800_000, 1_773_968_400_000],
      latitude: [53.4, 53.41],
      longitude: [-2.9, -2.91],
    },
  },
  failures: { 404: missingDevice("DeviceError", UNKNOWN_DEVICE) },
  versionOf: ({ versions }, { appId }, { deviceId }) => versions.ofDevice(appId, deviceId),
  open(services) {
    const { readPositions, loadPlaces } = services;
    return (call, { deviceId, start, end, tolerance_meters: toleranceMeters, bbox: box, places }) => {
      const requested = readInstants({ start, end });
      if (!requested.ok) return call.fail(requested.error);
      const { view } = call;
      const device = view === null ? null : findDevice(services, call.appId, deviceId, view);
      if (device?.ok === false) return call.fail(device.error);
      const range = view === null ? requested.value : view.rangeOf(requested.value);
      const blur = view === null || view.isExact ? null : view;
      const options = { toleranceMeters, box, blur, verticesMax: VERTICES_MAX };
      const begin = () => new LineBuilder(options);
      const result = readPositions(call.appId, { deviceId, range, fields: [] }, call.request, begin);
      return mapMaybe(result, (read) => {
        if (!read.ok) return call.fail(read.error);
        const { value, isIncomplete } = read.value;
        return mapMaybe(places ? loadPlaces() : null, (loaded) =>
          call.pieces(piecesOf(deviceId, value, isIncomplete, loaded)),
        );
      });
    };
  },
});

function piecesOf(
  deviceId: string,
  line: Line,
  isIncomplete: boolean,
  places: Places | null,
): Iterable<Uint8Array<ArrayBuffer>> {
  const { vertices, total, toleranceMeters } = line;
  const { count, starts, timestampMs, latitude, longitude } = vertices;
  const members = {
    success: true,
    device_id: deviceId,
    total,
    tolerance_meters: toleranceMeters,
    ...(isIncomplete ? { incomplete: true } : {}),
    ...(places === null ? {} : endsOf(line, places)),
  };
  return jsonColumns(members, [
    { name: "gaps", blocks: [Float64Array.from(starts.slice(1))] },
    { name: "timestamp", blocks: [timestampMs.subarray(0, count)] },
    { name: "latitude", blocks: [latitude.subarray(0, count)] },
    { name: "longitude", blocks: [longitude.subarray(0, count)] },
  ]);
}

/** The places of the first and the last position, if there are positions. */
function endsOf({ vertices: { count, latitude, longitude } }: Line, places: Places) {
  if (count === 0) return {};
  const [start_place, end_place] = [0, count - 1].map((index) =>
    placeOf(places, latitude[index]!, longitude[index]!),
  );
  return { start_place, end_place };
}
