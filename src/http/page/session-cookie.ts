import type { SessionLookup, Sessions } from "../../auth/sessions.ts";
import { askingPage, isByHttps } from "../request.ts";

/** The cookie that holds a session: kept from scripts, and sent by pages of this host alone. */

/**
 * By https, of a name that browsers let this host alone set, and by https: another host of the same domain, or whoever
 * is on the way to this one by http, can sign nobody in as somebody else.
 */
const HOSTS_OWN = "__Host-";

/** The session of a share link stands beside one's own: who opens a link, or follows somebody's, stays signed in. */
const OF_SHARE = "_share";

const ATTRIBUTES = "HttpOnly; SameSite=Strict; Path=/";

/** For the header `Set-Cookie` of the answer to a page. */
export function sessionCookie(request: Request, cookieName: string, value: string, lifeMs: number): string {
  const maxAge = Math.floor(lifeMs / 1000);
  const secure = isByHttps(request) ? "; Secure" : "";
  return `${nameFor(request, cookieName)}=${value}; Max-Age=${maxAge}; ${ATTRIBUTES}${secure}`;
}

/** What looks up who is signed in, now and later; null where no session came with the request. */
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

/** The value of a cookie; null where there is none. Of two that differ nobody knows who set them, so they are "". */
function cookieValue(header: string | null, name: string): string | null {
  let value: string | null = null;
  for (const pair of (header ?? "").split(";")) {
    // Not `trim`: it would take away a byte A0 before `__Host-`, by which a browser takes the name for anybody's.
    const text = pair.replace(/^[ \t]+/, "");
    if (!text.startsWith(`${name}=`)) continue;
    const found = text.slice(name.length + 1);
    if (value !== null && value !== found) return "";
    value = found;
  }
  return value;
}
