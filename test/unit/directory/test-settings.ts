import { Settings } from "../../../src/directory/settings.ts";
import { systemClock } from "../../../src/model/time/clock.ts";
import { DEFAULT_RETENTION, type Retention } from "../../../src/model/time/retention.ts";
import { createMemoryKeyFiles, createMemoryLock, type MemoryKeyFiles } from "../auth/memory-key-files.ts";

const PROCESS = { pid: 1, command: "serve" };

/** Settings in a file that a test can look at and damage; several may share it. */
export function openTestSettings(
  files: MemoryKeyFiles = createMemoryKeyFiles(),
  whereMissing: Retention = DEFAULT_RETENTION,
): Promise<Settings> {
  const path = "settings.json";
  const acquireLock = createMemoryLock();
  return Settings.open(
    { files, path, clock: systemClock, acquireLock, process: PROCESS },
    async () => whereMissing,
  );
}
