/** A newer program wrote the file. It is left as it is. */
export class NewerFormatError extends Error {
  override readonly name = "NewerFormatError";
  constructor(what: string, path: string, expected: string, found: string) {
    super(`Cannot open ${what} "${path}": expected ${expected}, found ${found}. A newer program wrote it.`);
  }
}
