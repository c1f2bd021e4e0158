/* What a request says before its body: its method and path, and whether a page of ours sent it. */

/** Methods that endpoints take; HEAD is answered as GET. */
export type Method = "GET" | "POST" | "DELETE";

/**
 * The path of a request's URL, as it was sent. Cut out by hand: `new URL` throws if a client sent a `Host`
 * that is none, and such a request must be answered too.
 */
export function pathnameOf(url: string): string {
  const start = url.indexOf("/", url.indexOf("://") + 3);
  const end = url.search(/[?#]/);
  return start < 0 ? "/" : url.slice(start, end < 0 ? url.length : end);
}

/** The path and the query of a request's URL, as they were sent. */
export function targetOf(url: string): string {
  const query = url.indexOf("?");
  return query < 0 ? pathnameOf(url) : pathnameOf(url) + url.slice(query);
}

/** A page of ours: the map, or the page that a share link leads to. */
export type Page = "map" | "share";

/** By the value of the header. */
const PAGES: ReadonlyMap<string | null, Page> = new Map([
  ["1", "map"],
  ["share", "share"],
]);

/**
 * The page of ours that asks; null if none does. A session counts for its requests alone: a page of another origin
 * can't set the header, which CORS never allows, and its browser says where a request comes from (but on plain http
 * outside this machine, where browsers don't send Sec-Fetch-Site).
 */
export function askingPage({ headers }: Request): Page | null {
  const site = headers.get("sec-fetch-site");
  const isOurs = site === null || site === "same-origin";
  return isOurs ? (PAGES.get(headers.get("x-wherehouse-page")) ?? null) : null;
}

export function isFromPage(request: Request): boolean {
  return askingPage(request) !== null;
}

/**
 * Whether the browser sent it by https, to the proxy before us. Whoever forges the header has a cookie of their own
 * that goes by https alone.
 */
export function isByHttps({ headers }: Request): boolean {
  const [byBrowser = ""] = (headers.get("x-forwarded-proto") ?? "").split(",", 1);
  return byBrowser.trim().toLowerCase() === "https";
}
