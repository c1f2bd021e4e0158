import { Registry } from "prom-client";
import type { Archive } from "../../archive/archive.ts";
import type { HotStore } from "../../hot/hot-store.ts";
import type { ProcessUsage } from "../../runtime/usage.ts";
import type { Wal } from "../../wal/log.ts";
import type { Doctor } from "../doctor/doctor.ts";
import type { MessageCounts } from "../ingest/messages/message-counts.ts";
import type { ViewerSlots } from "../live/viewer-slots.ts";
import type { Quarantine } from "../quarantine/quarantine.ts";
import type { Findings } from "../queries/findings.ts";
import type { SealSchedule } from "../upkeep/seal/schedule.ts";
import type { EventStore } from "../watching/event-store.ts";
import type { Watcher } from "../watching/watcher.ts";
import type { WebhookDelivery } from "../webhooks/delivery.ts";
import type { EventLead } from "../webhooks/event-lead.ts";
import type { Durations, EventLoopMeter, Meters } from "./meters.ts";
import { formatMetrics, Histogram, type MetricGroup, metricGroup, samplesBy } from "./metric.ts";
import {
  type ClusterMeasures,
  clientMetrics,
  clusterMetrics,
  doctorMetrics,
  eventMetrics,
  type MqttStatus,
  mqttMetrics,
  quarantineMetrics,
  watcherMetrics,
  webhookMetrics,
} from "./service-metrics.ts";

/** All metrics as text in Prometheus' format. */
export type Scrape = () => Promise<string>;

export const METRICS_CONTENT_TYPE = Registry.PROMETHEUS_CONTENT_TYPE;

export interface ScrapeDependencies {
  readonly version: string;
  readonly meters: Meters;
  readonly messages: MessageCounts;
  readonly eventLoop: Pick<EventLoopMeter, "delays" | "takeLongestMs">;
  readonly hot: Pick<HotStore, "recordCount" | "deviceCount" | "profiles" | "corrections">;
  /** Null until they are open. */
  readonly stores: () => OpenStores | null;
  /** Bytes of the log that the start has replayed. */
  readonly start: () => {
    readonly isReady: boolean;
    readonly replayedBytes: number;
    readonly totalBytes: number;
  };
  /** Bodies of reports in flight, and their limits. */
  readonly bodies: BodyUsage;
  readonly viewers: Pick<ViewerSlots, "inUse" | "max">;
  /** Null without a broker, or before the connection is set up. */
  readonly mqtt: () => MqttStatus | null;
  /** Null if this process is not a node of a cluster. */
  readonly cluster: () => ClusterMeasures | null;
  readonly usage: () => ProcessUsage;
  /** Counts unacknowledged damage. */
  readonly countDamaged: () => Promise<number>;
  readonly doctor: Pick<Doctor, "deviceCount">;
  readonly findings: Pick<Findings, "count">;
}

export interface OpenStores {
  readonly log: Pick<Wal, "bytes" | "queueBytes" | "state">;
  readonly archive: Pick<Archive, "manifest" | "reader">;
  readonly quarantine: Pick<Quarantine, "totals">;
  readonly webhooks: { readonly delivery: Pick<WebhookDelivery, "meters"> } | null;
  readonly schedule: Pick<SealSchedule, "state">;
  readonly watcher: Pick<Watcher, "backlog" | "isFailing">;
  readonly eventStore: Pick<EventStore, "counts">;
  /** Null if this process is not a node of a cluster. */
  readonly lead: Pick<EventLead, "takeovers"> | null;
}

export interface BodyUsage {
  readonly requests: number;
  readonly requestsMax: number;
  readonly bytes: number;
  readonly bytesMax: number;
  readonly apps: number;
  readonly refused: { readonly requests: number; readonly bytes: number };
}

const LOG_STATES: readonly Wal["state"][] = ["open", "full", "failed", "closed"];

/** The labels have few values, and none of them comes from a client. */
export function createScrape(dependencies: ScrapeDependencies): Scrape {
  const groups = [
    reportMetrics(dependencies),
    viewerMetrics(dependencies),
    clientMetrics(dependencies.messages),
    quarantineMetrics(() => dependencies.stores()?.quarantine.totals ?? null),
    watcherMetrics(() => dependencies.stores()?.watcher ?? null),
    mqttMetrics(dependencies.mqtt),
    webhookMetrics(() => dependencies.stores()?.webhooks?.delivery.meters ?? null),
    eventMetrics(dependencies.stores),
    doctorMetrics(dependencies.doctor, dependencies.findings),
    logMetrics(dependencies),
    clusterMetrics(dependencies.cluster),
    recordMetrics(dependencies),
    sealMetrics(dependencies),
    processMetrics(dependencies),
    histograms(dependencies),
  ];
  return () => formatMetrics(groups);
}

function reportMetrics({ meters, bodies }: ScrapeDependencies): MetricGroup {
  return metricGroup(
    {
      wherehouse_http_requests_total:
        "Requests answered, by route and status. HEAD counts as GET; requests without a route have the route none.",
      wherehouse_http_requests_in_flight: "Requests that are not answered yet.",
      wherehouse_ingest_requests:
        "Requests with reports under way; those beyond wherehouse_ingest_requests_max get a 503.",
      wherehouse_ingest_requests_max: "Requests with reports that may be under way.",
      wherehouse_ingest_body_bytes:
        "Memory of their bodies, as far as they have arrived; those beyond wherehouse_ingest_body_bytes_max get a 503.",
      wherehouse_ingest_body_bytes_max: "Memory that their bodies may take.",
      wherehouse_ingest_apps:
        "Apps with reports under way. Each may have as much of both bounds as is left, a key half of that.",
      wherehouse_ingest_refused_total:
        "Requests with reports that got a 503 at the door, by what was spent, of all or of their key's or app's share.",
      wherehouse_reports_total: "Reports by what became of them: accepted, duplicates, rejected.",
      wherehouse_refused_batches_total:
        "Batches that the log did not take, by reason; their senders got a 503.",
    },
    () => ({
      wherehouse_http_requests_total: meters.requests.routes.flatMap(({ method, path, statuses }) =>
        [...statuses].map(([status, value]) => ({
          labels: { method, route: path, status: String(status) },
          value,
        })),
      ),
      wherehouse_http_requests_in_flight: meters.requests.inFlight,
      wherehouse_ingest_requests: bodies.requests,
      wherehouse_ingest_requests_max: bodies.requestsMax,
      wherehouse_ingest_body_bytes: bodies.bytes,
      wherehouse_ingest_body_bytes_max: bodies.bytesMax,
      wherehouse_ingest_apps: bodies.apps,
      wherehouse_ingest_refused_total: samplesBy("spent", bodies.refused),
      wherehouse_reports_total: samplesBy("outcome", meters.reports),
      wherehouse_refused_batches_total: samplesBy("reason", Object.fromEntries(meters.refusals)),
    }),
  );
}

function viewerMetrics({ viewers, meters }: ScrapeDependencies): MetricGroup {
  return metricGroup(
    {
      wherehouse_viewers:
        "Clients that listen to the live stream; those beyond wherehouse_viewers_max get a 503.",
      wherehouse_viewers_max: "Clients that may listen, by --max-viewers. An app may have half of them.",
      wherehouse_viewer_events_total: "Events that were sent to them completely.",
      wherehouse_viewer_resets_total: "Of these, resets: the client has to take a snapshot.",
      wherehouse_viewers_refused_total:
        "Clients that got a 503 instead of a stream, since there were too many viewers.",
    },
    () => ({
      wherehouse_viewers: viewers.inUse,
      wherehouse_viewers_max: viewers.max,
      wherehouse_viewer_events_total: meters.viewers.events,
      wherehouse_viewer_resets_total: meters.viewers.resets,
      wherehouse_viewers_refused_total: meters.viewers.refused,
    }),
  );
}

function logMetrics({ meters, stores, start }: ScrapeDependencies): MetricGroup {
  return metricGroup(
    {
      wherehouse_ready:
        "1 once every acknowledged record can be queried, and while the node of a cluster does not lag.",
      wherehouse_replayed_bytes: "Of the log, read by the start so far.",
      wherehouse_replay_bytes: "Of the log, to be read by the start.",
      wherehouse_log_bytes: "Size of the log on disk.",
      wherehouse_log_queue_bytes: "Reports that wait for the disk.",
      wherehouse_log_state:
        "1 for the state that the log is in: open, full (the disk is), failed (until a restart), closed.",
      wherehouse_log_written_bytes_total: "Written to the log.",
      wherehouse_log_entries_total: "Batches written to the log.",
    },
    () => {
      const log = stores()?.log;
      const { isReady, replayedBytes, totalBytes } = start();
      return {
        wherehouse_ready: Number(isReady),
        wherehouse_replayed_bytes: replayedBytes,
        wherehouse_replay_bytes: totalBytes,
        wherehouse_log_bytes: log?.bytes ?? null,
        wherehouse_log_queue_bytes: log?.queueBytes ?? null,
        wherehouse_log_state: LOG_STATES.map((state) => ({
          labels: { state },
          value: Number(state === log?.state),
        })),
        wherehouse_log_written_bytes_total: meters.log.writtenBytes,
        wherehouse_log_entries_total: meters.log.entries,
      };
    },
  );
}

function recordMetrics({ hot, stores, countDamaged }: ScrapeDependencies): MetricGroup {
  return metricGroup(
    {
      wherehouse_hot_records: "Records in memory.",
      wherehouse_devices: "Devices with a position.",
      wherehouse_device_profiles: "Devices with a profile.",
      wherehouse_device_profile_bytes: "Their profiles; those of an app may have 64 MiB.",
      wherehouse_corrections: "Active corrections; an app may have 10,000.",
      wherehouse_corrected_records: "Records that they touch; those of an app may touch 1,000,000.",
      wherehouse_archived_records: "Records in the archive's files.",
      wherehouse_archive_bytes: "Size of the archive's files.",
      wherehouse_archive_files: "Parquet files of sealed days.",
      wherehouse_archived_days: "Sealed days.",
      wherehouse_archive_queries_running: "Queries that the archive works on.",
      wherehouse_archive_queries_waiting: "Queries that wait for the archive.",
      wherehouse_damages: "Unacknowledged damage of log and archive.",
    },
    async () => {
      const { manifest, reader } = stores()?.archive ?? { manifest: null, reader: null };
      const corrections = [...hot.corrections.apps()].map(([, ofApp]) => ofApp);
      const parts = manifest === null ? null : [...manifest.days.values()].flatMap((day) => day.parts);
      return {
        wherehouse_hot_records: hot.recordCount,
        wherehouse_devices: hot.deviceCount,
        wherehouse_device_profiles: hot.profiles.count,
        wherehouse_device_profile_bytes: hot.profiles.bytes,
        wherehouse_corrections: corrections.reduce((sum, { active }) => sum + active, 0),
        wherehouse_corrected_records: corrections.reduce((sum, { records }) => sum + records, 0),
        wherehouse_archived_records: parts?.reduce((sum, { rows }) => sum + rows, 0) ?? null,
        wherehouse_archive_bytes: parts?.reduce((sum, { bytes }) => sum + bytes, 0) ?? null,
        wherehouse_archive_files: parts?.length ?? null,
        wherehouse_archived_days: manifest?.days.size ?? null,
        wherehouse_archive_queries_running: reader?.running ?? null,
        wherehouse_archive_queries_waiting: reader?.waiting ?? null,
        wherehouse_damages: stores() === null ? null : await countDamaged(),
      };
    },
  );
}

function sealMetrics({ meters: { seals }, stores }: ScrapeDependencies): MetricGroup {
  return metricGroup(
    {
      wherehouse_seal_failures_total: "Seals that failed; the next one tries again.",
      wherehouse_sealed_records_total: "Records moved into the archive.",
      wherehouse_last_seal_timestamp_seconds: "When the last seal ended, Unix time.",
      wherehouse_seal_late: "1 if the last seal, or the start, was more than three intervals ago.",
    },
    () => {
      const { lastMs, isLate } = stores()?.schedule.state ?? { lastMs: null, isLate: null };
      return {
        wherehouse_seal_failures_total: seals.failed,
        wherehouse_sealed_records_total: seals.records,
        wherehouse_last_seal_timestamp_seconds: lastMs === null ? null : lastMs / 1000,
        wherehouse_seal_late: isLate === null ? null : Number(isLate),
      };
    },
  );
}

function processMetrics({ version, eventLoop, usage }: ScrapeDependencies): MetricGroup {
  return metricGroup(
    {
      wherehouse_event_loop_delay_max_seconds:
        "The longest of these delays since the last scrape, by whichever scraper.",
      wherehouse_build_info: "Always 1; the label is the version.",
      wherehouse_heap_used_bytes:
        "Objects of the runtime's heap, those that wait for the collector among them.",
      process_resident_memory_bytes: "Memory in use, that of libraries included.",
      process_start_time_seconds: "When the process started, Unix time.",
      process_cpu_seconds_total: "Processor time of all threads.",
    },
    () => {
      const { heapUsedBytes, residentBytes, startedMs, cpuSeconds } = usage();
      return {
        wherehouse_event_loop_delay_max_seconds: eventLoop.takeLongestMs() / 1000,
        wherehouse_build_info: samplesBy("version", { [version]: 1 }),
        wherehouse_heap_used_bytes: heapUsedBytes,
        process_resident_memory_bytes: residentBytes,
        process_start_time_seconds: startedMs / 1000,
        process_cpu_seconds_total: cpuSeconds,
      };
    },
  );
}

function histograms({ meters, eventLoop }: ScrapeDependencies): MetricGroup {
  const unlabelled = (durations: Durations) => new Histogram([{ labels: {}, durations }]);
  return metricGroup(
    {
      wherehouse_http_request_duration_seconds: "From a request's arrival to its answer, without sending it.",
      wherehouse_log_sync_duration_seconds: "How long the disk took to make a write to the log durable.",
      wherehouse_seal_duration_seconds: "How long seals took.",
      wherehouse_event_loop_delay_seconds:
        "How late a timer fired, looked at 100 times a second: what requests wait before they are looked at.",
    },
    () => ({
      wherehouse_http_request_duration_seconds: new Histogram(
        meters.requests.routes
          .filter(({ statuses }) => statuses.size > 0) // Most routes have no requests, and would be empty buckets.
          .map(({ method, path, durations }) => ({ labels: { method, route: path }, durations })),
      ),
      wherehouse_log_sync_duration_seconds: unlabelled(meters.log.syncs),
      wherehouse_seal_duration_seconds: unlabelled(meters.seals.durations),
      wherehouse_event_loop_delay_seconds: unlabelled(eventLoop.delays),
    }),
  );
}
