/*
 * What lies in the bucket of nodes beside what they tell of themselves.
 */

/** Who takes from the MQTT broker (lease.ts). */
export const MQTT_LEASE_KEY = "mqtt-lease";

/** Whose directory was moved in: that of a single process, by its id. */
export const MOVED_KEY = "moved-directory";

/** Whether a node tells of itself under this key. */
export function isNodeKey(key: string): boolean {
  return key !== MQTT_LEASE_KEY && key !== MOVED_KEY;
}
