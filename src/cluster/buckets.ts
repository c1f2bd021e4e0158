/* Names of a stream's buckets, and the keys of the nodes bucket that don't belong to a node. */

/** The status of each node (node-status.ts). */
export function nodesBucketName(stream: string): string {
  return `${stream}-nodes`;
}

/** The only copy of the cluster's keys, settings, secret and pass phrases. */
export function sharedBucketName(stream: string): string {
  return `${stream}-shared`;
}

/** Used sign-in codes. */
export function codesBucketName(stream: string): string {
  return `${stream}-codes`;
}

/** The lease of the node that receives from the MQTT broker (lease.ts). */
export const MQTT_LEASE_KEY = "mqtt-lease";

/** The lease of the node that publishes events and delivers them (lease.ts). */
export const EVENTS_LEASE_KEY = "events-lease";

/** The id of the single-process directory that the cluster was started from. */
export const MOVED_KEY = "moved-directory";

/** Whether the value under this key is a node's status. */
export function isNodeKey(key: string): boolean {
  return key !== MQTT_LEASE_KEY && key !== EVENTS_LEASE_KEY && key !== MOVED_KEY;
}
