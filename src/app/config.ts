import type { ClusterConfig } from "../cluster/cluster-config.ts";
import type { AppId } from "../model/ids.ts";
import type { TargetRules } from "../model/webhooks/target-addresses.ts";
import type { MqttConfig } from "../service/mqtt/mqtt.ts";

/** Everything an operator can set. The command line parses it once from flags and environment. */
export interface Config extends ArchiveConfig {
  readonly dataDir: string;
  readonly hostname: string;
  readonly port: number;
  /** Origins whose pages may read answers, or `*`; an empty list turns CORS off. */
  readonly corsOrigins: readonly string[];
  /** Apps whose OwnTracks phones see each other. */
  readonly friendsApps: readonly AppId[];
  /** The server whose paths are served too, for its apps; null for none. */
  readonly compat: CompatServer | null;
  /** Most viewers of the live stream at once; one app may have half of them. */
  readonly viewersMax: number;
  /** The operator's street map, a PMTiles archive; null for none. */
  readonly mapFile: string | null;
  /** Playback speed of a demo; null if reports are real. */
  readonly demoSpeed: number | null;
  /** Null if no broker is configured. */
  readonly mqtt: MqttConfig | null;
  readonly webhookTargets: TargetRules;
  /** The proxy that all requests of webhooks go through, which then decides where they may lead; null for none. */
  readonly webhookProxy: string | null;
  /** Null for a single process. */
  readonly cluster: ClusterConfig | null;
}

/** Servers whose paths we can serve, so that an app moves to us by changing only the host name. */
export const COMPAT_SERVERS = ["dawarich"] as const;

export type CompatServer = (typeof COMPAT_SERVERS)[number];

export interface ArchiveConfig {
  /** From the end of one seal to the next. */
  readonly sealIntervalMs: number;
  /** Threads that archive queries may use. */
  readonly archiveThreads: number;
  readonly archiveMemoryBytes: number;
}

export const DEFAULT_DATA_DIR = "data/local";
export const DEFAULT_DEMO_DIR = "data/demo";
/** At this speed a bus driving 70 km/h moves 390 m/s. Above 400 m/s its track would be split, as at a jump. */
export const DEFAULT_DEMO_SPEED = 20;
export const DEFAULT_HOSTNAME = "127.0.0.1";
export const DEFAULT_PORT = 3000;
export const DEFAULT_SERVER_URL = `http://${DEFAULT_HOSTNAME}:${DEFAULT_PORT}`;

/** Each viewer is an open connection. */
export const DEFAULT_VIEWERS = 1024;

/** The topics that OwnTracks apps publish to by default. */
export const DEFAULT_TOPIC_FILTER = "owntracks/+/+";
/** Mosquitto's default. */
export const DEFAULT_QUEUED_MESSAGES = 1000;

export const DEFAULT_STREAM = "wherehouse";
/** One week of 500 reports a second. */
export const DEFAULT_LOG_BYTES = 16_000_000_000;

/** A node that was away for longer starts with a copy of another node's data. */
export const DEFAULT_NODE_TIMEOUT_MS = 7 * 24 * 60 * 60 * 1000;

export const DEFAULT_ARCHIVE_CONFIG: ArchiveConfig = {
  // Late reports slow answers down until they are folded into the archive; a day becomes due once a day.
  sealIntervalMs: 60 * 60 * 1000,
  archiveThreads: 2,
  archiveMemoryBytes: 1_000_000_000,
};

/** A segment is read back whole, so this bounds the memory that replay needs besides the store. */
export const SEGMENT_BYTES_MAX = 64 * 1024 * 1024;

/** Encoded reports that wait for the disk: what a fast disk writes in one or two seconds. */
export const LOG_QUEUE_BYTES_MAX = 64 * 1024 * 1024;

/**
 * Messages from a node to its log's stream. More of them in flight make each wait longer and hardly raise throughput. A
 * leader that dies is replaced after 4 to 9 s, so most of the waiting requests still succeed.
 */
export const LOG_STREAM_LIMITS = { underWayMax: 16, giveUpMs: 15_000, retryMs: 200 } as const;

/** Limits for requests with reports that are in flight, and for their bodies. Keys and apps get shares of these. */
export const INGEST_LIMITS = {
  requestsMax: 2048,
  /** Decompressing and joining may briefly need as much again. */
  bytesMax: 256 * 1024 * 1024,
  /** Bodies whose declared length is up to a megabyte are read concurrently while the sum stays below this. */
  expectedBytesMax: 64 * 1024 * 1024,
  /** A body must arrive within this time, or slow clients could occupy every slot forever. */
  arrivalMsMax: 60_000,
} as const;

/** Records older than the window: the count that starts a seal (about 200 MB), and the count that refuses reports. */
export const OLD_RECORDS_BOUNDS: OldRecordsBounds = { seal: 2_000_000, max: 4_000_000 };

/** An import brings almost only old records, mostly day by day, so holding more of them would save no work. */
export const IMPORT_OLD_RECORDS_BOUNDS: OldRecordsBounds = { seal: 250_000, max: 500_000 };

/** An import serves no queries meanwhile, and its years are thousands of small days; a server seals one at a time. */
export const IMPORT_SEAL_DAYS_AT_ONCE = 3;

export interface OldRecordsBounds {
  readonly seal: number;
  readonly max: number;
}

/** Archive queries that run at once; more would only compete for the same disk and cores. */
export const ARCHIVE_QUERIES_MAX = 4;
/** Archive queries that wait for their turn: a few seconds of work. */
export const ARCHIVE_QUEUE_MAX = 64;

/**
 * Late rows that one statement lays over archived records: few at first because most pages need few, then as many as a
 * statement merges in a few tenths of a second.
 */
export const LATE_WINDOW = { firstRows: 1024, rowsMax: 16_384 };

/** A client that reads nothing of its export for this long is considered gone. */
export const EXPORT_STALL_MS = 60_000;

/** DuckDB's memory for writing Parquet files; it spills the rest to disk. */
export const SEAL_MEMORY_BYTES = 512_000_000;
