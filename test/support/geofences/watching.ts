import { LATE_WINDOW } from "../../../src/app/config.ts";
import { DEFAULT_RETENTION } from "../../../src/model/time/retention.ts";
import { DeviceReader } from "../../../src/service/watching/device-reader.ts";
import type { ArchiveApp } from "../archive-app.ts";

/** Reads what answers show of devices. */
export function readerOf({ directory, clock }: Pick<ArchiveApp, "directory" | "clock">): DeviceReader {
  const { hot, archive, scheduler } = directory;
  return new DeviceReader({
    ...{ hot, clock, scheduler, retention: DEFAULT_RETENTION, lateWindow: LATE_WINDOW },
    archive: () => archive,
    acknowledgedParts: async () => new Set(),
  });
}
