import { isObject } from "../../lib/is-object.ts";
import { createLineReader } from "../../lib/text/lines.ts";
import { addReport } from "../../model/report.ts";
import { type ReportReader, type ReportReaderOptions, ReportRows, ROW_BYTES_MAX, tooLong } from "./reader.ts";

/** Reads NDJSON: a report a line, checked as one that came over HTTP. */
export function createNdjsonReports(options: ReportReaderOptions): ReportReader {
  const { userId } = options.rules;
  const lines = createLineReader();
  const reports = new ReportRows(options);

  function readLines(): void {
    while (lines.next()) {
      if (!options.queue.next()) continue;
      reports.nextBatch();
      const report = parseJson(lines.text());
      if (userId !== null && isObject(report)) report.user_id ??= userId;
      reports.add(lines.line, (builder, times) =>
        report === undefined ? "it is not valid JSON" : addReport(report, times, builder),
      );
    }
  }

  return {
    push(piece) {
      lines.push(piece);
      readLines();
    },
    end() {
      lines.end();
      readLines();
    },
    get line() {
      return lines.line;
    },
    get fault() {
      return lines.waitingBytes > ROW_BYTES_MAX ? tooLong(lines.line + 1) : null;
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
