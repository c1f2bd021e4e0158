/** Distinct types of text: a `DeviceId` is not an `AppId`. */
export type AppId = string & { readonly brand: "AppId" };
export type DeviceId = string & { readonly brand: "DeviceId" };
export type UserId = string & { readonly brand: "UserId" };

/** The user of reports that name none. It is not a user that a client can query. */
export const ANONYMOUS = "ANONYMOUS" as UserId;

/** Needs no escaping as a directory name, in a Parquet partition or in a log line. */
const APP_ID = /^[A-Za-z0-9._-]{1,64}$/;

/** The app's id, or null if the text is not valid. `.` and `..` are invalid: they name other directories. */
export function parseAppId(text: string): AppId | null {
  return APP_ID.test(text) && text !== "." && text !== ".." ? (text as AppId) : null;
}
