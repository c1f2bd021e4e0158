/*
 * What lies in the bucket of nodes beside what they tell of themselves.
 */

/** Who takes from the MQTT broker (lease.ts). */
export const MQTT_LEASE_KEY = "mqtt-lease";

/** Whether a node tells of itself under this key. */
export function isNodeKey(key: string): boolean {
  return key !== MQTT_LEASE_KEY;
}
