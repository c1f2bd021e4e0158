import { systemTimers } from "../lib/schedule/timers.ts";
import type { SharedFile, SharedFileState } from "./shared-file.ts";

/*
 * Reads a file that is shared again and again, so that what the command line changes acts on this process.
 * Reading a small file each second costs less than the surprises of file notifications, which not every file system
 * has. `onState` hears of a file that can no longer be used, or can be again; `onRead` of each time it was read.
 */

export interface FileWatch {
  stop(): void;
}

export function watchFile(
  store: Pick<SharedFile<unknown>, "state" | "reload">,
  intervalMs: number,
  onState: (state: SharedFileState) => void,
  onRead: () => void = () => {},
  timers = systemTimers,
): FileWatch {
  let stopped = false;
  let cancel = timers.after(intervalMs, look);
  let told = textOf(store.state);

  async function look(): Promise<void> {
    await store.reload();
    if (stopped) return;
    onRead();
    if (textOf(store.state) !== told) {
      told = textOf(store.state);
      onState(store.state);
    }
    cancel = timers.after(intervalMs, look);
  }

  return {
    stop() {
      stopped = true;
      cancel();
    },
  };
}

function textOf(state: SharedFileState): string {
  return typeof state === "object" ? state.damaged : state;
}
