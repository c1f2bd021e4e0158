import { LF } from "../../../lib/text/ascii.ts";
import { type CsvDelimiter, CsvReader } from "../../../lib/text/csv-reader.ts";
import { findMeaning, normalName } from "./column-names.ts";

/** The start of a table's header, after any lines above it. */
interface TableStart {
  /** The byte offset. */
  readonly at: number;
  readonly linesBefore: number;
  /** The delimiter from a `sep=` line above; null if there is none. */
  readonly delimiter: CsvDelimiter | null;
}

/** The maximum number of lines above a header. */
const LINES_MAX = 32;
/** The maximum size of a header line. */
const LINE_BYTES_MAX = 64 * 1024;

const MARK = [0xef, 0xbb, 0xbf];

/** Excel's line for setting the delimiter. */
const SEPARATOR = /^"?sep=([\t -~])"?\s*$/i;
const COMMENT = /^#[# \t]*/;

/**
 * The header is the first line that names position and time, even in a comment; otherwise the first line that is not a
 * comment. `mapped` has the operator's column names by field name. Returns null if more bytes are needed.
 */
export function findTableStart(
  bytes: Uint8Array,
  isWhole: boolean,
  mapped: ReadonlyMap<string, string>,
): TableStart | null {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let delimiter: CsvDelimiter | null = null;
  let firstLine: Pick<TableStart, "at" | "linesBefore"> | null = null;
  let at = MARK.every((byte, index) => bytes[index] === byte) ? MARK.length : 0;
  for (let line = 0; line < LINES_MAX && at < bytes.length; line++) {
    const lineEnd = bytes.indexOf(LF, at);
    if (lineEnd < 0 && !isWhole && bytes.length - at <= LINE_BYTES_MAX) return null;
    const end = lineEnd < 0 ? bytes.length : lineEnd;
    if (end - at > LINE_BYTES_MAX) {
      firstLine ??= { at, linesBefore: line };
      break;
    }
    const text = decoder.decode(bytes.subarray(at, end));
    const separator = SEPARATOR.exec(text)?.[1];
    const comment = COMMENT.exec(text)?.[0] ?? "";
    if (separator !== undefined) delimiter = separator.charCodeAt(0);
    else if (isHeader(bytes.subarray(at + comment.length, end), delimiter, mapped))
      return { at: at + comment.length, linesBefore: line, delimiter };
    else if (comment === "" && text.trim() !== "") firstLine ??= { at, linesBefore: line };
    if (lineEnd < 0) break;
    at = lineEnd + 1;
    if (at === bytes.length && !isWhole) return null;
  }
  return { at: 0, linesBefore: 0, ...firstLine, delimiter };
}

const NEEDED = ["timestamp", "latitude", "longitude"];

/** Whether a line names all columns that a point needs. */
function isHeader(
  line: Uint8Array,
  delimiter: CsvDelimiter | null,
  mapped: ReadonlyMap<string, string>,
): boolean {
  const reader = new CsvReader(delimiter);
  reader.push(line);
  reader.end();
  if (!reader.next() || reader.fault !== null) return false;
  const fields = new Set<string | undefined>();
  const mappedFields = new Map(
    [...mapped].map(([ours, theirs]) => [normalName(theirs), findMeaning(ours)?.field]),
  );
  for (let index = 0; index < reader.fieldCount; index++) {
    const name = normalName(reader.text(index) ?? "");
    fields.add(findMeaning(name)?.field);
    fields.add(mappedFields.get(name));
  }
  return NEEDED.every((field) => fields.has(field));
}
