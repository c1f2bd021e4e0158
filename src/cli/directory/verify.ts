import { readClusterFile } from "../../cluster/cluster-file.ts";
import { directoryPaths } from "../../directory/paths.ts";
import { printableLine } from "../../lib/text/printable.ts";
import type { AppCorrections } from "../../operator/verify/corrections.ts";
import type { AppDay } from "../../operator/verify/records.ts";
import { createVerify, type DirectoryReport } from "../../operator/verify/verify.ts";
import type { CommandContext } from "../arguments/command.ts";
import { countOf, formatCount, formatTable } from "../screen/layout.ts";
import { createProgressBar } from "../screen/progress-bar.ts";
import type { VerifyOptions } from "./command.ts";
import { expectDataDirectory, openReadingDatabase, openSettings } from "./data-directory.ts";
import { searchTraces } from "./traces.ts";

/** Checks a data directory; returns 1 if it has a problem that is not acknowledged. */
export async function verify(options: VerifyOptions, context: CommandContext): Promise<number> {
  const { dataDir, subject, json, acknowledge, quick, days } = options;
  const { platform, clock, terminal } = context;
  const { files, openSqlite, acquireLock, pid } = platform;
  if (subject !== null) return searchTraces({ dataDir, subject, json }, context);
  await expectDataDirectory(files, dataDir);
  if ((await readClusterFile(files, dataDir)) !== null) terminal.error(`${NODE_NOTE}\n`);
  const bar = createProgressBar("Reading the directory", terminal);
  const readDirectory = createVerify({
    files,
    openSqlite,
    acquireLock,
    clock,
    settings: await openSettings("verify", dataDir, platform, clock),
    pid,
    paths: directoryPaths(dataDir),
    openDatabase: () => openReadingDatabase(dataDir),
    onProgress: (done, total) => bar.show({ done, total, count: null }),
  });
  let report: DirectoryReport;
  try {
    report = await readDirectory({ acknowledge, quick });
  } finally {
    bar.clear();
  }
  terminal.out(
    json ? `${JSON.stringify({ dataDir, ...report }, null, 2)}\n` : formatReport(dataDir, report, days),
  );
  return report.problems.length === 0 ? 0 : 1;
}

const NODE_NOTE =
  "This is the directory of a node of a cluster: records that are not archived yet, keys and settings are on the NATS " +
  "servers, and are not checked.";

function formatReport(dataDir: string, report: DirectoryReport, listsDays: boolean): string {
  const { owner, segments, totals, archive, quarantine, events, appDays, keys, temporary, problems } = report;
  const user =
    owner === null
      ? "no process"
      : `process ${owner.pid} (${owner.command}) since ${formatTime(owner.sinceMs)}`;
  const tornTailBytes = segments.reduce((sum, segment) => sum + segment.tornTailBytes, 0);
  const facts: [string, string][] = [
    ["data directory", dataDir],
    ["in use by", user],
    ["log segments", formatCount(segments.length)],
    ["entries", formatCount(totals.entries)],
    ["reports", formatCount(totals.records)],
    ["bytes of the log", formatCount(totals.bytes)],
    ["sequences", totals.firstSequence === null ? "-" : `${totals.firstSequence} to ${totals.lastSequence}`],
    // A crash interrupted this write, or a running server is writing it now. It was never acknowledged.
    ["unfinished bytes at the end", formatCount(tornTailBytes)],
    ["archived days", describeDays(archive)],
    ["archived records", formatCount(archive.records)],
    ["archived devices", formatCount(archive.devices)],
    ["archive files", `${formatCount(archive.parts)}, ${countOf(archive.bytes, "byte")}`],
    ["expired days", formatCount(archive.expiredDays)],
    ["older than the retention", describePastDays(report.pastDays)],
    [
      "quarantined entries",
      `${formatCount(quarantine.entries)}, ${countOf(quarantine.bytes, "byte")} of files`,
    ],
    ["events", `${formatCount(events.events)}, ${formatCount(events.withdrawn)} of them withdrawn`],
    ["given up", archive.lost.length === 0 ? "none" : archive.lost.join(", ")],
    ["other files in the archive", archive.foreign.length === 0 ? "none" : archive.foreign.join(", ")],
    ["records", appDays === null ? "not checked" : describeRecords(appDays)],
    ["profiles of devices", describeProfiles(report.profiles)],
    ["corrections", describeCorrections(report.corrections)],
    ["SHA-256 of all records", report.sha256 ?? "-"],
    ["keys", keys.state === "missing" ? "no key file" : formatCount(keys.count)],
    ["damaged bytes set aside", describeSetAside(report.setAside)],
    ["temporary files of a crash", temporary.length === 0 ? "none" : temporary.join(", ")],
  ];
  const lines =
    problems.length === 0
      ? ["Nothing is damaged."]
      : ["Damaged:", ...problems.map((line) => `  ${printableLine(line)}`)];
  // Names of files may hold control characters.
  const rows = facts.map(([what, value]) => [what, printableLine(value)]);
  const list = listsDays && appDays !== null ? `${formatDays(appDays)}\n` : "";
  return `${formatTable(["what", "found"], rows)}\n${list}${lines.join("\n")}\n`;
}

function describePastDays(pastDays: DirectoryReport["pastDays"]): string {
  if (pastDays.length === 0) return "none";
  return pastDays
    .map(({ day, archivedRecords, loggedReports }) => {
      const archived = `${countOf(archivedRecords, "record")} in the archive`;
      return `${day} (${archived}, ${countOf(loggedReports, "report")} in the log)`;
    })
    .join(", ");
}

function describeRecords(appDays: readonly AppDay[]): string {
  const records = appDays.reduce((sum, day) => sum + day.records, 0);
  const apps = new Set(appDays.map(({ app }) => app));
  return `${formatCount(records)} on ${countOf(appDays.length, "day")} of ${countOf(apps.size, "app")}`;
}

function describeProfiles(profiles: DirectoryReport["profiles"]): string {
  if (profiles === null) return "not checked";
  return formatCount(profiles.reduce((sum, app) => sum + app.profiles, 0));
}

function describeCorrections(corrections: DirectoryReport["corrections"]): string {
  if (corrections === null) return "not checked";
  const sum = (count: (app: AppCorrections) => number) =>
    formatCount(corrections.reduce((total, app) => total + count(app), 0));
  const [active, undone] = [sum((app) => app.active), sum((app) => app.undone)];
  return `${active} active of ${sum((app) => app.records)} records, ${undone} undone`;
}

function formatDays(appDays: readonly AppDay[]): string {
  const rows = appDays.map(({ app, day, records, sha256 }) => [app, day, formatCount(records), sha256]);
  return formatTable(["app", "day", ">records", "SHA-256"], rows);
}

function describeDays({ days, firstDay, lastDay }: DirectoryReport["archive"]): string {
  return days === 0 ? "none" : `${formatCount(days)}, ${firstDay} to ${lastDay}`;
}

function describeSetAside(setAside: DirectoryReport["setAside"]): string {
  if (setAside.length === 0) return "none";
  const bytes = setAside.reduce((sum, file) => sum + file.bytes, 0);
  const seen = setAside.filter(({ acknowledged }) => acknowledged).length;
  return `${formatCount(bytes)} in ${countOf(setAside.length, "file")}, ${formatCount(seen)} of them acknowledged`;
}

function formatTime(timeMs: number): string {
  return `${new Date(timeMs).toISOString().slice(0, 19)}Z`;
}
