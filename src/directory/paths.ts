import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { Files } from "../runtime/files.ts";

/** The paths of a data directory's files (contract, §6). */
export function directoryPaths(dataDir: string) {
  return {
    log: join(dataDir, "wal"),
    /** The log from before the directory moved into a cluster. The server never reads it. */
    formerLog: join(dataDir, "wal.before-cluster"),
    /** What `join` copies, and what was in its place, until the copy is complete. */
    joining: join(dataDir, "joining"),
    archive: join(dataDir, "archive"),
    quarantine: join(dataDir, "quarantine"),
    events: join(dataDir, "events"),
    damaged: join(dataDir, "damaged"),
    keys: join(dataDir, "keys.json"),
    settings: join(dataDir, "settings.json"),
    sessionSecret: join(dataDir, "session-secret"),
    passPhrases: join(dataDir, "pass-phrases.json"),
    webhookSecrets: join(dataDir, "webhook-secrets.json"),
    firstKey: join(dataDir, "first-key"),
    erasures: join(dataDir, "erasures.json"),
    directoryId: join(dataDir, "directory-id"),
    cluster: join(dataDir, "cluster.json"),
    /** Streets that `map fetch` copied; not in backups, since they can be copied again. */
    map: join(dataDir, "map"),
    /** The reports of erasures, by their ids. */
    erasureReports: join(dataDir, "erasures"),
    lock: join(dataDir, "lock"),
    serving: join(dataDir, "serving.json"),
  };
}

/** What a node has no use for: its log is the stream, its keys are the cluster's, and its copy is complete. */
export function pathsBeforeCluster(dataDir: string): readonly string[] {
  const { formerLog, joining, keys, passPhrases, webhookSecrets } = directoryPaths(dataDir);
  return [formerLog, joining, keys, passPhrases, webhookSecrets];
}

const ID_BYTES = 8;
const ID = /^[0-9a-f]{16}$/;

/**
 * Reads the data directory's random id, or creates it if it is missing or damaged. The id names the MQTT session, and
 * the directory that a cluster was started from.
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

/** Returns null if the bytes are not an id. */
export function parseDirectoryId(bytes: Uint8Array): string | null {
  const id = new TextDecoder().decode(bytes).trim();
  return ID.test(id) ? id : null;
}
