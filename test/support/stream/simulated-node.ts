import { decodeStanding, encodeStanding } from "../../../src/archive/standing-file.ts";
import { openStreamLog } from "../../../src/cluster/log/open-stream-log.ts";
import type { StreamLog } from "../../../src/cluster/log/stream-log.ts";
import type { TakenMessage } from "../../../src/cluster/stream/stream.ts";
import { createHotStore, type HotStore } from "../../../src/hot/hot-store.ts";
import { assert } from "../../../src/lib/assert.ts";
import type { Result } from "../../../src/lib/result.ts";
import { Scheduler } from "../../../src/lib/schedule/scheduler.ts";
import { inTurns } from "../../../src/lib/schedule/steps.ts";
import type { ServiceError } from "../../../src/model/errors.ts";
import type { AppId } from "../../../src/model/ids.ts";
import { createManualClock } from "../../../src/model/time/clock.ts";
import type { TimeRange } from "../../../src/model/time/range.ts";
import { DEFAULT_RETENTION } from "../../../src/model/time/retention.ts";
import { applyToMemory } from "../../../src/service/ingest/apply-entry.ts";
import { createEditProfile, type EditProfile } from "../../../src/service/ingest/edit-profile.ts";
import { createIngest, type Ingest, type IngestAnswer } from "../../../src/service/ingest/ingest.ts";
import { followLog } from "../../../src/service/ingest/memory-follower.ts";
import { createStandingAppend } from "../../../src/service/ingest/standing-append.ts";
import { createHistoryQueries } from "../../../src/service/queries/history/history.ts";
import type { Coverage } from "../../../src/wal/coverage.ts";
import type { LogRefusal } from "../../../src/wal/log.ts";
import { recordsOf } from "../answers/page-records.ts";
import { createEmptyArchive, NO_SEALS } from "../empty-archive.ts";
import { batchOf, type Report } from "../reports/batches.ts";
import { NO_BLOCKS } from "../reports/blocks.ts";
import type { SimulatedServers } from "./simulated-servers.ts";
import { SimulatedStream, type StreamWeather } from "./simulated-stream.ts";
import type { VirtualTime } from "./virtual-time.ts";

export interface SimulatedNodeOptions {
  readonly name: string;
  readonly servers: SimulatedServers;
  readonly time: VirtualTime;
  readonly random: () => number;
  readonly weather: StreamWeather;
  readonly messageBytesMax?: number;
  readonly giveUpMs: number;
}

/** The state of a node during one process. */
interface NodeProcess {
  readonly stream: SimulatedStream;
  readonly wal: StreamLog;
  readonly hot: HotStore;
  readonly ingest: Ingest;
  readonly editProfile: EditProfile;
}

/**
 * A node in memory whose archive has only the profiles of devices: a start skips what the archive would cover of the
 * reports.
 */
export class SimulatedNode {
  /** The first message that the next start needs. */
  floor: number;
  readonly refusals: LogRefusal[] = [];
  readonly failures: unknown[] = [];
  #process: NodeProcess | null = null;
  #starts = 0;
  #lastTaken: TakenMessage | null = null;
  /** The archive's file of standing entries. */
  #standing: { readonly bytes: Uint8Array; readonly sequence: number } | null = null;
  readonly #options: SimulatedNodeOptions;

  constructor(options: SimulatedNodeOptions) {
    this.#options = options;
    this.floor = options.servers.firstMessage;
  }

  get isUp(): boolean {
    return this.#process !== null;
  }

  get stream(): SimulatedStream {
    return this.#running.stream;
  }

  get wal(): StreamLog {
    return this.#running.wal;
  }

  get #running(): NodeProcess {
    assert(this.#process !== null, "the node is up");
    return this.#process;
  }

  async start(): Promise<void> {
    const { name, servers, time, random, weather, messageBytesMax, giveUpMs } = this.#options;
    const scheduler = new Scheduler(() => 0); // Independent of the machine's speed, so that a seed repeats it.
    const hot = createHotStore(scheduler);
    if (this.#standing !== null) {
      const restoring = decodeStanding(this.#standing.bytes, name, (entry) => {
        if (entry.kind === "device_profile" || entry.kind === "correction") hot.restoreStanding(entry);
      });
      hot.endRestoreStanding((await inTurns(restoring)).sequence);
    }
    const room = messageBytesMax === undefined ? {} : { messageBytesMax };
    const stream = new SimulatedStream({ servers, time, random, weather, ...room });
    const { wal } = await openStreamLog({
      stream,
      fromMessage: this.floor,
      lastTaken: this.#lastTaken,
      coveredSequence: 0,
      idPrefix: `${name}${this.#starts++}`,
      queueBytesMax: 100_000,
      underWayMax: 3,
      giveUpMs,
      retryMs: 10,
      timers: time,
      onEntry: (entry) => applyToMemory({ hot, messages: null }, entry),
      onFloor: async (message, lastTaken) => {
        await time.wait(3);
        if (this.#process?.wal !== wal) return;
        this.floor = message;
        this.#lastTaken = lastTaken;
      },
      onFailed: (error) => {
        if (this.#process?.wal === wal) this.failures.push(error);
      },
    });
    const memory = followLog({ log: wal, hot, messages: null, schedule: NO_SEALS, scheduler });
    const ingest = createIngest({
      blocks: NO_BLOCKS,
      log: wal,
      hot,
      memory,
      schedule: NO_SEALS,
      onRefusal: (refusal) => this.refusals.push(refusal),
      hasWholeLog: false,
    });
    const onRefusal = (refusal: LogRefusal) => this.refusals.push(refusal);
    const editProfile = createEditProfile({
      append: createStandingAppend({ log: wal, memory, onRefusal }),
      hot,
    });
    this.#process = { stream, wal, hot, ingest, editProfile };
  }

  /** Posts reports as a client does. */
  post(appId: string, reports: readonly Report[]): Promise<Result<IngestAnswer, ServiceError>> {
    return this.#running.ingest(appId as AppId, batchOf(reports));
  }

  /** Sets a profile as a client does. */
  editProfile(...edit: Parameters<EditProfile>): ReturnType<EditProfile> {
    return this.#running.editProfile(...edit);
  }

  /** All profiles, as `app device name`, sorted. */
  profiles(): string[] {
    const entries = [...this.#running.hot.profiles.entries()];
    return entries.map(({ appId, deviceId, profile }) => `${appId} ${deviceId} ${profile?.name}`).sort();
  }

  /** Writes the standing entries as a seal does, and then gives up what is covered. */
  async trim(coverage: Omit<Coverage, "standingSequence" | "erasures">): Promise<void> {
    const { wal, hot } = this.#running;
    await wal.rotate();
    const sequence = hot.appliedSequence;
    const { bytes } = await inTurns(
      encodeStanding(hot.profiles.entries(), sequence, () => new Uint8Array(8)),
    );
    if (this.#process?.wal !== wal) return;
    if (sequence > 0) this.#standing = { bytes: Uint8Array.from(bytes), sequence };
    await wal.trim({ ...coverage, standingSequence: sequence, erasures: [] });
  }

  async stop(): Promise<void> {
    const { wal, stream } = this.#running;
    await wal.close();
    this.#process = null;
    await stream.close();
  }

  /** Ends the process; its messages may still arrive. */
  async kill(): Promise<void> {
    const { stream } = this.#running;
    this.#process = null;
    await stream.close();
  }

  /** Resolves once the node has applied all current messages. */
  async catchUp(): Promise<void> {
    const { servers, time } = this.#options;
    const { lastMessage } = servers.state();
    while (this.wal.lastMessage < lastMessage) await time.wait(5);
  }

  /** All records of a device in a range, oldest first. */
  async recordsOf(appId: string, deviceId: string, range: TimeRange): Promise<Record<string, unknown>[]> {
    const archive = createEmptyArchive();
    const history = createHistoryQueries({
      hot: this.#running.hot,
      clock: createManualClock(range.endMs),
      retention: DEFAULT_RETENTION,
      scheduler: new Scheduler(() => 0),
      archive: () => archive,
      acknowledgedParts: async () => new Set<string>(),
      lateWindow: { firstRows: 2, rowsMax: 5 },
    });
    const all = {
      order: "asc",
      offset: 0,
      limit: 10_000,
      accuracyMetersMax: null,
      withDistance: false,
    } as const;
    const signal = new AbortController().signal;
    const outcome = await history.ofDevice(appId as AppId, deviceId, { ...all, range }, { signal });
    if (!outcome.ok)
      assert(outcome.error.kind === "device_not_found", `an answer, and not ${outcome.error.kind}`);
    return outcome.ok ? outcome.value.pages.flatMap((page) => recordsOf(page)) : [];
  }
}
