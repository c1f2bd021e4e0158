import { createHash } from "node:crypto";
import type { Bucket } from "../../cluster/stream/stream.ts";
import { parseDirectoryId } from "../../directory/paths.ts";

/*
 * The broker keeps messages for a client id. It has to be the same after each start, or they would be kept for nobody,
 * and no other server's: the broker closes the connection of whoever had it before.
 */

/** How nodes find the directory's name among what they share. */
export const DIRECTORY_ID = "directory-id";

/**
 * What all nodes of a cluster call themselves, so that the session outlives each of them: their stream, or the name of
 * the directory that moved into the cluster, for which the broker may keep messages.
 */
export async function readClusterName(shared: Pick<Bucket, "get">, stream: string): Promise<string> {
  const entry = await shared.get(DIRECTORY_ID);
  return (entry === null ? null : parseDirectoryId(entry.value)) ?? stream;
}

/** Of the connection for one filter: a session holds its subscription, so another filter needs another session. */
export function clientIdOf(name: string, topicFilter: string): string {
  const suffix = createHash("sha256").update(topicFilter).digest("hex").slice(0, 8);
  return `wherehouse-${name}-${suffix}`;
}
