const NEWER = "newer program";

/** A program that knows another version of a format wrote the file or message. It is left as it is. */
export class FormatVersionError extends Error {
  override readonly name = "FormatVersionError";

  constructor(what: string, path: string, expected: string, found: string, writer = NEWER) {
    super(`Cannot open ${what} "${path}": expected ${expected}, found ${found}. A ${writer} wrote it.`);
  }

  /** For a version that is not the expected one. */
  static of(what: string, path: string, expected: number, found: number): FormatVersionError {
    const writer = writerOf(expected, found);
    return new FormatVersionError(what, path, `format version ${expected}`, `${found}`, writer);
  }
}

/** What kind of program wrote a version that is not the expected one: no release wrote an older one. */
export function writerOf(expected: number, found: number): string {
  return found > expected ? NEWER : "program from before the first release";
}
