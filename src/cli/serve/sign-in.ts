import type { NewKey } from "../../auth/key-store.ts";
import { directoryPaths } from "../../directory/paths.ts";
import { shellQuote } from "../../lib/text/printable.ts";
import type { Files } from "../../runtime/files.ts";

/*
 * How a person gets into a server: its address, a link that signs in on the map, and a directory's first key.
 */

/** An address of the map that signs in by a code. Browsers don't send what follows the `#`, so no log has it. */
export function mapLink(serverUrl: string, code: string): string {
  const url = new URL(`${reachable(serverUrl)}/map`);
  url.hash = `code=${code}`;
  return url.href;
}

/** An address to reach a server at: a server that listens at all addresses can be reached at this machine's own. */
export function reachable(serverUrl: string): string {
  return serverUrl.replace(/^http:\/\/(0\.0\.0\.0|\[::\])(?=:|$)/, "http://localhost");
}

/** Where a person finds the first key of a directory. */
export interface FirstKeyPlace {
  /** A sentence that says so. */
  readonly line: string;
  /** The key for a command line. */
  readonly word: string;
}

/** Shows the key to a person, or leaves it in a file that only its owner can read: output to a pipe may be a log. */
export async function revealFirstKey(
  firstKey: NewKey,
  dataDir: string,
  files: Pick<Files, "replace">,
  isTerminal: boolean,
): Promise<FirstKeyPlace> {
  if (isTerminal) return { line: `The first key, shown this once: ${firstKey.text}`, word: firstKey.text };
  const path = directoryPaths(dataDir).firstKey;
  await files.replace(path, new TextEncoder().encode(`${firstKey.text}\n`));
  return { line: `The first key is in ${path}`, word: `$(cat ${shellQuote(path)})` };
}
