import type { Doctor } from "../doctor/doctor.ts";
import type { MessageCounts } from "../ingest/messages/message-counts.ts";
import type { QuarantineTotals } from "../quarantine/quarantine.ts";
import type { Findings } from "../queries/findings.ts";
import type { EventStore } from "../watching/event-store.ts";
import type { Watcher } from "../watching/watcher.ts";
import type { DeliveryMeters } from "../webhooks/delivery.ts";
import type { EventLead } from "../webhooks/event-lead.ts";
import { type MetricGroup, metricGroup, samplesBy } from "./metric.ts";

/*
 * The metrics of parts that count for themselves: clients' messages, the quarantine, the broker, the doctor, the
 * cluster.
 */

/** Messages of apps with their own formats. */
export function clientMetrics(counts: MessageCounts): MetricGroup {
  return metricGroup(
    {
      wherehouse_client_messages_total: "Messages taken from apps that report in their own words, by app.",
      wherehouse_client_points_total:
        "What they held, by app and by what became of it: accepted, duplicates, " +
        "refused (kept in the quarantine), skipped (no positions).",
      wherehouse_client_fields_left_out_total:
        "Optional fields of such points that were omitted because they could not be read or were out of bounds.",
      wherehouse_client_times_of_arrival_total:
        "Such points that had no time, and so have that of their arrival.",
      wherehouse_client_times_corrected_total:
        "Times of such points that were 1024 weeks behind and were set right: a fault of old GPS receivers.",
    },
    () => ({
      wherehouse_client_messages_total: samplesBy("client", Object.fromEntries(counts.messages)),
      wherehouse_client_points_total: [...counts.points].flatMap(([client, points]) =>
        Object.entries(points).map(([outcome, value]) => ({ labels: { client, outcome }, value })),
      ),
      wherehouse_client_fields_left_out_total: counts.leftOutFields,
      wherehouse_client_times_of_arrival_total: counts.timesOfArrival,
      wherehouse_client_times_corrected_total: counts.rolledOverTimes,
    }),
  );
}

/** What makes events of geofences and alerts; `watcher` is null until it is open. */
export function watcherMetrics(watcher: () => Pick<Watcher, "backlog" | "isFailing"> | null): MetricGroup {
  return metricGroup(
    {
      wherehouse_events_backlog_devices: "Devices with reports that geofences and alerts have not seen yet.",
      wherehouse_events_behind_seconds: "For how long the first of them has waited.",
      wherehouse_events_failing: "1 while events can't be stored, or records for them not be read; else 0.",
    },
    () => {
      const { backlog = null, isFailing = null } = watcher() ?? {};
      return {
        wherehouse_events_backlog_devices: backlog?.devices ?? null,
        wherehouse_events_behind_seconds: backlog === null ? null : backlog.behindMs / 1000,
        wherehouse_events_failing: isFailing === null ? null : Number(isFailing),
      };
    },
  );
}

/** Messages that could not be used; `totals` is null until the quarantine is open. */
export function quarantineMetrics(totals: () => QuarantineTotals | null): MetricGroup {
  return metricGroup(
    {
      wherehouse_quarantine_entries:
        "Messages and points in the quarantine, by app that sent them and by why they could not be used.",
      wherehouse_quarantine_bytes: "What they count as; small ones count as 1 KiB.",
      wherehouse_quarantine_bytes_max:
        "What they may come to. Beyond it, or beyond the share of a key or app, clients get a 503.",
      wherehouse_quarantine_displaced_total:
        "Entries of MQTT that gave way to newer ones, since their topic or app had its share.",
      wherehouse_quarantine_refused_total:
        "Messages that got a 503 since a share or the disk was full, or the disk failed.",
    },
    () => {
      const { kinds = [], bytes = null, bytesMax = null, displaced = null, refused = null } = totals() ?? {};
      return {
        wherehouse_quarantine_entries: kinds.map(({ client, reason, entries }) => ({
          labels: { client, reason },
          value: entries,
        })),
        wherehouse_quarantine_bytes: bytes,
        wherehouse_quarantine_bytes_max: bytesMax,
        wherehouse_quarantine_displaced_total: displaced,
        wherehouse_quarantine_refused_total: refused,
      };
    },
  );
}

/** The state of all broker connections together. */
export interface MqttStatus {
  readonly connections: number;
  readonly connected: number;
  /** Connections whose messages wait for the store. */
  readonly held: number;
  /** By result. */
  readonly messages: Readonly<Record<"taken" | "faulty", number>>;
  /** Messages that the broker would not have sent again. */
  readonly unassured: number;
  /** Positions under topics that no filter matches, and some of these topics. */
  readonly unheard: { readonly count: number; readonly topics: readonly string[] };
  /** Events of geofences and alerts that are published; null if none are. */
  readonly events: { readonly isConnected: boolean; readonly sent: number; readonly behindMs: number } | null;
  /** Whether another node of the cluster has the connections. */
  readonly isElsewhere: boolean;
  /** How long the server may be away before the broker drops messages; null if unknown. */
  readonly outageSeconds: number | null;
}

/** Messages of a broker; no values without one. */
export function mqttMetrics(status: () => MqttStatus | null): MetricGroup {
  return metricGroup(
    {
      wherehouse_mqtt_connections:
        "Connections to the MQTT broker that there should be, one for each topic filter.",
      wherehouse_mqtt_connected: "Those that there are.",
      wherehouse_mqtt_held:
        "Those whose messages wait with the broker, since the disk or the quarantine can't take them.",
      wherehouse_mqtt_elsewhere:
        "1 where another node of the cluster takes from the MQTT broker, so that this one has no connection.",
      wherehouse_mqtt_messages_total:
        "Messages of the broker by what became of them: taken, or faulty, " +
        "which met a fault of ours and are in the quarantine as they are.",
      wherehouse_mqtt_unassured_messages_total:
        "Messages that were published with QoS 0: what is sent so while the server is away is lost.",
      wherehouse_mqtt_unheard_messages_total:
        "Positions that were published to topics with more or fewer levels than --mqtt-topic takes.",
      wherehouse_mqtt_outage_seconds:
        "How long the server may be away before the broker throws messages away, " +
        "by --mqtt-queue and the rate of the last hour.",
      wherehouse_mqtt_events_connected: "1 while there is a connection that publishes events; else 0.",
      wherehouse_mqtt_events_sent_total:
        "Messages with events of geofences and alerts that the broker has taken.",
      wherehouse_mqtt_events_behind_seconds:
        "For how long the first event has waited that the broker does not have.",
    },
    () => {
      const now = status();
      return {
        wherehouse_mqtt_connections: now?.connections ?? null,
        wherehouse_mqtt_connected: now?.connected ?? null,
        wherehouse_mqtt_held: now?.held ?? null,
        wherehouse_mqtt_elsewhere: now === null ? null : Number(now.isElsewhere),
        wherehouse_mqtt_messages_total: samplesBy("outcome", { ...now?.messages }),
        wherehouse_mqtt_unassured_messages_total: now?.unassured ?? null,
        wherehouse_mqtt_unheard_messages_total: now?.unheard.count ?? null,
        wherehouse_mqtt_outage_seconds: now?.outageSeconds ?? null,
        wherehouse_mqtt_events_connected: now?.events ? Number(now.events.isConnected) : null,
        wherehouse_mqtt_events_sent_total: now?.events?.sent ?? null,
        wherehouse_mqtt_events_behind_seconds: now?.events ? now.events.behindMs / 1000 : null,
      };
    },
  );
}

/** Requests to webhooks, without a word about where they lead. */
export function webhookMetrics(meters: () => DeliveryMeters | null): MetricGroup {
  return metricGroup(
    {
      wherehouse_webhooks: "Webhooks that are neither paused nor disabled.",
      wherehouse_webhooks_failing: "Webhooks whose receivers fail, so that their events wait.",
      wherehouse_webhook_requests_total:
        "Requests to webhooks, by outcome: delivered, failed, rejected, or parked, which is the last try of an event.",
    },
    () => {
      const now = meters();
      return {
        wherehouse_webhooks: now?.active ?? null,
        wherehouse_webhooks_failing: now?.failing ?? null,
        wherehouse_webhook_requests_total: samplesBy("outcome", { ...now?.outcomes }),
      };
    },
  );
}

/** Revisions of events of geofences and alerts; null until their store is open. `lead` is that of a node, or null. */
export function eventMetrics(
  stores: () => {
    readonly eventStore: Pick<EventStore, "counts">;
    readonly lead: Pick<EventLead, "takeovers"> | null;
  } | null,
): MetricGroup {
  return metricGroup(
    {
      wherehouse_events_total:
        "Events of geofences and alerts that were stored since the start, by kind and by what became of them: made, " +
        "changed, withdrawn.",
      wherehouse_events_takeovers_total:
        "How often this node of a cluster has begun to publish events and send webhooks, which one node does at a time.",
    },
    () => ({
      wherehouse_events_takeovers_total: stores()?.lead?.takeovers ?? null,
      wherehouse_events_total: [...(stores()?.eventStore.counts ?? [])].flatMap(([kind, counts]) =>
        Object.entries(counts).map(([change, value]) => ({ labels: { kind, change }, value })),
      ),
    }),
  );
}

/** Counts the doctor's findings. */
export function doctorMetrics(
  doctor: Pick<Doctor, "deviceCount">,
  { count }: Pick<Findings, "count">,
): MetricGroup {
  return metricGroup(
    {
      wherehouse_doctor_devices:
        "Devices that the doctor knows something of, once for each app that speaks for them; at most 100,000.",
      wherehouse_findings:
        "Devices that something is wrong with, by what: clock, units, repeats, refused, silent. Counted once a minute; " +
        "GET /api/v1/doctor names them.",
    },
    async () => ({
      wherehouse_doctor_devices: doctor.deviceCount,
      wherehouse_findings: samplesBy("kind", await count()),
    }),
  );
}

/** A node's measurements of its cluster. */
export interface ClusterMeasures {
  /** How long the log has had entries that this node has not applied; null during the start. */
  readonly lagMs: number | null;
  /** Nodes that share the work now. */
  readonly liveCount: number;
}

/** Measurements of the cluster; no values for a single process. */
export function clusterMetrics(cluster: () => ClusterMeasures | null): MetricGroup {
  return metricGroup(
    {
      wherehouse_cluster_lag_seconds:
        "For how long the cluster's log has had what this node has not applied; above 10 it is not ready.",
      wherehouse_cluster_nodes:
        "Nodes of the cluster that told of themselves within 30 seconds, this one among them.",
    },
    () => {
      const { lagMs = null, liveCount = null } = cluster() ?? {};
      return {
        wherehouse_cluster_lag_seconds: lagMs === null ? null : lagMs / 1000,
        wherehouse_cluster_nodes: liveCount,
      };
    },
  );
}
