import type { SessionLookup, Sessions } from "../../auth/sessions/sessions.ts";
import { isByHttps } from "./page-request.ts";

/** The cookie that holds a session: kept from scripts, and sent by pages of this host alone. */

/**
 * By https, of a name that browsers let this host alone set, and by https: another host of the same domain, or whoever
 * is on the way to this one by http, can sign nobody in as somebody else.
 */
const HOSTS_OWN = "__Host-";

const ATTRIBUTES = "HttpOnly; SameSite=Strict; Path=/";

/** For the header `Set-Cookie`. */
export function sessionCookie(name: string, value: string, lifeMs: number, isSecure: boolean): string {
  const maxAge = Math.floor(lifeMs / 1000);
  return `${isSecure ? HOSTS_OWN : ""}${name}=${value}; Max-Age=${maxAge}; ${ATTRIBUTES}${isSecure ? "; Secure" : ""}`;
}

/** What looks up who is signed in, now and later; null where no session came with the request. */
export function sessionLookup(
  sessions: Pick<Sessions, "cookieName" | "find">,
  request: Request,
): (() => SessionLookup) | null {
  const { cookieName } = sessions;
  if (cookieName === null) return null;
  const name = isByHttps(request) ? HOSTS_OWN + cookieName : cookieName;
  const text = cookieValue(request.headers.get("cookie"), name);
  return text === null ? null : () => sessions.find(text);
}

/** The value of a cookie; null where there is none. Of two that differ nobody knows who set them, so they are "". */
function cookieValue(header: string | null, name: string): string | null {
  let value: string | null = null;
  for (const pair of (header ?? "").split(";")) {
    const text = pair.trim();
    if (!text.startsWith(`${name}=`)) continue;
    const found = text.slice(name.length + 1);
    if (value !== null && value !== found) return "";
    value = found;
  }
  return value;
}
