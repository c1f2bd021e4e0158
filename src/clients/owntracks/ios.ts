import type { ClientMessage } from "../client.ts";

/**
 * Whether the sender is OwnTracks for iOS, which deletes what any 4xx answers, on whichever path it came. It has no
 * User-Agent of its own, but names its device in a header, as the one for Android does, which tells itself by its
 * User-Agent.
 */
export function deletesWhatIsRefused(headers: ClientMessage["headers"]): boolean {
  const isAndroid = headers["user-agent"]?.startsWith("Owntracks-Android/") === true;
  return headers["x-limit-d"] !== undefined && !isAndroid;
}
