/* The buckets of a stream: their names, and the keys of the bucket of nodes beside one for each node. */

/** What each node tells the others of itself. */
export function nodesBucketName(stream: string): string {
  return `${stream}-nodes`;
}

/** The keys, settings, secret and pass phrases of the cluster, which are nowhere else. */
export function sharedBucketName(stream: string): string {
  return `${stream}-shared`;
}

/** Sign-in codes that were used. */
export function codesBucketName(stream: string): string {
  return `${stream}-codes`;
}

/** The key of the lease in the bucket of nodes: which node takes from the MQTT broker (`lease.ts`). */
export const MQTT_LEASE_KEY = "mqtt-lease";

/** The key in the bucket of nodes that names the directory of a single process that moved in, by its id. */
export const MOVED_KEY = "moved-directory";

/** Whether a node tells of itself under this key. */
export function isNodeKey(key: string): boolean {
  return key !== MQTT_LEASE_KEY && key !== MOVED_KEY;
}
