/** A file that can't be used as a map, with why and what to do about it. */
export class MapFileError extends Error {
  override readonly name = "MapFileError";

  constructor(path: string, fault: string, cause?: unknown) {
    super(`Cannot use "${path}" as a map: ${fault}`, { cause });
  }
}
