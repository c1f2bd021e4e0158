import { readBeginning } from "../../formats/read/beginning.ts";
import type { Beginning } from "../../formats/read/format.ts";
import { FORMATS } from "../../formats/read/formats.ts";
import { OWN_FORMATS, recogniseOwn } from "../../formats/read/own-formats.ts";
import { type Recognition, recognise } from "../../formats/read/recognise.ts";
import type { Source } from "./source.ts";

/**
 * What a source is, by how it begins, or what its operator says that it is. Throws a `FormatError` where that can't be
 * read.
 */
export async function recogniseSource(source: Source, formatName: string | null): Promise<Recognition> {
  const beginning = await readBeginning(source);
  return formatName === null ? recognise(beginning, FORMATS) : takenFor(formatName, beginning);
}

/** Formats of others may be called as one of ours, CSV as CSV: what says that it is ours is. */
function takenFor(name: string, beginning: Beginning): Recognition {
  const own = recogniseOwn(beginning);
  const isOwn = own?.format === name;
  const format = (isOwn ? own.format : null) ?? FORMATS.find((each) => each.name === name);
  const given = format ?? OWN_FORMATS.find((each) => each === name);
  if (given === undefined) throw new TypeError(`There is no format ${name}`);
  return { kind: "history", format: given, reason: "as --format says" };
}
