import { systemTimers } from "../lib/schedule/timers.ts";
import type { HistoryDependencies } from "../service/queries/history/read-stretches.ts";
import { DeviceReader } from "../service/watching/device-reader.ts";
import { DeviceStates } from "../service/watching/device-states.ts";
import { Watcher, type WatcherDependencies } from "../service/watching/watcher.ts";
import { LATE_WINDOW } from "./config.ts";
import type { OpenDirectory, OpenDirectoryOptions } from "./directory.ts";

/** Creates what makes events of the records of a directory. It works once it is started. */
export function createWatcher(
  options: OpenDirectoryOptions,
  {
    archive,
    eventStore,
    decided,
    shared,
    acknowledgedParts,
  }: Pick<OpenDirectory, "archive" | "eventStore"> &
    Pick<WatcherDependencies, "decided" | "shared"> &
    Pick<HistoryDependencies, "acknowledgedParts">,
): Watcher {
  const { hot, clock, retention, scheduler, events, timers = systemTimers } = options;
  const stores = { hot, clock, retention, scheduler };
  return new Watcher({
    ...stores,
    ...{ timers, decided, shared },
    events: eventStore,
    states: new DeviceStates(eventStore.database),
    reader: new DeviceReader({
      ...stores,
      archive: () => archive,
      acknowledgedParts,
      lateWindow: LATE_WINDOW,
    }),
    onNote: events.onArchiveNote,
  });
}
