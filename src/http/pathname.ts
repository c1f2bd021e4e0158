/**
 * The path of a request's URL, as it was sent. Cut out by hand: `new URL` throws where a client sent a `Host`
 * that is none, and a request must be answered all the same.
 */
export function pathnameOf(url: string): string {
  const start = url.indexOf("/", url.indexOf("://") + 3);
  const end = url.search(/[?#]/);
  return start < 0 ? "/" : url.slice(start, end < 0 ? url.length : end);
}

/** The path and the query, likewise. */
export function targetOf(url: string): string {
  const query = url.indexOf("?");
  return query < 0 ? pathnameOf(url) : pathnameOf(url) + url.slice(query);
}
