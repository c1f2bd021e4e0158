import type { SharedFile, SharedFileState } from "./shared-file.ts";

/*
 * Reads a file of keys or pass phrases again and again, so that what the command line changes acts on this process.
 * Reading a small file each second costs less than the surprises of file notifications, which not every file system
 * has. `onState` hears of a file that can no longer be used, or can be again.
 */

export interface KeyWatch {
  stop(): void;
}

export function watchKeys(
  store: Pick<SharedFile<unknown>, "state" | "reload">,
  intervalMs: number,
  onState: (state: SharedFileState) => void,
): KeyWatch {
  let stopped = false;
  let timer = setTimeout(look, intervalMs);
  let told = textOf(store.state);

  async function look(): Promise<void> {
    await store.reload();
    if (stopped) return;
    if (textOf(store.state) !== told) {
      told = textOf(store.state);
      onState(store.state);
    }
    timer = setTimeout(look, intervalMs);
  }

  return {
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

function textOf(state: SharedFileState): string {
  return typeof state === "object" ? state.damaged : state;
}
