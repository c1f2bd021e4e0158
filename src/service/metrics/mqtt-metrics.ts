import type { Metric } from "./metric.ts";

/** All connections to the broker together. */
export interface MqttStatus {
  readonly connections: number;
  readonly connected: number;
  /** Connections whose messages wait for the store. */
  readonly held: number;
  /** By what became of them. */
  readonly messages: Readonly<Record<"taken" | "faulty", number>>;
  /** Of all that came, those that the broker would not have sent again. */
  readonly unassured: number;
  /** Positions under topics that no filter takes, and some of these topics. */
  readonly unheard: { readonly count: number; readonly topics: readonly string[] };
  /** Whether another node of the cluster has the connections. */
  readonly isElsewhere: boolean;
  /** How long we may be away before the broker throws messages away; null where nobody knows yet. */
  readonly outageSeconds: number | null;
}

/** What a broker sends; nothing where none is asked. */
export function mqttMetrics(status: () => MqttStatus | null): Metric[] {
  return [
    {
      name: "wherehouse_mqtt_connections",
      help: "Connections to the MQTT broker that there should be, one for each topic filter.",
      look: () => status()?.connections ?? null,
    },
    {
      name: "wherehouse_mqtt_connected",
      help: "Those that there are.",
      look: () => status()?.connected ?? null,
    },
    {
      name: "wherehouse_mqtt_held",
      help: "Those whose messages wait with the broker, since the disk or the quarantine can't take them.",
      look: () => status()?.held ?? null,
    },
    {
      name: "wherehouse_mqtt_elsewhere",
      help: "1 where another node of the cluster takes from the MQTT broker, so that this one has no connection.",
      look() {
        const isElsewhere = status()?.isElsewhere ?? null;
        return isElsewhere === null ? null : Number(isElsewhere);
      },
    },
    {
      name: "wherehouse_mqtt_messages_total",
      help:
        "Messages of the broker by what became of them: taken, or faulty, " +
        "which met a fault of ours and are in the quarantine as they are.",
      label: "outcome",
      lookAll: () => ({ ...status()?.messages }),
    },
    {
      name: "wherehouse_mqtt_unassured_messages_total",
      help: "Messages that were published with QoS 0: what is sent so while the server is away is lost.",
      look: () => status()?.unassured ?? null,
    },
    {
      name: "wherehouse_mqtt_unheard_messages_total",
      help: "Positions that were published to topics with more or fewer levels than --mqtt-topic takes.",
      look: () => status()?.unheard.count ?? null,
    },
    {
      name: "wherehouse_mqtt_outage_seconds",
      help:
        "How long the server may be away before the broker throws messages away, " +
        "by --mqtt-queue and the rate of the last hour.",
      look: () => status()?.outageSeconds ?? null,
    },
  ];
}
