/**
 * An address of the map that signs in by a code. What stands behind the `#` is sent to nobody by a browser, so it is in
 * no log. A server that listens at all addresses is at this machine's own too.
 */
export function mapLink(serverUrl: string, code: string): string {
  const url = new URL(`${serverUrl}/map`);
  if (url.hostname === "0.0.0.0" || url.hostname === "[::]") url.hostname = "localhost";
  url.hash = `code=${code}`;
  return url.href;
}
