import { DEFAULT_ARCHIVE_CONFIG } from "../../app/config.ts";
import {
  type DirectoryEvents,
  type OpenDirectory,
  type OpenDirectoryOptions,
  openDirectory,
} from "../../app/open-directory.ts";
import { createHotStore } from "../../hot/hot-store.ts";
import { Scheduler } from "../../lib/schedule/scheduler.ts";
import type { Files } from "../../runtime/files.ts";
import { damageLine, entryLeftOutLine } from "../screen/directory-report.ts";

/** A data directory that a command has for itself: no server runs over it, and nothing is sealed by schedule. */
interface CommandDirectory
  extends Omit<OpenDirectoryOptions, "files" | "hot" | "scheduler" | "config" | "events"> {
  readonly platform: { readonly files: Files };
  /** Prints a line for a person. */
  say(line: string): void;
  /** Events that the command handles itself. */
  readonly events?: Partial<DirectoryEvents>;
}

/** Opens a data directory that a command has taken. If this fails, the directory is released. */
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
    hot: createHotStore(scheduler),
    scheduler,
    config: DEFAULT_ARCHIVE_CONFIG,
    events: {
      onRefusal: ignore, // Reports come from the command itself, if any do; it sees the refusal.
      onArchiveNote: (note) => say(`Archive: ${note}`),
      onSealed: ignore, // Seals by schedule: no command has one.
      onSealFailed: ignore,
      onBroken: ignore, // The call that brought the entry rejects with the error.
      onEntryLeftOut: (failure) => say(entryLeftOutLine(failure)),
      onDamage: (damage) => {
        for (const each of damage) say(damageLine(each));
      },
      ...events,
    },
  }).catch(releasing(options.release));
}

/** Releases a directory that a command has taken, if its next step fails. */
export function releasing(release: () => void): (error: unknown) => never {
  return (error) => {
    release();
    throw error;
  };
}

function ignore(): void {}
