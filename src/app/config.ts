import type { ClusterConfig } from "../cluster/cluster-config.ts";
import type { AppId } from "../model/ids.ts";
import type { MqttConfig } from "../service/mqtt/mqtt.ts";

/** Everything an operator can set, parsed once into units. the command line fills it from flags and environment. */
export interface Config extends ArchiveConfig {
  readonly dataDir: string;
  readonly hostname: string;
  readonly port: number;
  /** Origins whose pages may read answers, or `*`; none turns CORS off. */
  readonly corsOrigins: readonly string[];
  /** Apps whose OwnTracks phones are told of each other. */
  readonly friendsApps: readonly AppId[];
  /** Whose apps are served on that server's paths too; null for nobody's. */
  readonly compat: CompatServer | null;
  /** How many may listen to the live stream at once; an app has half of them. */
  readonly viewersMax: number;
  /** The operator's streets, a PMTiles archive; null for none. */
  readonly mapFile: string | null;
  /** How many times faster than recorded a demo plays; null where what is reported is real. */
  readonly demoSpeed: number | null;
  /** Null where no broker is asked. */
  readonly mqtt: MqttConfig | null;
  /** Null for a process that is alone with its data directory. */
  readonly cluster: ClusterConfig | null;
}

/** Servers whose paths we can serve, so that apps move to us by another host name alone. */
export const COMPAT_SERVERS = ["dawarich"] as const;

export type CompatServer = (typeof COMPAT_SERVERS)[number];

export interface ArchiveConfig {
  /** From the end of one seal to the next. */
  readonly sealIntervalMs: number;
  /** What queries of the archive may use of the machine. */
  readonly archiveThreads: number;
  readonly archiveMemoryBytes: number;
}

export const DEFAULT_DATA_DIR = "data/local";
export const DEFAULT_DEMO_DIR = "data/demo";
/** A bus at 70 km/h then goes 390 m/s. Beyond 400 its track would be broken off, as at a jump. */
export const DEFAULT_DEMO_SPEED = 20;
export const DEFAULT_HOSTNAME = "127.0.0.1";
export const DEFAULT_PORT = 3000;
export const DEFAULT_SERVER_URL = `http://${DEFAULT_HOSTNAME}:${DEFAULT_PORT}`;

/** Each is a connection that stays open. */
export const DEFAULT_VIEWERS = 1024;

/** Where the apps publish by default. */
export const DEFAULT_TOPIC_FILTER = "owntracks/+/+";
/** Mosquitto's default. */
export const DEFAULT_QUEUED_MESSAGES = 1000;

export const DEFAULT_STREAM = "wherehouse";
/** A week of 500 reports a second. */
export const DEFAULT_LOG_BYTES = 16_000_000_000;

/** A node that was away for longer begins with a copy of another one's data. */
export const DEFAULT_NODE_TIMEOUT_MS = 7 * 24 * 60 * 60 * 1000;

export const DEFAULT_ARCHIVE_CONFIG: ArchiveConfig = {
  // Late reports make answers slower until they are folded in; a day becomes due once a day.
  sealIntervalMs: 60 * 60 * 1000,
  archiveThreads: 2,
  archiveMemoryBytes: 1_000_000_000,
};

/** A segment is read back whole, so this bounds the memory that replay needs beside the store. */
export const SEGMENT_BYTES_MAX = 64 * 1024 * 1024;

/** Reports that wait for the disk, encoded: a second or two of a fast disk, and a bound on memory. */
export const LOG_QUEUE_BYTES_MAX = 64 * 1024 * 1024;

/**
 * Of a node's messages to its stream. More under way at once make each wait longer and bring hardly more through; a
 * leader that dies is replaced after 4 to 9 s, so most of those who wait then are answered.
 */
export const LOG_STREAM_LIMITS = { underWayMax: 16, giveUpMs: 15_000, retryMs: 200 } as const;

/** Of what can't be used, which comes seldom; a body may have 16 MiB. */
export const QUARANTINE_STREAM_LIMITS = {
  queueBytesMax: 32 * 1024 * 1024,
  underWayMax: 4,
  giveUpMs: 15_000,
  retryMs: 200,
} as const;

/**
 * Requests with reports that are under way at once, and the memory of their bodies; shares of keys and apps are parts
 * of these.
 */
export const INGEST_LIMITS = {
  requestsMax: 2048,
  /** Unpacking and joining may take as much again for a moment. */
  bytesMax: 256 * 1024 * 1024,
  /** Bodies of up to a megabyte are read at once where this has room for what they say their length is. */
  expectedBytesMax: 64 * 1024 * 1024,
  /** How long a body may take to arrive, or clients that trickle would hold all of these for good. */
  arrivalMsMax: 60_000,
} as const;

/** Records older than the window that begin a seal at once (about 200 MB), and that stop reports from being taken. */
export const OLD_RECORDS_BOUNDS: OldRecordsBounds = { seal: 2_000_000, max: 4_000_000 };

/** The same for an import. It brings hardly anything else, mostly day by day: to hold more would save no work. */
export const IMPORT_OLD_RECORDS_BOUNDS: OldRecordsBounds = { seal: 250_000, max: 500_000 };

/** An import answers nobody meanwhile, and its years are thousands of small days: a server seals one at a time. */
export const IMPORT_SEAL_DAYS_AT_ONCE = 3;

export interface OldRecordsBounds {
  readonly seal: number;
  readonly max: number;
}

/** Queries of the archive that run at once: more would only wait for the same disk and cores. */
export const ARCHIVE_QUERIES_MAX = 4;
/** Queries that wait for their turn; a few seconds' worth. */
export const ARCHIVE_QUEUE_MAX = 64;

/**
 * Late rows that are laid over archived records at once: few at first, since most pages need few, then so many that a
 * statement takes some tenths of a second.
 */
export const LATE_WINDOW = { firstRows: 1024, rowsMax: 16_384 };

/** A client that takes nothing of its export for so long has left, for all anybody knows. */
export const EXPORT_STALL_MS = 60_000;

/** What DuckDB may use to make Parquet files; what does not fit goes to the disk. */
export const SEAL_MEMORY_BYTES = 512_000_000;
