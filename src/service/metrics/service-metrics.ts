import type { Doctor } from "../doctor/doctor.ts";
import type { MessageCounts } from "../ingest/messages/message-counts.ts";
import type { QuarantineTotals } from "../quarantine/quarantine.ts";
import type { Findings } from "../queries/findings.ts";
import type { Metric } from "./metric.ts";

/*
 * The metrics of each part of the service that has numbers of its own: what clients sent, the quarantine, the broker,
 * the doctor, the cluster.
 */

/** What apps that report in their own words sent. */
export function clientMetrics(counts: MessageCounts): Metric[] {
  return [
    {
      name: "wherehouse_client_messages_total",
      help: "Messages taken from apps that report in their own words, by app.",
      label: "client",
      lookAll: () => Object.fromEntries(counts.messages),
    },
    {
      name: "wherehouse_client_points_total",
      help:
        "What they held, by app and by what became of it: accepted, duplicates, " +
        "refused (kept in the quarantine), skipped (no positions).",
      labels: ["client", "outcome"],
      lookSamples: () =>
        [...counts.points].flatMap(([client, points]) =>
          Object.entries(points).map(([outcome, value]) => ({ labels: { client, outcome }, value })),
        ),
    },
    {
      name: "wherehouse_client_fields_left_out_total",
      help: "Optional fields of such points that were left out, since they could not be read or were out of bounds.",
      look: () => counts.leftOutFields,
    },
    {
      name: "wherehouse_client_times_of_arrival_total",
      help: "Such points that had no time, and so have that of their arrival.",
      look: () => counts.timesOfArrival,
    },
    {
      name: "wherehouse_client_times_corrected_total",
      help: "Times of such points that were 1024 weeks behind and were set right: a fault of old GPS receivers.",
      look: () => counts.rolledOverTimes,
    },
  ];
}

/** What clients sent and the server could not use; `totals` is null until the quarantine is open. */
export function quarantineMetrics(totals: () => QuarantineTotals | null): Metric[] {
  return [
    {
      name: "wherehouse_quarantine_entries",
      help: "Messages and points in the quarantine, by app that sent them and by why they could not be used.",
      labels: ["client", "reason"],
      lookSamples: () =>
        (totals()?.kinds ?? []).map(({ client, reason, entries }) => ({
          labels: { client, reason },
          value: entries,
        })),
    },
    {
      name: "wherehouse_quarantine_bytes",
      help: "What they count as; small ones count as 1 KiB.",
      look: () => totals()?.bytes ?? null,
    },
    {
      name: "wherehouse_quarantine_bytes_max",
      help: "What they may come to. Beyond it, or beyond the share of a key or app, clients get a 503.",
      look: () => totals()?.bytesMax ?? null,
    },
    {
      name: "wherehouse_quarantine_displaced_total",
      help: "Entries of MQTT that gave way to newer ones, since their topic or app had its share.",
      look: () => totals()?.displaced ?? null,
    },
    {
      name: "wherehouse_quarantine_refused_total",
      help: "Messages that got a 503 since a share or the disk was full, or the disk failed.",
      look: () => totals()?.refused ?? null,
    },
  ];
}

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
  /** How long we may be away before the broker throws messages away; null if that is not known yet. */
  readonly outageSeconds: number | null;
}

/** What a broker sends; no values if the server has no broker. */
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

/** What the doctor finds, in numbers. */
export function doctorMetrics(
  doctor: Pick<Doctor, "deviceCount">,
  { count }: Pick<Findings, "count">,
): Metric[] {
  return [
    {
      name: "wherehouse_doctor_devices",
      help: "Devices that the doctor knows something of, once for each app that speaks for them; at most 100,000.",
      look: () => doctor.deviceCount,
    },
    {
      name: "wherehouse_findings",
      help:
        "Devices that something is wrong with, by what: clock, units, repeats, refused, silent. Counted once a minute; " +
        "GET /api/v1/doctor names them.",
      label: "kind",
      lookAll: count,
    },
  ];
}

/** What a node knows of its cluster. */
export interface ClusterMeasures {
  /** For how long the log has had what this node has not applied; null before the start is over. */
  readonly lagMs: number | null;
  /** Nodes that share the work now. */
  readonly liveCount: number;
}

/** What the cluster knows; no values if this process is alone. */
export function clusterMetrics(cluster: () => ClusterMeasures | null): Metric[] {
  return [
    {
      name: "wherehouse_cluster_lag_seconds",
      help: "For how long the cluster's log has had what this node has not applied; above 10 it is not ready.",
      look() {
        const lagMs = cluster()?.lagMs ?? null;
        return lagMs === null ? null : lagMs / 1000;
      },
    },
    {
      name: "wherehouse_cluster_nodes",
      help: "Nodes of the cluster that told of themselves within 30 seconds, this one among them.",
      look: () => cluster()?.liveCount ?? null,
    },
  ];
}
