import { isObject } from "../../lib/is-object.ts";
import { createLineReader } from "../../lib/text/lines.ts";
import { addReport } from "../../model/report.ts";
import {
  isFull,
  type ReportReader,
  type ReportReaderOptions,
  ROW_BYTES_MAX,
  shiftedBuilder,
  tooLong,
  unshiftedTimes,
} from "./reader.ts";

/** Reads NDJSON: a report a line, checked as one that came over HTTP. */
export function createNdjsonReports({ userId, shiftMs, from }: ReportReaderOptions): ReportReader {
  const lines = createLineReader();
  if (from !== null) lines.skipTo(from);

  return {
    push: (piece) => lines.push(piece),
    end: () => lines.end(),
    fill(open, times) {
      const builder = shiftedBuilder(open.builder, shiftMs);
      const fileTimes = unshiftedTimes(times, shiftMs);
      while (!isFull(open)) {
        if (!lines.next()) return false;
        const report = parseJson(lines.text());
        if (userId !== null && isObject(report)) report.user_id ??= userId;
        const row = builder.count;
        const message = report === undefined ? "it is not valid JSON" : addReport(report, fileTimes, builder);
        if (message === null) open.lines[row] = lines.line;
        else open.rejected.push({ line: lines.line, message });
      }
      return true;
    },
    get position() {
      return lines.position;
    },
    get fault() {
      return lines.waitingBytes > ROW_BYTES_MAX ? tooLong(lines.position.line) : null;
    },
  };
}

/** Undefined where the text is no JSON, which JSON itself can't be. */
function parseJson(text: string | null): unknown {
  try {
    return text === null ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
