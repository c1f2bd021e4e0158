import { type Files, isPassing } from "./files.ts";

/*
 * Repeats disk operations while the machine is temporarily out of descriptors or memory. A server start reads
 * acknowledged data: a file that it can't open yet must neither count as damaged nor end the start.
 */

export interface Patience {
  /** Whether to keep retrying. If false, failures are thrown immediately. */
  isWanted(): boolean;
  /** Called for each failure that is retried. */
  onWaiting(error: unknown): void;
}

const PAUSE_MS = 250;

export function createPatientFiles(files: Files, { isWanted, onWaiting }: Patience): Files {
  async function patiently<Value>(act: () => Promise<Value>): Promise<Value> {
    for (;;) {
      try {
        return await act();
      } catch (error) {
        if (!isPassing(error) || !isWanted()) throw error;
        onWaiting(error);
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    }
  }

  return {
    read: (path) => patiently(() => files.read(path)),
    readPieces: (path) => files.readPieces(path), // Not used by a start; neither is the next one.
    readRange: (path, start, end) => files.readRange(path, start, end),
    size: (path) => patiently(() => files.size(path)),
    exists: (path) => patiently(() => files.exists(path)),
    isFile: (path) => patiently(() => files.isFile(path)),
    list: (directory) => patiently(() => files.list(directory)),
    makeDirectory: (path, toReplace) => patiently(() => files.makeDirectory(path, toReplace)),
    openAppend: (path) => patiently(() => files.openAppend(path)),
    replace: (path, bytes) => patiently(() => files.replace(path, bytes)),
    overwrite: (path, ownBytes) => patiently(() => files.overwrite(path, ownBytes)),
    rename: (from, to) => patiently(() => files.rename(from, to)),
    link: (from, to) => patiently(() => files.link(from, to)),
    remove: (path) => patiently(() => files.remove(path)),
    removeAll: (path) => patiently(() => files.removeAll(path)),
    syncDirectory: (path) => patiently(() => files.syncDirectory(path)),
  };
}
