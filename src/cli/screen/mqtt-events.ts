import type { BrokerLinkEvents } from "../../app/broker-link.ts";
import { messageOf } from "../../lib/message-of.ts";
import type { EventLog } from "./event-log.ts";

/**
 * Logs what happens between the server and a broker. Events name the operator's filter: message topics name devices.
 */
export function mqttEvents(log: EventLog, repeatMs: number): BrokerLinkEvents {
  const isNews = createNewsFilter(repeatMs);
  return {
    onConnected(topic, mayHaveMissed) {
      log.info({ event: "mqtt_connected", topic }, `Connected to the MQTT broker for ${topic}.`);
      if (!mayHaveMissed) return;
      log.warn(
        { event: "mqtt_missed", topic },
        `The MQTT broker has no session for ${topic}: unless this is the first connection to it, ` +
          "messages published since the last one may be lost.",
      );
    },
    onDisconnected(topic, reason) {
      if (!isNews(`${topic} ${reason}`)) return;
      log.warn(
        { event: "mqtt_disconnected", topic, reason },
        `No connection to the MQTT broker for ${topic}, retrying: ${reason}`,
      );
    },
    onSenderConnected: () =>
      log.info({ event: "mqtt_events_connected" }, "Connected to the MQTT broker to publish events."),
    onSenderDisconnected(reason) {
      if (!isNews(`events ${reason}`)) return;
      log.warn(
        { event: "mqtt_events_disconnected", reason },
        `No connection to the MQTT broker to publish events, retrying: ${reason}`,
      );
    },
    onRefused: (topic, reason) =>
      log.warn(
        { event: "mqtt_refused", topic, reason },
        `The MQTT broker rejected the subscription to ${topic}: ${reason}`,
      ),
    onHeld(topic, error) {
      const message = "message" in error ? error.message : error.kind;
      if (!isNews(`${topic} ${message}`)) return;
      log.warn(
        { event: "mqtt_held", topic, reason: message },
        `Messages of ${topic} wait with the MQTT broker: ${message}`,
      );
    },
    onLease(owner) {
      if (owner === "here")
        log.info({ event: "mqtt_lease_held" }, "This node reads from the MQTT broker for its cluster.");
      else if (owner === "elsewhere")
        log.info({ event: "mqtt_elsewhere" }, "Another node of the cluster reads from the MQTT broker.");
      else
        log.warn(
          { event: "mqtt_lease_lost" },
          "This node stopped reading from the MQTT broker: it could not renew its lease with the cluster.",
        );
    },
    onUnassured: (topic) =>
      log.warn(
        { event: "mqtt_unassured", topic },
        `A client publishes to ${topic} with QoS 0: what it sends while this server is down is lost.`,
      ),
    onUnheard: (topic, levels) =>
      log.warn(
        { event: "mqtt_unheard", topic, levels },
        `Positions are published to topics of ${levels} levels, which ${topic} does not match: they are not stored. ` +
          "The doctor names the topics.",
      ),
    onFault: (topic, err) =>
      log.error(
        { event: "mqtt_fault", topic, err },
        `A message of ${topic} caused a fault and is quarantined: ${messageOf(err)}`,
      ),
  };
}

/** The filter is true for a notice that it has not seen within the last `repeatMs`. */
function createNewsFilter(repeatMs: number): (notice: string) => boolean {
  const lastMs = new Map<string, number>();
  return (notice) => {
    const nowMs = performance.now();
    for (const [old, atMs] of lastMs) if (nowMs - atMs >= repeatMs) lastMs.delete(old);
    if (lastMs.has(notice)) return false;
    lastMs.set(notice, nowMs);
    return true;
  };
}
