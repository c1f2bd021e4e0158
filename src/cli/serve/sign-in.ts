import type { NewKey } from "../../auth/key-store.ts";
import { directoryPaths } from "../../directory/paths.ts";
import { shellQuote } from "../../lib/text/printable.ts";
import type { Files } from "../../runtime/files.ts";

/**
 * An address of the map that signs in with a code. Browsers don't send what follows the `#`, so no log has the code.
 * `query` is the view that the map begins with, as `src/web/page/address.ts` reads it.
 */
export function mapLink(serverUrl: string, code: string, query = ""): string {
  const url = new URL(`${reachable(serverUrl)}/map${query}`);
  url.hash = `code=${code}`;
  return url.href;
}

/** The address at which this machine reaches a server: `localhost` for one that listens at all addresses. */
export function reachable(serverUrl: string): string {
  return serverUrl.replace(/^http:\/\/(0\.0\.0\.0|\[::\])(?=:|$)/, "http://localhost");
}

/** Where a person finds the first key of a directory. */
export interface FirstKeyNotice {
  readonly line: string;
  /** The key, or shell code that reads it. */
  readonly word: string;
}

/** Shows the key on a terminal, else writes it to a file that only its owner can read: a pipe may lead to a log. */
export async function revealFirstKey(
  firstKey: NewKey,
  dataDir: string,
  files: Pick<Files, "replace">,
  isTerminal: boolean,
): Promise<FirstKeyNotice> {
  if (isTerminal) return { line: `The first key, shown this once: ${firstKey.text}`, word: firstKey.text };
  const path = directoryPaths(dataDir).firstKey;
  await files.replace(path, new TextEncoder().encode(`${firstKey.text}\n`));
  return { line: `The first key is in ${path}`, word: `$(cat ${shellQuote(path)})` };
}
