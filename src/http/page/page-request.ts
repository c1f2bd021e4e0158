/*
 * Which requests are the map page's own. A session counts for these alone: a page of another origin can't set the
 * header unless CORS lets it, which never allows this one, and its browser says itself where a request comes from
 * (not on plain http outside this machine, where browsers don't send Sec-Fetch-Site).
 */

export function isFromPage({ headers }: Request): boolean {
  if (headers.get("x-wherehouse-page") !== "1") return false;
  const site = headers.get("sec-fetch-site");
  return site === null || site === "same-origin";
}

/**
 * Whether the browser sent it by https, to the proxy before us. Who forges the header has a cookie of their own that
 * goes by https alone.
 */
export function isByHttps({ headers }: Request): boolean {
  const [byBrowser = ""] = (headers.get("x-forwarded-proto") ?? "").split(",", 1);
  return byBrowser.trim().toLowerCase() === "https";
}
