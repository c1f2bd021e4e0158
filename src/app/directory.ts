import type { Archive } from "../archive/archive.ts";
import type { Database, DatabaseOptions } from "../archive/duckdb/database.ts";
import type { AccessDependencies } from "../auth/erase-access.ts";
import type { OpenStreamLogOptions } from "../cluster/log/open-stream-log.ts";
import type { Damage } from "../directory/damaged-files.ts";
import type { ErasureLedger } from "../directory/erasure-ledger.ts";
import type { HotStore } from "../hot/hot-store.ts";
import type { CreateSalt } from "../lib/frames/head.ts";
import type { Scheduler } from "../lib/schedule/scheduler.ts";
import type { Timers } from "../lib/schedule/timers.ts";
import type { AppId, DeviceId } from "../model/ids.ts";
import type { Clock } from "../model/time/clock.ts";
import type { Retention } from "../model/time/retention.ts";
import type { Files } from "../runtime/files.ts";
import type { StartHelper } from "../runtime/helper/helper.ts";
import type { OpenSqlite } from "../runtime/sqlite.ts";
import type { Correct } from "../service/corrections/correct.ts";
import type { Erase } from "../service/erasures/erase.ts";
import type { FileEraser } from "../service/erasures/file-eraser.ts";
import type { Exports } from "../service/export/exports.ts";
import type { EditWatches } from "../service/geofences/edit-watches.ts";
import type { EditProfile } from "../service/ingest/edit-profile.ts";
import type { ExactIngest } from "../service/ingest/exact-ingest.ts";
import type { Ingest } from "../service/ingest/ingest.ts";
import type { Quarantine } from "../service/quarantine/quarantine.ts";
import type { MemoryCompactor } from "../service/upkeep/memory-compactor.ts";
import type { SealSchedule } from "../service/upkeep/seal/schedule.ts";
import type { SealReport } from "../service/upkeep/seal/seal.ts";
import type { Sweeps } from "../service/upkeep/sweeps.ts";
import type { EventStore } from "../service/watching/event-store.ts";
import type { WatchClock } from "../service/watching/watch-clock.ts";
import type { Watcher } from "../service/watching/watcher.ts";
import type { EventLead } from "../service/webhooks/event-lead.ts";
import type { OpenWebhooks, WebhookParts } from "../service/webhooks/open-webhooks.ts";
import type { EntryError } from "../wal/entry/entry.ts";
import type { LogRefusal, LogWrite, Wal } from "../wal/log.ts";
import type { LogRecovery } from "../wal/wal.ts";
import type { ArchiveConfig, OldRecordsBounds } from "./config.ts";

/* A data directory that this process owns, and what opening it takes. */

/** Events of the directory that an operator should know about. */
export interface DirectoryEvents {
  /** The log refused a batch; the sender was asked to retry. */
  onRefusal(refusal: LogRefusal): void;
  onLogWritten?(write: LogWrite): void;
  /** A sentence about a problem of the archive. */
  onArchiveNote(note: string): void;
  onSealed(report: SealReport): void;
  /** Nothing is lost: log and memory retain the records, and the next seal tries again. */
  onSealFailed(error: unknown): void;
  /** Bytes failed their checksum after the start, when they were about to be rewritten. */
  onDamage(damage: readonly Damage[]): void;
  /** The start can't apply this log entry to memory: it quarantines the entry and begins again without it. */
  onEntryLeftOut(failure: EntryError): void;
  /** Memory lacks all or part of an entry that the log has: the process must end, and the next start reads the log. */
  onBroken(error: unknown): void;
}

/** A data directory that this process owns, with all its unsealed records in memory. */
export interface OpenDirectory {
  readonly hot: HotStore;
  readonly scheduler: Scheduler;
  readonly log: Wal;
  readonly archive: Archive;
  readonly ingest: Ingest;
  /** Accepts reports of imports, and counts exactly which are new. */
  readonly exactIngest: ExactIngest;
  readonly editProfile: EditProfile;
  readonly editWatches: EditWatches;
  /** Null if this process is no server. */
  readonly webhooks: OpenWebhooks | null;
  /** What a node of a cluster does while it has the lease for events; null of a single process. */
  readonly lead: EventLead | null;
  readonly correct: Correct;
  readonly erase: Erase;
  readonly eraser: FileEraser;
  readonly schedule: SealSchedule;
  readonly quarantine: Quarantine;
  readonly sweeps: Sweeps;
  /** Events of fences and alerts, and the position up to which they are made. */
  readonly eventStore: EventStore;
  readonly watcher: Watcher;
  readonly watchClock: WatchClock;
  readonly compactor: MemoryCompactor;
  readonly exports: Exports;
  readonly erasures: ErasureLedger;
  readonly recovery: LogRecovery;
  /** Damage found by the start in log, quarantine and events. */
  readonly damage: readonly Damage[];
  /** The ends of interrupted writes, which were never acknowledged. */
  readonly tornTails: readonly Damage[];
  /** Checks the archive's files; problems go to `onArchiveNote`. */
  inspect(): Promise<void>;
  /** Finishes what the log accepted, aborts what can be repeated, and releases the directory. */
  close(): Promise<void>;
}

export type OnReplayProgress = (replayedBytes: number, totalBytes: number) => void;

export interface OpenDirectoryOptions {
  readonly dataDir: string;
  readonly files: Files;
  readonly openSqlite: OpenSqlite;
  readonly clock: Clock;
  /** Defaults to the system's timers. */
  readonly timers?: Timers;
  readonly retention: Retention;
  readonly hot: HotStore;
  /** Shares the time for applying reports to memory. */
  readonly scheduler: Scheduler;
  /** Whether to retain changes after the start, for the live stream. */
  readonly keepsChanges?: boolean;
  readonly config: ArchiveConfig;
  /** Defaults to the bounds of a server. */
  readonly oldRecords?: OldRecordsBounds;
  readonly sealDaysAtOnce?: number;
  readonly events: DirectoryEvents;
  readonly onProgress: OnReplayProgress;
  /** Aborts the replay of the directory's own log, which rejects with an `AbortError`. */
  readonly signal?: AbortSignal;
  readonly release: () => void;
  /** The keys and pass phrases that erasures revoke. Without them, no erasure may be started. */
  readonly access?: AccessDependencies;
  /** Without them, no webhook is sent. */
  readonly webhooks?: WebhookParts;
  /** Forgets what is known of an erased device, or of all devices of an app, beside their records. */
  readonly forget?: (appId: AppId, deviceId: DeviceId | null) => void;
  /** The stream that is the log of a cluster node; defaults to a log in the directory. */
  readonly stream?: DirectoryStream;
  /** Where DuckDB finds the archive and may write drafts; defaults to the archive's own directory. */
  readonly archiveDisk?: ArchiveDisk;
  /** Starts the helper processes that make parts and exports; by default this process makes both. */
  readonly startHelper?: StartHelper;
  /** Defaults to databases of the directory's own. */
  readonly archiveEngine?: ArchiveEngine;
  readonly segmentBytesMax?: number;
  /** An export ends if its client reads nothing for this long; defaults to a minute. */
  readonly exportStallMs?: number;
  /** Creates salts of the log and names of scratch directories; defaults to random ones. */
  readonly createSalt?: CreateSalt;
}

/** The stream that is a node's log, and the node's position in it. */
export interface DirectoryStream
  extends Pick<
    OpenStreamLogOptions,
    | "stream"
    | "fromMessage"
    | "lastTaken"
    | "idPrefix"
    | "probe"
    | "onFloor"
    | "onFailed"
    | "timers"
    | "signal"
  > {
  readonly nodeId: string;
  /**
   * When messages are purged at the latest of which every live node has archived all reports at an instant; null if
   * that is not known.
   */
  purgedByMs(archivedMs: number): number | null;
}

export interface ArchiveDisk {
  /** A directory that has the archive's files under the archive's names. */
  readonly directory: string;
  readonly files: Files;
}

export interface ArchiveEngine {
  openDatabase(options: DatabaseOptions): Promise<Database>;
}
