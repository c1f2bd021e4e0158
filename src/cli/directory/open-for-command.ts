import { DEFAULT_ARCHIVE_CONFIG } from "../../app/config.ts";
import type { DirectoryEvents, OpenDirectory, OpenDirectoryOptions } from "../../app/directory.ts";
import { openDirectory } from "../../app/open-directory.ts";
import { createHotStore } from "../../hot/hot-store.ts";
import { Scheduler } from "../../lib/schedule/scheduler.ts";
import { damageLine, entryLeftOutLine } from "../screen/directory-report.ts";

/** A data directory that a command owns: no server runs over it, and no seal is scheduled. */
interface CommandDirectory
  extends Omit<OpenDirectoryOptions, "files" | "openSqlite" | "hot" | "scheduler" | "config" | "events"> {
  readonly platform: Pick<OpenDirectoryOptions, "files" | "openSqlite">;
  /** Prints a line for a person. */
  say(line: string): void;
  /** Events that the command handles itself. */
  readonly events?: Partial<DirectoryEvents>;
}

/** Opens a data directory that a command owns. Releases it if that fails. */
export async function openForCommand({
  platform,
  say,
  events = {},
  ...options
}: CommandDirectory): Promise<OpenDirectory> {
  const scheduler = new Scheduler();
  return openDirectory({
    ...options,
    files: platform.files,
    openSqlite: platform.openSqlite,
    hot: createHotStore(scheduler),
    scheduler,
    config: DEFAULT_ARCHIVE_CONFIG,
    events: {
      onRefusal: ignore, // Only the command itself sends reports, and it sees the refusal.
      onArchiveNote: (note) => say(`Archive: ${note}`),
      onSealed: ignore, // Only scheduled seals report these two events.
      onSealFailed: ignore,
      onBroken: ignore, // The call that appended the entry rejects with the error.
      onEntryLeftOut: (failure) => say(entryLeftOutLine(failure)),
      onDamage: (damage) => {
        for (const each of damage) say(damageLine(each));
      },
      ...events,
    },
  }).catch(releasing(options.release));
}

/** A handler of rejections that releases a command's directory and throws the error again. */
export function releasing(release: () => void): (error: unknown) => never {
  return (error) => {
    release();
    throw error;
  };
}

function ignore(): void {}
