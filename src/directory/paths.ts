import { join } from "node:path";

/** Names of what lies in a data directory (contract, §6). */
export function directoryPaths(dataDir: string) {
  return {
    log: join(dataDir, "wal"),
    archive: join(dataDir, "archive"),
    damaged: join(dataDir, "damaged"),
    keys: join(dataDir, "keys.json"),
    firstKey: join(dataDir, "first-key"),
    lock: join(dataDir, "lock"),
  };
}
