import { expectRow, type PushReader } from "../../formats/read/push-reader.ts";
import { isObject } from "../../lib/is-object.ts";
import { createLineReader } from "../../lib/text/lines.ts";
import { addReport } from "../../model/report.ts";
import { type ReportReaderOptions, ReportRows } from "./reader.ts";

/** Reads NDJSON: one report on each line, checked like one that arrives over HTTP. */
export function createNdjsonReports(options: ReportReaderOptions): PushReader {
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
      expectRow(lines.waitingBytes, lines.line + 1);
    },
    end() {
      lines.end();
      readLines();
    },
    get place() {
      return lines.line;
    },
  };
}

/** Undefined, which is not a JSON value, if the text is not valid JSON. */
function parseJson(text: string | null): unknown {
  try {
    return text === null ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
