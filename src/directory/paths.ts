import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { Files } from "../runtime/files.ts";

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

const ID_BYTES = 8;
const ID = /^[0-9a-f]{16}$/;

/**
 * A data directory's own id: for brokers, which keep messages for it, and for the cluster that it moves into. Made if
 * there is none that can be used; from then on the directory keeps it, and no other directory has it.
 */
export async function readDirectoryId(files: Files, path: string): Promise<string> {
  if (await files.exists(path)) {
    const id = parseDirectoryId(await files.read(path));
    if (id !== null) return id;
  }
  const id = randomBytes(ID_BYTES).toString("hex");
  await files.replace(path, new TextEncoder().encode(`${id}\n`));
  return id;
}

/** The id that these bytes spell; null if they spell none. */
export function parseDirectoryId(bytes: Uint8Array): string | null {
  const id = new TextDecoder().decode(bytes).trim();
  return ID.test(id) ? id : null;
}
