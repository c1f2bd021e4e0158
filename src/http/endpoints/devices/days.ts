import { today } from "../../../model/time/range.ts";
import { MS_PER_SECOND } from "../../../model/time/units.ts";
import { UTC } from "../../../model/time/zone.ts";
import type { DaySummary } from "../../../service/queries/days.ts";
import { queryEndpoint } from "../../endpoint.ts";
import { missingDevice, UNKNOWN_DEVICE } from "../../openapi/responses.ts";
import { dates, timezone } from "../../parameters/common.ts";
import { deviceId } from "../../parameters/path-parameter.ts";
import { readDates } from "../../parameters/ranges.ts";
import { incomplete } from "../../shapes/history.ts";
import { EXAMPLE_REPORT } from "../../shapes/record-schemas.ts";
import { always, amount, count, instant, object, optional, plain, text } from "../../shapes/shape.ts";

const day = object(
  {
    date: text("The local day, YYYY-MM-DD."),
    reports: count("Reports of the day."),
    distance_meters: amount("Length of the path between stops, as in the answer about the day's stops."),
    moving_seconds: amount("Time outside stops and outside silences of more than 10 minutes."),
    stops: count("Stops of at least 5 minutes within 100 m."),
    speed_max: optional(amount("The greatest reported speed, meters per second.")),
    first: instant("The first report, Unix ms."),
    last: instant("The last report, Unix ms."),
  },
  "A day with reports.",
);

const answer = object({
  success: always(true),
  device_id: text("The requested device."),
  timezone: text("The zone of the days."),
  incomplete: optional(incomplete),
  days: plain<readonly object[]>({ type: "array", items: day.schema }),
});

export const deviceDays = queryEndpoint({
  operationId: "getDeviceDays",
  tag: "Devices",
  summary: "Reports, distance and time in motion of a device, day by day",
  description: [
    "For calendars and statistics: the local days with reports, oldest first. Distance, time in motion and stops are",
    "exact, and equal to those of a request for the day's stops with the default rule. At most 366 days.",
  ].join(" "),
  path: "/api/v1/devices/:deviceId/days",
  inPath: { deviceId },
  query: { ...dates, timezone },
  wrongQuery: "start_date=2026-02-30",
  answer: {
    name: "DeviceDays",
    description: "The days.",
    shape: answer,
    example: {
      success: true,
      device_id: EXAMPLE_REPORT.device_id,
      timezone: "Europe/London",
      days: [
        {
          date: "2026-03-20",
          reports: 1311,
          distance_meters: 81_923.4,
          moving_seconds: 11_940,
          stops: 6,
          speed_max: 15.2,
          first: 1_774_012_603_000,
          last: 1_774_043_118_000,
        },
      ],
    },
  },
  failures: { 404: missingDevice("DeviceError", UNKNOWN_DEVICE) },
  versionOf: ({ versions }, { appId, nowMs }, { deviceId, timezone }) =>
    [versions.ofDevice(appId, deviceId), today(timezone ?? UTC, nowMs)].join(" "),
  open({ deviceDays: find }) {
    return async (call, { deviceId, timezone, ...values }) => {
      const zone = timezone ?? UTC;
      const dated = readDates(values, zone, call.nowMs);
      if (!dated.ok) return call.fail(dated.error);
      const { startDate: start, endDate: end } = dated.value;
      const result = await find(call.appId, { deviceId, start, end, zone }, call.request);
      if (!result.ok) return call.fail(result.error);
      const body = {
        success: true,
        device_id: deviceId,
        timezone: zone.name,
        ...(result.value.isIncomplete ? { incomplete: true } : {}),
        days: result.value.value.map(membersOf),
      };
      return call.object(body, 200);
    };
  },
});

function membersOf({
  date,
  reports,
  distanceMeters,
  movingMs,
  stops,
  speedMax,
  firstMs,
  lastMs,
}: DaySummary) {
  return {
    date,
    reports,
    distance_meters: distanceMeters,
    moving_seconds: movingMs / MS_PER_SECOND,
    stops,
    ...(speedMax === null ? {} : { speed_max: speedMax }),
    first: firstMs,
    last: lastMs,
  };
}
