import type { SessionLookup, Sessions } from "../../auth/sessions.ts";
import { askingPage, isByHttps } from "../request.ts";

/** The session cookie: not readable by scripts, and sent only by pages of this host. */

/**
 * With https the cookie has a name that browsers let only this host set, and only over https. Otherwise another host of
 * the domain, or an attacker on an http connection, could sign a person in as someone else.
 */
const HOSTS_OWN = "__Host-";

/** A share link's session has its own cookie, so that people who open a link stay signed in as themselves. */
const OF_SHARE = "_share";

const ATTRIBUTES = "HttpOnly; SameSite=Strict; Path=/";

export function sessionCookie(request: Request, cookieName: string, value: string, lifeMs: number): string {
  const maxAge = Math.floor(lifeMs / 1000);
  const secure = isByHttps(request) ? "; Secure" : "";
  return `${nameFor(request, cookieName)}=${value}; Max-Age=${maxAge}; ${ATTRIBUTES}${secure}`;
}

/** Looks up the session of a request, now and later; null if the request has none. */
export function sessionLookup(
  sessions: Pick<Sessions, "cookieName" | "find">,
  request: Request,
): (() => SessionLookup) | null {
  const { cookieName } = sessions;
  if (cookieName === null) return null;
  const text = cookieValue(request.headers.get("cookie"), nameFor(request, cookieName));
  return text === null ? null : () => sessions.find(text);
}

function nameFor(request: Request, cookieName: string): string {
  const name = askingPage(request) === "share" ? cookieName + OF_SHARE : cookieName;
  return isByHttps(request) ? HOSTS_OWN + name : name;
}

/** The value of a cookie; null if there is none. Two different values give "", because either may be forged. */
function cookieValue(header: string | null, name: string): string | null {
  let value: string | null = null;
  for (const pair of (header ?? "").split(";")) {
    // Not `trim`, which removes a byte A0 before `__Host-`; to browsers that is a name that any host may set.
    const text = pair.replace(/^[ \t]+/, "");
    if (!text.startsWith(`${name}=`)) continue;
    const next = text.slice(name.length + 1);
    if (value !== null && value !== next) return "";
    value = next;
  }
  return value;
}
