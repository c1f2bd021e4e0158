import type { BrokerLinkEvents } from "../../app/broker-link.ts";
import { messageOf } from "../../lib/message-of.ts";
import type { EventLog } from "./event-log.ts";

/**
 * What happens between the server and a broker, as events of the log. A topic there is the operator's filter: those of
 * messages name devices.
 */
export function mqttEvents(log: EventLog, repeatMs: number): BrokerLinkEvents {
  const isNews = createNewsFilter(repeatMs);
  return {
    onConnected(topic, mayHaveMissed) {
      log.info({ event: "mqtt_connected", topic }, `Connected to the MQTT broker for ${topic}.`);
      if (!mayHaveMissed) return;
      log.warn(
        { event: "mqtt_missed", topic },
        `The MQTT broker kept nothing for us of ${topic}: unless this is the first connection to it, ` +
          "what was published since the last one may be lost.",
      );
    },
    onDisconnected(topic, reason) {
      if (!isNews(`${topic} ${reason}`)) return;
      log.warn(
        { event: "mqtt_disconnected", topic, reason },
        `No connection to the MQTT broker for ${topic}, it is tried again: ${reason}`,
      );
    },
    onRefused: (topic, reason) =>
      log.warn(
        { event: "mqtt_refused", topic, reason },
        `The MQTT broker does not let us subscribe to ${topic}: ${reason}`,
      ),
    onHeld(topic, error) {
      const message = "message" in error ? error.message : error.kind;
      if (!isNews(`${topic} ${message}`)) return;
      log.warn(
        { event: "mqtt_held", topic, reason: message },
        `Messages of ${topic} wait with the MQTT broker: ${message}`,
      );
    },
    onLease(held) {
      if (held === "here")
        log.info({ event: "mqtt_lease_held" }, "This node takes from the MQTT broker for its cluster.");
      else if (held === "elsewhere")
        log.info({ event: "mqtt_elsewhere" }, "Another node of the cluster takes from the MQTT broker.");
      else
        log.warn(
          { event: "mqtt_lease_lost" },
          "This node takes no more from the MQTT broker: it could not tell the cluster that it goes on.",
        );
    },
    onUnassured: (topic) =>
      log.warn(
        { event: "mqtt_unassured", topic },
        `Something publishes to ${topic} with QoS 0: what it sends while this server is away is lost.`,
      ),
    onUnheard: (topic, levels) =>
      log.warn(
        { event: "mqtt_unheard", topic, levels },
        `Positions are published to topics of ${levels} levels, which ${topic} does not take: they are not stored. ` +
          "The doctor names the topics.",
      ),
    onFault: (topic, err) =>
      log.error(
        { event: "mqtt_fault", topic, err },
        `A message of ${topic} met a fault and is set aside as it is: ${messageOf(err)}`,
      ),
  };
}

/** Whether a notice was not given lately. */
function createNewsFilter(repeatMs: number): (notice: string) => boolean {
  const saidMs = new Map<string, number>();
  return (notice) => {
    const nowMs = performance.now();
    for (const [said, atMs] of saidMs) if (nowMs - atMs >= repeatMs) saidMs.delete(said);
    if (saidMs.has(notice)) return false;
    saidMs.set(notice, nowMs);
    return true;
  };
}
