import type { ReferenceQuery } from "../../reference/query.ts";
import { BASE_MS } from "../reports/arbitrary-reports.ts";

/** What is asked of every endpoint that shows records, in the tests of corrections. */

const DAY_MS = 86_400_000;

export const DEVICES = ["a", "ä", "\u{1F68C}"];
/** One may get records of another, and one is unknown. */
const ASKED_DEVICES = [...DEVICES, "new", "stranger"];
const USERS = ["u", "v", "w"];
const ALL_DAYS = { start_date: "2026-01-13", end_date: "2026-01-16" };
const ONE_DAY = { start_date: "2026-01-14", end_date: "2026-01-14" };

/** Questions that the reference answers with plain loops. */
export const QUERIES: readonly ReferenceQuery[] = [
  ...ASKED_DEVICES.flatMap((device): ReferenceQuery[] => [
    { endpoint: "deviceCurrent", device, parameters: {} },
    { endpoint: "deviceHistory", device, parameters: { ...ALL_DAYS, timezone: "Asia/Kolkata" } },
    {
      endpoint: "deviceHistory",
      device,
      parameters: { ...ALL_DAYS, order: "desc", offset: 1, limit: 2, min_accuracy: 50 },
    },
    { endpoint: "deviceHistory", device, parameters: { ...ONE_DAY, distance_travelled: true } },
  ]),
  ...USERS.flatMap((user): ReferenceQuery[] => [
    { endpoint: "userCurrent", user, parameters: {} },
    { endpoint: "userDevices", user, parameters: {} },
    { endpoint: "userHistory", user, parameters: ALL_DAYS },
    { endpoint: "userHistory", user, parameters: { ...ONE_DAY, distance_travelled: true } },
  ]),
  { endpoint: "appHistory", parameters: ALL_DAYS },
  {
    endpoint: "appHistory",
    parameters: { start_date: "2026-01-14", end_date: "2026-01-15", offset: 3, limit: 4, min_accuracy: 50 },
  },
  { endpoint: "appCurrent", parameters: {} },
  { endpoint: "appCurrent", parameters: { offset: 1, limit: 1 } },
  { endpoint: "nearby", parameters: { latitude: 42.36, longitude: -71.05, max_age_hours: 8760 } },
  { endpoint: "nearby", parameters: { latitude: 0, longitude: 0, max_age_hours: 8760, radius_miles: 50 } },
];

const RANGE = `start=${BASE_MS - 2 * DAY_MS}&end=${BASE_MS + 2 * DAY_MS}`;

/** Questions that are put to a service which got the corrected reports, too. */
export const PATHS: readonly string[] = [
  ...ASKED_DEVICES.flatMap((id) => {
    const path = `/api/v1/devices/${encodeURIComponent(id)}`;
    return [
      `${path}/track?${RANGE}`,
      `${path}/series?${RANGE}&fields=speed`,
      `${path}/stops?${RANGE}`,
      `${path}/days?start_date=2026-01-13&end_date=2026-01-16`,
      `${path}/outliers?${RANGE}&max_accuracy=40`,
    ];
  }),
  "/api/v1/locations/current/columns",
  "/api/v1/devices",
  `/api/v1/tracks?${RANGE}`,
  `/api/v1/density?${RANGE}&zoom=3`,
  `/api/v1/tiles/0/0/0.mvt?layer=density&${RANGE}`,
  "/api/v1/tiles/0/0/0.mvt?layer=current",
];

/** Files, each of which takes longer than all other questions. */
export const EXPORT_PATHS: readonly string[] = ["ndjson", "gpx", "csv"].map(
  (format) => `/api/v1/export?format=${format}&start_date=2026-01-13&end_date=2026-01-16`,
);

/** What an answer may repeat for some minutes after new reports. */
export const KEPT_MS = 10 * 60_000;
export const KEPT_PATHS: readonly string[] = ["/api/v1/tiles/0/0/0.mvt?layer=tracks"];
