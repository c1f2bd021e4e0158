import type { Members } from "../../../clients/reading/values.ts";
import { PROFILE_FIELDS, STATE_FIELDS } from "../../../model/location-fields.ts";
import type { FileDetails } from "../file-point.ts";

/** What a record carries in words, but for its user, who is no detail. */
const WORDS = [...PROFILE_FIELDS, ...STATE_FIELDS].filter(({ name }) => name !== "user_id");

/** Whether a Feature was written by this program, so that words in it are ours: milliseconds beside an ISO time. */
export function isOwn({ timestamp, time }: Members): boolean {
  return typeof timestamp === "number" && timestamp >= 1e11 && typeof time === "string";
}

export function readOwnTexts(properties: Members): FileDetails {
  const details: Record<string, unknown> = {};
  for (const { name, type } of WORDS) {
    const value = properties[name];
    if (typeof value === type) details[name] = value;
  }
  return details;
}
