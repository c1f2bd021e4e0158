import type { KeyFileState, KeyStore } from "./key-store.ts";

/*
 * Reads the key file again and again, so that keys changed by the command line act on this process. Reading a small
 * file each second costs less than the surprises of file notifications, which not every file system has. `onState`
 * hears of a file that can no longer be used, or can be again.
 */

export interface KeyWatch {
  stop(): void;
}

export function watchKeys(
  store: KeyStore,
  intervalMs: number,
  onState: (state: KeyFileState) => void,
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

function textOf(state: KeyFileState): string {
  return typeof state === "object" ? state.damaged : state;
}
