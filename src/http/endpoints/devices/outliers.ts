import {
  OUTLIER_REASONS,
  OUTLIERS_MAX,
  type OutlierReason,
  USUAL_SPEED_MAX,
} from "../../../model/geo/outliers.ts";
import { createFindOutliers } from "../../../service/queries/outliers.ts";
import { queryEndpoint } from "../../endpoint.ts";
import { missingDevice, UNKNOWN_DEVICE } from "../../openapi/responses.ts";
import { optionalNumber } from "../../parameters/kinds.ts";
import { deviceId } from "../../parameters/path-parameter.ts";
import { instants, readInstants } from "../../parameters/ranges.ts";
import { incomplete } from "../../shapes/history.ts";
import { EXAMPLE_REPORT, field } from "../../shapes/record-schemas.ts";
import { always, amount, count, instant, object, optional, plain, text } from "../../shapes/shape.ts";

const DAYS_MAX = 31;

const coordinate = (name: "latitude" | "longitude") => plain<number>(field(name).schema);

const outlier = object({
  timestamp: instant("The position's timestamp, Unix ms."),
  latitude: coordinate("latitude"),
  longitude: coordinate("longitude"),
  reason: plain<OutlierReason>({
    type: "string",
    enum: OUTLIER_REASONS,
    description:
      "jump: too far from both neighbors; zero_position: exactly 0,0; inaccurate: above max_accuracy.",
  }),
  speed_mps: optional(amount("Of a jump: the speed of the slower of its two legs, meters per second.")),
});

const answer = object({
  success: always(true),
  device_id: text("The requested device."),
  incomplete: optional(incomplete),
  max_speed: amount("The applied limit, meters per second."),
  total: count("Outliers of the range, including those above the limit of the list."),
  outliers: plain<readonly object[]>({ type: "array", items: outlier.schema, maxItems: OUTLIERS_MAX }),
});

export const deviceOutliers = queryEndpoint({
  operationId: "getDeviceOutliers",
  tag: "Devices",
  summary: "Positions of a device that are probably wrong",
  description: [
    "Positions at 0,0, positions that are too inaccurate, and jumps: the legs from the position before and to the position",
    "after are both faster than max_speed, although the way past the position is not. A position without a successor is",
    "never an outlier. Oldest first. The documentation has the exact rule. At most",
    `${OUTLIERS_MAX.toLocaleString("en")} outliers of at most ${DAYS_MAX} days.`,
  ].join(" "),
  path: "/api/v1/devices/:deviceId/outliers",
  inPath: { deviceId },
  query: {
    ...instants,
    max_speed: optionalNumber("number", {
      description: [
        `Maximum speed of the device, meters per second. Defaults to ${USUAL_SPEED_MAX}, or to 5 times the 99th`,
        "percentile of the device's speeds in the range if that is greater.",
      ].join(" "),
      minimum: 1,
      maximum: 1_000_000,
    }),
    max_accuracy: optionalNumber("number", {
      description:
        "Positions with a greater horizontal_accuracy, in meters, are outliers. Positions without one are not.",
      minimum: 0,
      maximum: 10_000_000,
    }),
  },
  wrongQuery: "start=1&end=2&max_speed=0",
  answer: {
    name: "DeviceOutliers",
    description: "The outliers.",
    shape: answer,
    example: {
      success: true,
      device_id: EXAMPLE_REPORT.device_id,
      max_speed: 70,
      total: 1,
      outliers: [
        {
          timestamp: 1_774_012_603_000,
          latitude: 53.5413505,
          longitude: -2.9326377,
          reason: "jump",
          speed_mps: 370.9,
        },
      ],
    },
  },
  failures: { 404: missingDevice("DeviceError", UNKNOWN_DEVICE) },
  versionOf: ({ versions }, { appId }, { deviceId }) => versions.ofDevice(appId, deviceId),
  open({ readPositions }) {
    const findOutliers = createFindOutliers(readPositions);
    return async (call, { deviceId, max_speed: speedMax, max_accuracy: accuracyMetersMax, ...values }) => {
      const range = readInstants(values, DAYS_MAX);
      if (!range.ok) return call.fail(range.error);
      const query = { deviceId, range: range.value, speedMax, accuracyMetersMax };
      const result = await findOutliers(call.appId, query, call.request);
      if (!result.ok) return call.fail(result.error);
      const { value, isIncomplete } = result.value;
      const body = {
        success: true,
        device_id: deviceId,
        ...(isIncomplete ? { incomplete: true } : {}),
        max_speed: value.speedMax,
        total: value.total,
        outliers: value.outliers.map(({ timestampMs, latitude, longitude, reason, speed }) => ({
          timestamp: timestampMs,
          latitude,
          longitude,
          reason,
          ...(speed === null ? {} : { speed_mps: speed }),
        })),
      };
      return call.object(body, 200);
    };
  },
});
