/** The address of a server as people write it, without slashes at its end; null where it can't be one. */
export function parseServerUrl(text: string): string | null {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return null;
  if (url.search !== "" || url.hash !== "" || url.username !== "") return null;
  let end = url.href.length;
  while (url.href[end - 1] === "/") end--; // An expression for it takes the square of their number.
  return url.href.slice(0, end);
}
