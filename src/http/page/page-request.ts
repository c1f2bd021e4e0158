/*
 * Which requests are the map page's own. A session counts for these alone: a page of another origin can't set the
 * header unless CORS lets it, which never allows this one, and its browser says itself where a request comes from
 * (not on plain http outside this machine, where browsers don't send Sec-Fetch-Site).
 */

/** The map, or what a share link leads to. */
export type Page = "map" | "share";

/** By the value of the header. */
const PAGES: ReadonlyMap<string | null, Page> = new Map([
  ["1", "map"],
  ["share", "share"],
]);

/** The page that asks; null where none of ours does. */
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
