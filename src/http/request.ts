/* Properties of a request without its body: its method and path, and whether the map page sent it. */

/** Methods of endpoints; HEAD is answered as GET. */
export type Method = "GET" | "POST" | "PUT" | "DELETE";

/** The path as sent. Parsed by hand: `new URL` throws on an invalid `Host`, and such a request needs an answer too. */
export function pathnameOf(url: string): string {
  const start = url.indexOf("/", url.indexOf("://") + 3);
  const end = Math.min(endAt(url, "?"), endAt(url, "#"));
  return start < 0 ? "/" : url.slice(start, end);
}

function endAt(url: string, mark: "?" | "#"): number {
  const at = url.indexOf(mark);
  return at < 0 ? url.length : at;
}

/** The segment of a path at an index, without the array that `split` would create; empty if there is none. */
export function segmentAt(pathname: string, index: number): string {
  let start = 0;
  for (let passed = 0; passed < index; passed++) {
    const slash = pathname.indexOf("/", start);
    if (slash < 0) return "";
    start = slash + 1;
  }
  const end = pathname.indexOf("/", start);
  return pathname.slice(start, end < 0 ? pathname.length : end);
}

export function targetOf(url: string): string {
  const query = url.indexOf("?");
  return query < 0 ? pathnameOf(url) : pathnameOf(url) + url.slice(query);
}

/** The map, or the page that a share link opens. */
export type Page = "map" | "share";

const PAGES: ReadonlyMap<string | null, Page> = new Map([
  ["1", "map"],
  ["share", "share"],
]);

/**
 * The page of this server that sent the request, or null. Only its requests may use a session: a page of another origin
 * can't set the header, because CORS never allows it, and its browser reports where a request comes from (except on
 * plain http outside this machine, where browsers don't send Sec-Fetch-Site).
 */
export function askingPage({ headers }: Request): Page | null {
  const site = headers.get("sec-fetch-site");
  const isOurs = site === null || site === "same-origin";
  return isOurs ? (PAGES.get(headers.get("x-wherehouse-page")) ?? null) : null;
}

export function isFromPage(request: Request): boolean {
  return askingPage(request) !== null;
}

/** Whether the browser used https to reach the proxy. Forging the header only makes one's own cookie https-only. */
export function isByHttps({ headers }: Request): boolean {
  const [byBrowser = ""] = (headers.get("x-forwarded-proto") ?? "").split(",", 1);
  return byBrowser.trim().toLowerCase() === "https";
}
