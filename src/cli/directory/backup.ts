import manifest from "../../../package.json" with { type: "json" };
import { readClusterFile } from "../../cluster/cluster-file.ts";
import { takeDirectory } from "../../directory/take-directory.ts";
import { printableLine } from "../../lib/text/printable.ts";
import type { Clock } from "../../model/time/clock.ts";
import { type BackupReport, backUp } from "../../operator/backup/backup.ts";
import type { Platform } from "../../runtime/platform.ts";
import type { Terminal } from "../../runtime/process.ts";
import { countOf, formatCount } from "../screen/layout.ts";
import { createProgressBar } from "../screen/progress-bar.ts";
import type { BackupCommand } from "./command.ts";
import { expectDataDirectory } from "./data-directory.ts";

/** Backs a data directory up; returns 1 where there is no new backup, or the data directory is damaged. */
export async function backup(
  { dataDir, directory, json }: BackupCommand,
  platform: Platform,
  clock: Clock,
  terminal: Terminal,
): Promise<number> {
  const { files } = platform;
  const say = (line: string) => terminal.error(`${printableLine(line)}\n`);
  await expectDataDirectory(files, dataDir);
  if ((await readClusterFile(files, dataDir)) !== null) say(NODE_NOTE);
  const bar = createProgressBar("Backing up", terminal);
  let made: Awaited<ReturnType<typeof backUp>>;
  try {
    made = await backUp({
      files,
      clock,
      program: manifest.version,
      dataDir,
      directory,
      // A backup is a data directory too: its lock keeps other backups away, and servers.
      take: (path) => takeDirectory(path, "backup", platform, clock),
      onProgress: (done, total) => bar.show({ done, total, count: null }),
    });
  } finally {
    bar.clear();
  }
  if (!made.ok) {
    say(made.error);
    return 1;
  }
  const report = made.value;
  for (const problem of report.problems) say(`Damaged: ${problem}`);
  terminal.out(json ? `${JSON.stringify({ dataDir, directory, ...report }, null, 2)}\n` : summary(report));
  return report.problems.length === 0 ? 0 : 1;
}

const NODE_NOTE =
  "This is the directory of a node of a cluster. The backup has what it has sealed, and its quarantine; what is newer, " +
  "keys, settings and pass phrases are with the NATS servers.";

function summary(report: BackupReport): string {
  const { files, bytes, lastSequence, copiedFiles, copiedBytes, linkedFiles, linkedBytes, durationMs } =
    report;
  const all = `Backed up ${countOf(files, "file")}, ${countOf(bytes, "byte")}, up to sequence ${lastSequence}`;
  const copied = `${formatCount(copiedFiles)} copied (${countOf(copiedBytes, "byte")})`;
  const linked = `${formatCount(linkedFiles)} linked (${countOf(linkedBytes, "byte")})`;
  return `${all}: ${copied}, ${linked}, in ${(durationMs / 1000).toFixed(1)} s.\n`;
}
