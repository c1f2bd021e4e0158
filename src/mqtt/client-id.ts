import { createHash, randomBytes } from "node:crypto";
import type { Files } from "../runtime/files.ts";
import type { Bucket } from "../runtime/stream/stream.ts";

/*
 * The broker keeps messages for a client id. It has to be the same after each start, or they would be kept for nobody,
 * and no other server's: the broker closes the connection of whoever had it before.
 */

/** How nodes find the directory's name among what they share. */
export const DIRECTORY_ID = "directory-id";

const ID_BYTES = 8;
const ID = /^[0-9a-f]{16}$/;

/** The data directory's own name among clients of brokers, made where there is none that can be used. */
export async function readDirectoryId(files: Files, path: string): Promise<string> {
  if (await files.exists(path)) {
    const id = new TextDecoder().decode(await files.read(path)).trim();
    if (ID.test(id)) return id;
  }
  const id = randomBytes(ID_BYTES).toString("hex");
  await files.replace(path, new TextEncoder().encode(`${id}\n`));
  return id;
}

/**
 * What all nodes of a cluster call themselves, so that the session outlives each of them: their stream, or the name of
 * the directory that moved into the cluster, for which the broker may keep messages.
 */
export async function readClusterName(shared: Pick<Bucket, "get">, stream: string): Promise<string> {
  const entry = await shared.get(DIRECTORY_ID);
  const id = entry === null ? "" : new TextDecoder().decode(entry.value).trim();
  return ID.test(id) ? id : stream;
}

/** Of the connection for one filter: a session holds its subscription, so another filter needs another session. */
export function clientIdOf(name: string, topicFilter: string): string {
  const suffix = createHash("sha256").update(topicFilter).digest("hex").slice(0, 8);
  return `wherehouse-${name}-${suffix}`;
}
