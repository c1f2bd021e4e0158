import type { AppId } from "./ids.ts";

/** Safe as a directory name, in a Parquet partition and in a log line, without any escaping. */
const APP_ID = /^[A-Za-z0-9._-]{1,64}$/;

/** The app's id, or null where the text is none. `.` and `..` are refused: they name other directories. */
export function parseAppId(text: string): AppId | null {
  return APP_ID.test(text) && text !== "." && text !== ".." ? (text as AppId) : null;
}
