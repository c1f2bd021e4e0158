import { type Files, isPassing } from "./files.ts";

/*
 * A disk that is asked again where the machine has, for now, no descriptor or memory to open a file with. A start reads
 * what was acknowledged: what it can't open yet must neither pass for damaged nor end it.
 */

export interface Patience {
  /** Whether to go on waiting; once it is not, failures are handed on at once. */
  isWanted(): boolean;
  /** Told of each failure that is waited for. */
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
    readPieces: (path) => files.readPieces(path), // Of no start, and so the next.
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
