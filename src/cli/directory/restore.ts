import { takeDirectory } from "../../directory/take-directory.ts";
import { printableLine } from "../../lib/text/printable.ts";
import { shellQuote } from "../../lib/text/shell-quote.ts";
import type { Clock } from "../../model/time/clock.ts";
import { type RestoreReport, restore as restoreBackup } from "../../operator/backup/restore.ts";
import type { Platform } from "../../runtime/platform.ts";
import type { Terminal } from "../../runtime/process.ts";
import { countOf } from "../screen/layout.ts";
import { createProgressBar } from "../screen/progress-bar.ts";
import type { RestoreCommand } from "./command.ts";

/** Makes a data directory from a backup; returns 1 where there is none. `program` is how a person starts us. */
export async function restore(
  { dataDir, directory, json }: RestoreCommand,
  platform: Platform,
  clock: Clock,
  terminal: Terminal,
  program: string,
): Promise<number> {
  const { files } = platform;
  const say = (line: string) => terminal.error(`${printableLine(line)}\n`);
  const bar = createProgressBar("Restoring", terminal);
  try {
    const restored = await restoreBackup({
      files,
      directory,
      dataDir,
      take: (path) => takeDirectory(path, "restore", platform, clock),
      onProgress: (done, total) => bar.show({ done, total, count: null }),
    });
    bar.clear();
    if (!restored.ok) {
      for (const file of restored.error.damaged) say(`Damaged: ${file}`);
      say(restored.error.message);
      return 1;
    }
    for (const problem of restored.value.problems) say(`Damaged when it was backed up: ${problem}`);
    const text = summary(dataDir, restored.value, program);
    terminal.out(json ? `${JSON.stringify({ dataDir, directory, ...restored.value }, null, 2)}\n` : text);
    return 0;
  } finally {
    bar.clear();
  }
}

function summary(
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
