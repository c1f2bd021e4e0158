import manifest from "../../../package.json" with { type: "json" };
import { readClusterFile } from "../../cluster/cluster-file.ts";
import { takeDirectory } from "../../directory/take-directory.ts";
import { ok } from "../../lib/result.ts";
import { printableLine, shellQuote } from "../../lib/text/printable.ts";
import { type BackupReport, backUp } from "../../operator/backup/backup.ts";
import { readNewerLedger } from "../../operator/backup/newer-ledger.ts";
import { type RestoreReport, restore as restoreBackup } from "../../operator/backup/restore.ts";
import type { CommandContext } from "../arguments/command.ts";
import { countOf, formatCount, refuse } from "../screen/layout.ts";
import { createProgressBar } from "../screen/progress-bar.ts";
import type { CopyOptions, RestoreOptions } from "./command.ts";
import { expectDataDirectory } from "./data-directory.ts";
import { eraseAgain } from "./erase-again.ts";

/** Backs a data directory up; returns 1 if there is no new backup, or if the data directory is damaged. */
export async function backup(
  { dataDir, directory, json }: CopyOptions,
  { platform, clock, terminal }: CommandContext,
): Promise<number> {
  const { files } = platform;
  const say = (line: string) => terminal.error(`${printableLine(line)}\n`);
  await expectDataDirectory(files, dataDir);
  if ((await readClusterFile(files, dataDir)) !== null) say(NODE_NOTE);
  const bar = createProgressBar("Backing up", terminal);
  let result: Awaited<ReturnType<typeof backUp>>;
  try {
    result = await backUp({
      files,
      copySqlite: platform.copySqlite,
      clock,
      program: manifest.version,
      dataDir,
      directory,
      // A backup is a data directory too: its lock excludes other backups and servers.
      take: (path) => takeDirectory(path, "backup", platform, clock),
      onProgress: (done, total) => bar.show({ done, total, count: null }),
    });
  } finally {
    bar.clear();
  }
  if (!result.ok) {
    say(result.error);
    return 1;
  }
  const report = result.value;
  for (const problem of report.problems) say(`Damaged: ${problem}`);
  terminal.out(
    json ? `${JSON.stringify({ dataDir, directory, ...report }, null, 2)}\n` : backupSummary(report),
  );
  return report.problems.length === 0 ? 0 : 1;
}

const NODE_NOTE =
  "This is the directory of a node of a cluster. The backup has its archive and its quarantine; newer records, keys, " +
  "settings and passphrases are on the NATS servers.";

function backupSummary(report: BackupReport): string {
  const { files, bytes, lastSequence, copiedFiles, copiedBytes, linkedFiles, linkedBytes, durationMs } =
    report;
  const all = `Backed up ${countOf(files, "file")}, ${countOf(bytes, "byte")}, up to sequence ${lastSequence}`;
  const copied = `${formatCount(copiedFiles)} copied (${countOf(copiedBytes, "byte")})`;
  const linked = `${formatCount(linkedFiles)} linked (${countOf(linkedBytes, "byte")})`;
  return `${all}: ${copied}, ${linked}, in ${(durationMs / 1000).toFixed(1)} s.\n`;
}

/** Creates a data directory from a backup; returns 1 if that failed. */
export async function restore(
  { dataDir, directory, json, erasures }: RestoreOptions,
  context: CommandContext,
): Promise<number> {
  const { platform, clock, terminal, program } = context;
  const { files } = platform;
  const say = (line: string) => terminal.error(`${printableLine(line)}\n`);
  const newer = erasures === null ? null : await readNewerLedger(files, erasures);
  if (newer?.ok === false) return refuse(printableLine(newer.error), terminal);
  const bar = createProgressBar("Restoring", terminal);
  try {
    const result = await restoreBackup({
      files,
      directory,
      dataDir,
      take: (path) => takeDirectory(path, "restore", platform, clock),
      async prepare(copied) {
        if (newer === null) return ok(undefined);
        const erased = await eraseAgain(copied, newer.value, context);
        if (!erased.ok) return erased;
        say(
          `Erased again: what the backup had of erased devices (${erased.value.devices}) and users (${erased.value.users}).`,
        );
        return ok(undefined);
      },
      onProgress: (done, total) => bar.show({ done, total, count: null }),
    });
    bar.clear();
    if (!result.ok) {
      for (const file of result.error.damaged) say(`Damaged: ${file}`);
      say(result.error.message);
      return 1;
    }
    for (const problem of result.value.problems) say(`Damaged when it was backed up: ${problem}`);
    const text = restoreSummary(dataDir, result.value, program);
    terminal.out(json ? `${JSON.stringify({ dataDir, directory, ...result.value }, null, 2)}\n` : text);
    return 0;
  } finally {
    bar.clear();
  }
}

function restoreSummary(
  dataDir: string,
  { takenMs, files, bytes, lastSequence, durationMs }: RestoreReport,
  program: string,
): string {
  const what = `${countOf(files, "file")}, ${countOf(bytes, "byte")}`;
  const when = `${new Date(takenMs).toISOString().slice(0, 19)}Z`;
  const seconds = (durationMs / 1000).toFixed(1);
  return [
    `Restored the backup of ${when} (${what}, up to sequence ${lastSequence}) to "${dataDir}" in ${seconds} s.`,
    "Next:",
    `  ${program} verify --data-dir ${shellQuote(dataDir)}`,
    `  ${program} serve --data-dir ${shellQuote(dataDir)}`,
    "",
  ].join("\n");
}
