import type { ClientMessage } from "../client.ts";

/*
 * Which of OwnTracks' apps sends, by its headers, on whichever path it came.
 */

type Headers = ClientMessage["headers"];

export function isAndroidApp(headers: Headers): boolean {
  return headers["user-agent"]?.startsWith("Owntracks-Android/") === true;
}

/**
 * Whether it is the app for iOS, which deletes what any 4xx answers. It has no User-Agent of its own, but names its
 * device in a header, as the one for Android does.
 */
export function deletesWhatIsRefused(headers: Headers): boolean {
  return headers["x-limit-d"] !== undefined && !isAndroidApp(headers);
}
