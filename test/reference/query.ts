import { pathOf } from "../support/test-app.ts";

/** What can be asked of an app's records, and the path that asks it. */

export const ENDPOINTS = [
  "deviceCurrent",
  "deviceHistory",
  "userCurrent",
  "userHistory",
  "userDevices",
  "appCurrent",
  "appHistory",
  "nearby",
] as const;

/** Each endpoint reads what it knows of it. */
export interface ReferenceQuery {
  readonly endpoint: (typeof ENDPOINTS)[number];
  readonly device?: string;
  readonly user?: string;
  readonly parameters: Parameters;
}

/** By their own names. */
export interface Parameters {
  readonly latitude?: number | undefined;
  readonly longitude?: number | undefined;
  readonly radius_miles?: number | undefined;
  readonly max_age_hours?: number | undefined;
  readonly min_accuracy?: number | undefined;
  readonly accuracy?: number | undefined;
  readonly max_age?: number | undefined;
  readonly active_only?: boolean | undefined;
  readonly timestamp_after?: number | undefined;
  readonly timestamp_before?: number | undefined;
  readonly start_date?: string | undefined;
  readonly end_date?: string | undefined;
  readonly distance_travelled?: boolean | undefined;
  readonly order?: "asc" | "desc" | undefined;
  readonly timezone?: string | undefined;
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
}

export function pathOfQuery({ endpoint, device = "", user = "", parameters }: ReferenceQuery): string {
  const [deviceId, userId] = [encodeURIComponent(device), encodeURIComponent(user)];
  const path = {
    deviceCurrent: `/api/v1/devices/${deviceId}/locations/current`,
    deviceHistory: `/api/v1/devices/${deviceId}/locations/history`,
    userCurrent: `/api/v1/users/${userId}/locations/current`,
    userHistory: `/api/v1/users/${userId}/locations/history`,
    userDevices: `/api/v1/users/${userId}/devices`,
    appCurrent: "/api/v1/locations/current",
    appHistory: "/api/v1/locations/history",
    nearby: "/api/v1/devices/nearby",
  }[endpoint];
  return pathOf(path, JSON.parse(JSON.stringify(parameters))); // Without what is undefined.
}
