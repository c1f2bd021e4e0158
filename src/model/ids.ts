/** Names of things, kept apart by the compiler: a `DeviceId` is not an `AppId`, though both are text. */
export type AppId = string & { readonly brand: "AppId" };
export type DeviceId = string & { readonly brand: "DeviceId" };
export type UserId = string & { readonly brand: "UserId" };

/** The user of reports that name none. It can't be asked for, since it is nobody in particular. */
export const ANONYMOUS = "ANONYMOUS" as UserId;

/** Safe as a directory name, in a Parquet partition and in a log line, without any escaping. */
const APP_ID = /^[A-Za-z0-9._-]{1,64}$/;

/** The app's id, or null if the text is no id. `.` and `..` are refused: they name other directories. */
export function parseAppId(text: string): AppId | null {
  return APP_ID.test(text) && text !== "." && text !== ".." ? (text as AppId) : null;
}
