import { sealedRetention } from "../../archive/manifest.ts";
import { refuseForeign } from "../../directory/foreign.ts";
import { directoryPaths } from "../../directory/paths.ts";
import { Settings } from "../../directory/settings.ts";
import type { Clock } from "../../model/time/clock.ts";
import type { Platform } from "../../runtime/platform.ts";
import type { Sharing } from "../cluster/node-directory.ts";

/** The settings of a data directory, for a command that has it for itself or not. */
export async function openSettings(
  command: string,
  dataDir: string,
  { files, acquireLock, pid, shared = null }: Sharing<Pick<Platform, "files" | "acquireLock" | "pid">>,
  clock: Clock,
): Promise<Settings> {
  const { settings: path, archive } = directoryPaths(dataDir);
  const process = { pid, command };
  await refuseForeign(files, dataDir);
  return Settings.open({ files, path, clock, acquireLock, process, shared }, () =>
    sealedRetention(files, archive),
  );
}

/** What is wrong with the file they are in, and what that means; null where nothing is. */
export function settingsFault({ state }: Settings): string | null {
  if (typeof state !== "object") return null;
  return `settings.json can't be used: ${state.damaged}. Until it is put back, nothing is given up for its age.`;
}
