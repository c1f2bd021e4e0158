import type { FenceExtents } from "../../formats/read/fences/fence-sink.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import { Semaphore } from "../../lib/schedule/semaphore.ts";
import { systemTimers, type Timers } from "../../lib/schedule/timers.ts";
import { type ServiceError, unavailable } from "../../model/errors.ts";
import type { AppId } from "../../model/ids.ts";
import { type WatchDraft, withSharedDefaults } from "../../model/watches/watch-rules.ts";
import type { StartHelper } from "../../runtime/helper/helper.ts";
import { doneWithin } from "../../runtime/listen.ts";
import type { CountKnown } from "../../service/ingest/count-known.ts";
import type { ExactIngest } from "../../service/ingest/exact-ingest.ts";
import { sameTimeOf } from "../../service/ingest/ingest.ts";
import type { Caller } from "../../service/queries/find-device.ts";
import type { UploadSettings, UploadSurvey } from "./messages.ts";
import { UploadProcess } from "./upload-process.ts";

/** A file that a client sent. */
export interface Upload {
  readonly appId: AppId;
  readonly file: Uint8Array;
  readonly settings: UploadSettings;
  /** Only looks at the file. */
  readonly isDryRun: boolean;
  /** Skips points before the retention; else such a point refuses the file. */
  readonly skipOld: boolean;
}

/** What became of the points of a file. */
export interface StoredUpload {
  readonly created: number;
  readonly alreadyThere: number;
  readonly sameTime: number;
  /** Points that were refused, because their device or user was erased and is blocked. */
  readonly blocked: number;
  readonly accepted: number;
  readonly duplicates: number;
  readonly sequence: number;
}

export interface UploadOutcome {
  readonly survey: UploadSurvey;
  /**
   * Points of a dry run whose device has a record of that time, or an earlier point of the file. Null if the archive
   * can't be asked, or for an import.
   */
  readonly known: number | null;
  /** Null for a dry run. */
  readonly stored: StoredUpload | null;
}

export interface Uploads {
  /** Reads a file in its own process, and stores its points unless it is a dry run. The caller's signal ends it. */
  take(upload: Upload, caller: Caller): Promise<Result<UploadOutcome, ServiceError>>;
  /** Reads a file of geofences in its own process. */
  readFences(
    file: Pick<Upload, "appId" | "file"> & { readonly extents: FenceExtents },
    caller: Caller,
  ): Promise<Result<readonly WatchDraft[], ServiceError>>;
}

export interface UploadsDependencies {
  readonly startHelper: StartHelper;
  readonly exactIngest: ExactIngest;
  readonly countKnown: CountKnown;
  /** Comes when the service begins to stop. */
  readonly stopping: AbortSignal;
  readonly timers?: Timers;
}

/** Each takes a core and up to 256 MiB. */
const RUNNING_MAX = 2;
const RUNNING_OF_APP_MAX = 1;

/** How long a request waits for its process to be gone, so that the client's next one finds room. */
const ENDING_MS_MAX = 2000;

const TOO_MANY = unavailable("another file is being read; send this one again shortly", 5);

export function createUploads(dependencies: UploadsDependencies): Uploads {
  const { startHelper, stopping, timers = systemTimers } = dependencies;
  const slots = new Semaphore<AppId>(RUNNING_MAX, { runningOfOwnerMax: RUNNING_OF_APP_MAX, waitingMax: 0 });

  /** Runs `work` with a process that reads a file. */
  async function withProcess<Value>(
    appId: AppId,
    caller: Caller,
    work: (process: UploadProcess) => Promise<Result<Value, ServiceError>>,
  ): Promise<Result<Value, ServiceError>> {
    if (slots.enter(appId) === "refused") return fail(TOO_MANY);
    const process = new UploadProcess(startHelper, timers);
    // A process that can't be ended, because its disk hangs, keeps its slot.
    void process.gone.then(() => slots.leave(appId));
    const signal = AbortSignal.any([caller.signal, stopping]);
    const end = () => process.end();
    signal.addEventListener("abort", end);
    if (signal.aborted) end();
    try {
      return await work(process);
    } finally {
      signal.removeEventListener("abort", end);
      end();
      await doneWithin(process.gone, ENDING_MS_MAX);
    }
  }

  return {
    take: (upload, caller) =>
      withProcess(upload.appId, caller, (process) => takeFile(process, upload, caller, dependencies)),
    readFences: ({ appId, file, extents }, caller) =>
      withProcess(appId, caller, (process) => takeFences(process, file, extents)),
  };
}

async function takeFences(
  process: UploadProcess,
  file: Uint8Array,
  extents: FenceExtents,
): Promise<Result<readonly WatchDraft[], ServiceError>> {
  const read = await process.readFences(file, extents);
  if (!read.ok) return read;
  const drafts: WatchDraft[] = [];
  for (;;) {
    const next = await process.nextFences();
    if (!next.ok) return next;
    if (next.value.length === 0) return ok(drafts);
    drafts.push(...next.value.map(withSharedDefaults));
  }
}

async function takeFile(
  process: UploadProcess,
  upload: Upload,
  caller: Caller,
  { exactIngest, countKnown }: UploadsDependencies,
): Promise<Result<UploadOutcome, ServiceError>> {
  const { appId, file, settings, isDryRun, skipOld } = upload;
  const surveyed = await process.survey(file, settings);
  if (!surveyed.ok) return surveyed;
  const survey = surveyed.value;
  if (isDryRun) {
    let known: number | null = 0;
    for (;;) {
      const read = await process.next();
      if (!read.ok) return read;
      if (read.value === null) return ok({ survey, known, stored: null });
      if (known === null) continue;
      const counted = await countKnown(appId, read.value, caller);
      if (!counted.ok && counted.error.kind !== "archive_damaged") return counted;
      known = counted.ok ? known + counted.value : null;
    }
  }
  const old = oldPoints(survey);
  if (old > 0 && !skipOld) return fail(tooOld(old, survey.tally.points, settings.times.oldestMs));
  const ingest = exactIngest(caller);
  let stored = NOTHING_STORED;
  for (;;) {
    const read = await process.next();
    if (!read.ok) return fail(withStored(read.error, stored));
    if (read.value === null) return ok({ survey, known: null, stored });
    const answer = await ingest(appId, read.value);
    if (!answer.ok) return fail(withStored(answer.error, stored));
    const { accepted, duplicates, created, blocked, sequence } = answer.value;
    const sameTime = sameTimeOf(answer.value);
    stored = {
      created: stored.created + created,
      sameTime: stored.sameTime + sameTime,
      alreadyThere: stored.alreadyThere + accepted + duplicates - created - sameTime,
      blocked: stored.blocked + blocked.length,
      accepted: stored.accepted + accepted,
      duplicates: stored.duplicates + duplicates,
      sequence,
    };
  }
}

const NOTHING_STORED: StoredUpload = {
  ...{ created: 0, alreadyThere: 0, sameTime: 0, blocked: 0, accepted: 0, duplicates: 0, sequence: 0 },
};

/** Points before the retention. */
function oldPoints({ tally }: UploadSurvey): number {
  return tally.skips.reduce((sum, { reason, count }) => (reason === "too_old" ? sum + count : sum), 0);
}

function tooOld(old: number, others: number, edgeMs: number): ServiceError {
  const edge = new Date(edgeMs).toISOString().slice(0, "yyyy-mm-dd".length);
  const message =
    `${old.toLocaleString("en")} of ${(old + others).toLocaleString("en")} points lie before ${edge}, the edge of ` +
    "what is kept here; nothing was stored. skip_old=true leaves them out; settings set retention keeps them";
  return { kind: "invalid_parameter", message };
}

/** An import that fails in the middle says what it has stored. */
function withStored(error: ServiceError, { accepted, duplicates }: StoredUpload): ServiceError {
  if (error.kind !== "unavailable" || accepted + duplicates === 0) return error;
  const count = (accepted + duplicates).toLocaleString("en");
  const message = `${error.message}; the file's first ${count} points are stored, and sending it again stores the rest`;
  return { ...error, message };
}
