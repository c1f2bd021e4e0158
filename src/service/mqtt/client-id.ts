import { createHash } from "node:crypto";
import type { Bucket } from "../../cluster/stream/stream.ts";
import { parseDirectoryId } from "../../directory/paths.ts";

/*
 * The broker queues messages by client id. The id must be the same after each start, or the queued messages would be
 * lost, and differ from other servers': the broker disconnects the former connection with the same id.
 */

/** The name under which nodes share the directory's id. */
export const DIRECTORY_ID = "directory-id";

/**
 * The client name of all nodes of a cluster, so that the session outlives each node: their stream, or the id of the
 * directory that moved into the cluster, for which the broker may have queued messages.
 */
export async function readClusterName(shared: Pick<Bucket, "get">, stream: string): Promise<string> {
  const entry = await shared.get(DIRECTORY_ID);
  return (entry === null ? null : parseDirectoryId(entry.value)) ?? stream;
}

/** The client id of one filter's connection: a session has one subscription, so each filter needs its own. */
export function clientIdOf(name: string, topicFilter: string): string {
  const suffix = createHash("sha256").update(topicFilter).digest("hex").slice(0, 8);
  return `wherehouse-${name}-${suffix}`;
}

/** The client id of the connection that publishes events. */
export function senderIdOf(name: string): string {
  return `wherehouse-${name}-events`;
}
