import { printableLine } from "../../lib/text/printable.ts";
import type { TraceSubject } from "../../operator/verify/trace-readers.ts";
import { type FileNote, findTraces, type TracesReport } from "../../operator/verify/traces.ts";
import type { CommandContext } from "../arguments/command.ts";
import { countOf } from "../screen/layout.ts";
import { createProgressBar } from "../screen/progress-bar.ts";
import { expectDataDirectory, openSearchingDatabase } from "./data-directory.ts";

export interface SearchTracesOptions {
  readonly dataDir: string;
  readonly subject: TraceSubject;
  readonly json: boolean;
}

/** Searches a data directory for what is left of a device or a user; returns 1 if there is anything. */
export async function searchTraces(
  { dataDir, subject, json }: SearchTracesOptions,
  { platform, terminal }: CommandContext,
): Promise<number> {
  const { files, openSqlite } = platform;
  await expectDataDirectory(files, dataDir);
  const bar = createProgressBar("Searching the directory", terminal);
  let report: TracesReport;
  try {
    report = await findTraces({
      files,
      openSqlite,
      dataDir,
      subject,
      openDatabase: () => openSearchingDatabase(dataDir),
      onProgress: (done, total) => bar.show({ done, total, count: null }),
    });
  } finally {
    bar.clear();
  }
  terminal.out(json ? `${JSON.stringify({ dataDir, ...report }, null, 2)}\n` : formatTraces(subject, report));
  return report.traces.length === 0 ? 0 : 1;
}

function formatTraces(
  { kind, id, appId }: TraceSubject,
  { traces, unsearched, files }: TracesReport,
): string {
  const ofApp = appId === null ? "" : ` of the app ${appId}`;
  const subject = `the ${kind} "${id}"${ofApp}`;
  const lines =
    traces.length === 0
      ? [`There is no trace of ${subject} in ${countOf(files, "file")}.`]
      : [`Traces of ${subject}:`, ...traces.map(noteLine)];
  if (unsearched.length > 0) lines.push("Not searched whole:", ...unsearched.map(noteLine));
  return `${lines.map(printableLine).join("\n")}\n`;
}

function noteLine({ file, what }: FileNote): string {
  return `  ${file}: ${what}`;
}
