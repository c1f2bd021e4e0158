/**
 * An address of the map that signs in by a code. What stands behind the `#` is sent to nobody by a browser, so it is in
 * no log.
 */
export function mapLink(serverUrl: string, code: string): string {
  const url = new URL(`${reachable(serverUrl)}/map`);
  url.hash = `code=${code}`;
  return url.href;
}

/** An address to reach a server at: one that listens at all addresses is at this machine's own too. */
export function reachable(serverUrl: string): string {
  return serverUrl.replace(/^http:\/\/(0\.0\.0\.0|\[::\])(?=:|$)/, "http://localhost");
}
