import type { NewKey } from "../../auth/key-store.ts";
import { directoryPaths } from "../../directory/paths.ts";
import { shellQuote } from "../../lib/text/shell-quote.ts";
import type { Files } from "../../runtime/files.ts";

/** Where somebody finds the first key of a directory. */
export interface HandedOver {
  /** Says so. */
  readonly line: string;
  /** The key for a command line. */
  readonly word: string;
}

/** Shows the key to a person, or leaves it in a file that only its owner can read: output to a pipe may be a log. */
export async function handOver(
  firstKey: NewKey,
  dataDir: string,
  files: Pick<Files, "replace">,
  isTerminal: boolean,
): Promise<HandedOver> {
  if (isTerminal) return { line: `The first key, shown this once: ${firstKey.text}`, word: firstKey.text };
  const path = directoryPaths(dataDir).firstKey;
  await files.replace(path, new TextEncoder().encode(`${firstKey.text}\n`));
  return { line: `The first key is in ${path}`, word: `$(cat ${shellQuote(path)})` };
}
