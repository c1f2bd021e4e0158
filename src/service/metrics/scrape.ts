import { Counter, Registry } from "prom-client";
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
import type { Durations, EventLoopMeter, Meters } from "./meters.ts";
import { addMetric, type CountedHistogram, type Metric, registryOf } from "./metric.ts";
import {
  type ClusterMeasures,
  clientMetrics,
  clusterMetrics,
  doctorMetrics,
  type MqttStatus,
  mqttMetrics,
  quarantineMetrics,
} from "./service-metrics.ts";

/** What the service counts and holds, as text in Prometheus' format. */
export type Scrape = () => Promise<string>;

export const METRICS_CONTENT_TYPE = Registry.PROMETHEUS_CONTENT_TYPE;

export interface ScrapeDependencies {
  readonly version: string;
  readonly meters: Meters;
  readonly messages: MessageCounts;
  readonly eventLoop: Pick<EventLoopMeter, "delays" | "takeLongestMs">;
  readonly hot: Pick<HotStore, "recordCount" | "deviceCount">;
  /** Log, archive, quarantine and when it seals; null until they are open. */
  readonly stores: () => OpenStores | null;
  /** How far the start is, in bytes of the log. */
  readonly start: () => {
    readonly isReady: boolean;
    readonly replayedBytes: number;
    readonly totalBytes: number;
  };
  /** Bodies of reports under way, and what they may take at most. */
  readonly bodies: BodyUsage;
  readonly viewers: Pick<ViewerSlots, "taken" | "max">;
  /** Null where no broker is asked, or not yet. */
  readonly mqtt: () => MqttStatus | null;
  /** Null where this process is alone. */
  readonly cluster: () => ClusterMeasures | null;
  readonly usage: () => ProcessUsage;
  /** Damages that nobody has acknowledged. */
  readonly countDamaged: () => Promise<number>;
  readonly doctor: Pick<Doctor, "deviceCount">;
  readonly findings: Pick<Findings, "count">;
}

export interface OpenStores {
  readonly log: Pick<Wal, "bytes" | "queueBytes" | "state">;
  readonly archive: Pick<Archive, "manifest" | "reader">;
  readonly quarantine: Pick<Quarantine, "totals">;
  readonly schedule: Pick<SealSchedule, "state">;
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

/** Names end in their unit, `_total` where they only rise; labels have few values, and none of them is a client's. */
export function createScrape(dependencies: ScrapeDependencies): Scrape {
  const registry = new Registry();
  addRequests(registry, dependencies);
  for (const metric of [
    ...reportMetrics(dependencies),
    ...viewerMetrics(dependencies),
    ...clientMetrics(dependencies.messages),
    ...quarantineMetrics(() => dependencies.stores()?.quarantine.totals ?? null),
    ...mqttMetrics(dependencies.mqtt),
    ...doctorMetrics(dependencies.doctor, dependencies.findings),
    ...logMetrics(dependencies),
    ...clusterMetrics(dependencies.cluster),
    ...recordMetrics(dependencies),
    ...sealMetrics(dependencies),
    ...processMetrics(dependencies),
  ]) {
    addMetric(registry, metric);
  }
  const histograms = histogramsOf(dependencies);
  return () => Registry.merge([registry, registryOf(histograms)]).metrics();
}

function addRequests(registry: Registry, { meters }: ScrapeDependencies): void {
  const { requests } = meters;
  new Counter({
    name: "wherehouse_http_requests_total",
    help: "Requests answered, by route and status. HEAD counts as GET; the route is none where none took it.",
    labelNames: ["method", "route", "status"],
    registers: [registry],
    collect() {
      this.reset();
      for (const { method, path, statuses } of requests.routes) {
        for (const [status, count] of statuses) this.inc({ method, route: path, status }, count);
      }
    },
  });
}

function histogramsOf({ meters, eventLoop }: ScrapeDependencies): CountedHistogram[] {
  const unlabelled = (name: string, help: string, durations: Durations): CountedHistogram => ({
    name,
    help,
    all: () => [{ labels: {}, durations }],
  });
  return [
    {
      name: "wherehouse_http_request_duration_seconds",
      help: "From a request's arrival to its answer, without sending it.",
      all: () =>
        meters.requests.routes
          .filter(({ statuses }) => statuses.size > 0) // Most scrapes would be empty buckets else.
          .map(({ method, path, durations }) => ({ labels: { method, route: path }, durations })),
    },
    unlabelled(
      "wherehouse_log_sync_duration_seconds",
      "How long the disk took to make a write to the log durable.",
      meters.log.syncs,
    ),
    unlabelled("wherehouse_seal_duration_seconds", "How long seals took.", meters.seals.durations),
    unlabelled(
      "wherehouse_event_loop_delay_seconds",
      "How late a timer fired, looked at 100 times a second: what requests wait before they are looked at.",
      eventLoop.delays,
    ),
  ];
}

function reportMetrics({ meters, bodies }: ScrapeDependencies): Metric[] {
  return [
    {
      name: "wherehouse_http_requests_in_flight",
      help: "Requests that are not answered yet.",
      look: () => meters.requests.inFlight,
    },
    {
      name: "wherehouse_ingest_requests",
      help: "Requests with reports under way; those beyond wherehouse_ingest_requests_max get a 503.",
      look: () => bodies.requests,
    },
    {
      name: "wherehouse_ingest_requests_max",
      help: "Requests with reports that may be under way.",
      look: () => bodies.requestsMax,
    },
    {
      name: "wherehouse_ingest_body_bytes",
      help:
        "Memory of their bodies, as far as they have arrived; " +
        "those beyond wherehouse_ingest_body_bytes_max get a 503.",
      look: () => bodies.bytes,
    },
    {
      name: "wherehouse_ingest_body_bytes_max",
      help: "Memory that their bodies may take.",
      look: () => bodies.bytesMax,
    },
    {
      name: "wherehouse_ingest_apps",
      help: "Apps with reports under way. Each may have as much of both bounds as is left, a key half of that.",
      look: () => bodies.apps,
    },
    {
      name: "wherehouse_ingest_refused_total",
      help:
        "Requests with reports that got a 503 at the door, " +
        "by what was spent, of all or of their key's or app's share.",
      label: "spent",
      lookAll: () => ({ ...bodies.refused }),
    },
    {
      name: "wherehouse_reports_total",
      help: "Reports by what became of them: accepted, duplicates, rejected.",
      label: "outcome",
      lookAll: () => ({ ...meters.reports }),
    },
    {
      name: "wherehouse_refused_batches_total",
      help: "Batches that the log did not take, by reason; their senders got a 503.",
      label: "reason",
      lookAll: () => Object.fromEntries(meters.refusals),
    },
  ];
}

function viewerMetrics({ viewers, meters }: ScrapeDependencies): Metric[] {
  return [
    {
      name: "wherehouse_viewers",
      help: "Clients that listen to the live stream; those beyond wherehouse_viewers_max get a 503.",
      look: () => viewers.taken,
    },
    {
      name: "wherehouse_viewers_max",
      help: "Clients that may listen, by --max-viewers. An app may have half of them.",
      look: () => viewers.max,
    },
    {
      name: "wherehouse_viewer_events_total",
      help: "Events that they were told, to their end.",
      look: () => meters.viewers.events,
    },
    {
      name: "wherehouse_viewer_resets_total",
      help: "Of these, resets: the client has to take a snapshot.",
      look: () => meters.viewers.resets,
    },
    {
      name: "wherehouse_viewers_refused_total",
      help: "Clients that got a 503 in place of a stream, since too many listened already.",
      look: () => meters.viewers.refused,
    },
  ];
}

function logMetrics({ meters, stores, start }: ScrapeDependencies): Metric[] {
  return [
    {
      name: "wherehouse_ready",
      help: "1 once every acknowledged record can be queried, and while the node of a cluster does not lag.",
      look: () => (start().isReady ? 1 : 0),
    },
    {
      name: "wherehouse_replayed_bytes",
      help: "Of the log, read by the start so far.",
      look: () => start().replayedBytes,
    },
    {
      name: "wherehouse_replay_bytes",
      help: "Of the log, to be read by the start.",
      look: () => start().totalBytes,
    },
    {
      name: "wherehouse_log_bytes",
      help: "Size of the log on disk.",
      look: () => stores()?.log.bytes ?? null,
    },
    {
      name: "wherehouse_log_queue_bytes",
      help: "Reports that wait for the disk.",
      look: () => stores()?.log.queueBytes ?? null,
    },
    {
      name: "wherehouse_log_state",
      help: "1 for the state that the log is in: open, full (the disk is), failed (until a restart), closed.",
      label: "state",
      lookAll() {
        const state = stores()?.log.state;
        return Object.fromEntries(LOG_STATES.map((each) => [each, each === state ? 1 : 0]));
      },
    },
    {
      name: "wherehouse_log_written_bytes_total",
      help: "Written to the log.",
      look: () => meters.log.writtenBytes,
    },
    {
      name: "wherehouse_log_entries_total",
      help: "Batches written to the log.",
      look: () => meters.log.entries,
    },
  ];
}

function recordMetrics({ hot, stores, countDamaged }: ScrapeDependencies): Metric[] {
  const sumOfParts = (measure: "rows" | "bytes" | "files") => () => {
    const days = stores()?.archive.manifest.days.values();
    if (days === undefined) return null;
    let sum = 0;
    for (const { parts } of days) for (const part of parts) sum += measure === "files" ? 1 : part[measure];
    return sum;
  };
  return [
    { name: "wherehouse_hot_records", help: "Records in memory.", look: () => hot.recordCount },
    { name: "wherehouse_devices", help: "Devices with a position.", look: () => hot.deviceCount },
    {
      name: "wherehouse_archived_records",
      help: "Records in the archive's files.",
      look: sumOfParts("rows"),
    },
    { name: "wherehouse_archive_bytes", help: "Size of the archive's files.", look: sumOfParts("bytes") },
    { name: "wherehouse_archive_files", help: "Parquet files of sealed days.", look: sumOfParts("files") },
    {
      name: "wherehouse_archived_days",
      help: "Sealed days.",
      look: () => stores()?.archive.manifest.days.size ?? null,
    },
    {
      name: "wherehouse_archive_queries_running",
      help: "Questions that the archive works on.",
      look: () => stores()?.archive.reader.running ?? null,
    },
    {
      name: "wherehouse_archive_queries_waiting",
      help: "Questions that wait for the archive.",
      look: () => stores()?.archive.reader.waiting ?? null,
    },
    {
      name: "wherehouse_damages",
      help: "Damages of log and archive that nobody has acknowledged.",
      look: async () => (stores() === null ? null : countDamaged()),
    },
  ];
}

function sealMetrics({ meters: { seals }, stores }: ScrapeDependencies): Metric[] {
  return [
    {
      name: "wherehouse_seal_failures_total",
      help: "Seals that failed; the next one tries again.",
      look: () => seals.failed,
    },
    {
      name: "wherehouse_sealed_records_total",
      help: "Records moved into the archive.",
      look: () => seals.records,
    },
    {
      name: "wherehouse_last_seal_timestamp_seconds",
      help: "When the last seal ended, Unix time.",
      look: () => {
        const lastMs = stores()?.schedule.state.lastMs ?? null;
        return lastMs === null ? null : lastMs / 1000;
      },
    },
    {
      name: "wherehouse_seal_late",
      help: "1 where the last seal, or the start, is more than three intervals ago.",
      look: () => {
        const state = stores()?.schedule.state ?? null;
        return state === null ? null : Number(state.isLate);
      },
    },
  ];
}

function processMetrics({ version, eventLoop, usage }: ScrapeDependencies): Metric[] {
  return [
    {
      name: "wherehouse_event_loop_delay_max_seconds",
      help: "The longest of these delays since the last scrape, whoever made it.",
      look: () => eventLoop.takeLongestMs() / 1000,
    },
    {
      name: "wherehouse_build_info",
      help: "Always 1; the label is the version.",
      label: "version",
      lookAll: () => ({ [version]: 1 }),
    },
    {
      name: "wherehouse_heap_used_bytes",
      help: "Objects of the runtime's heap, those that wait for the collector among them.",
      look: () => usage().heapUsedBytes,
    },
    {
      name: "process_resident_memory_bytes",
      help: "Memory in use, that of libraries included.",
      look: () => usage().residentBytes,
    },
    {
      name: "process_start_time_seconds",
      help: "When the process started, Unix time.",
      look: () => usage().startedMs / 1000,
    },
    {
      name: "process_cpu_seconds_total",
      help: "Processor time of all threads.",
      look: () => usage().cpuSeconds,
    },
  ];
}
