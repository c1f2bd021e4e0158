import { join } from "node:path";

/** Names of what lies in a data directory (contract, §6). */
export function directoryPaths(dataDir: string) {
  return {
    log: join(dataDir, "wal"),
    /** Of a directory that was moved into a cluster: nothing reads it. */
    formerLog: join(dataDir, "wal.before-cluster"),
    archive: join(dataDir, "archive"),
    quarantine: join(dataDir, "quarantine"),
    damaged: join(dataDir, "damaged"),
    keys: join(dataDir, "keys.json"),
    settings: join(dataDir, "settings.json"),
    sessionSecret: join(dataDir, "session-secret"),
    passPhrases: join(dataDir, "pass-phrases.json"),
    firstKey: join(dataDir, "first-key"),
    directoryId: join(dataDir, "directory-id"),
    cluster: join(dataDir, "cluster.json"),
    lock: join(dataDir, "lock"),
    /** The address of the server that holds the lock. */
    serving: join(dataDir, "serving.json"),
  };
}
