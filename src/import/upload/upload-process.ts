import type { FenceExtents } from "../../formats/read/fences/fence-sink.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import { nextTurn, type Timers } from "../../lib/schedule/timers.ts";
import { type ServiceError, unavailable } from "../../model/errors.ts";
import type { ReportBatch } from "../../model/report-batch.ts";
import type { WatchDraft } from "../../model/watches/watch-rules.ts";
import type { Helper, StartHelper } from "../../runtime/helper/helper.ts";
import {
  BATCH_FORMAT,
  type FromUploadReader,
  type ToUploadReader,
  type UploadSettings,
  type UploadSurvey,
} from "./messages.ts";

/** How long the process may take to start on a busy machine. */
export const START_MS_MAX = 30_000;
/** How long it may read, in all: a file of 16 MiB takes a second or three. */
export const READ_MS_MAX = 10_000;

/** The bytes sent in one turn; their copy takes some tenths of a millisecond. */
const PIECE_BYTES = 256 * 1024;

/** Calls `serveUpload`. */
const SCRIPT = new URL("../../app/upload-reader.ts", import.meta.url);

const ENDED = unavailable("the process that reads the file ended before it had read it; send it again", 10);
const LATE = unavailable(
  `the file took longer than ${READ_MS_MAX / 1000} s to read; send it again later, or use the import command`,
  60,
);
const STARTED_LATE = unavailable("the process that reads files did not start in time; send it again", 30);
const OTHER_VERSION = unavailable(
  "the program was replaced while it runs: files are read after a restart",
  60,
);
const GIVEN_UP = unavailable("the import was given up", 5);

/** A process that reads one uploaded file. Answers nothing once it has failed or was ended. */
export class UploadProcess {
  readonly #helper: Helper;
  readonly #timers: Timers;
  readonly #gone = Promise.withResolvers<void>();
  readonly #ready = Promise.withResolvers<Result<FromUploadReader, ServiceError>>();
  /** The question that waits for its answer. */
  #pending = this.#ready;
  #failure: ServiceError | null = null;
  #readMs = 0;

  constructor(startHelper: StartHelper, timers: Timers) {
    this.#timers = timers;
    this.#helper = startHelper(SCRIPT, {
      onMessage: (message) => this.#pending.resolve(ok(message as FromUploadReader)),
      onEnd: () => {
        this.#gone.resolve();
        this.#stop(ENDED);
      },
    });
  }

  /** Resolves once nothing of the process is left. */
  get gone(): Promise<void> {
    return this.#gone.promise;
  }

  /** Hands the file over, has all of it read, and resolves with what it has. */
  async survey(file: Uint8Array, settings: UploadSettings): Promise<Result<UploadSurvey, ServiceError>> {
    const ready = await this.#begin();
    if (!ready.ok) return ready;
    this.#send({ kind: "open", settings });
    await this.#sendFile(file);
    const surveyed = await this.#ask({ kind: "survey" });
    if (!surveyed.ok) return surveyed;
    return surveyed.value.kind === "surveyed" ? surveyed.value.result : this.#fail(ENDED);
  }

  /** Hands a file of geofences over, has all of it read, and resolves with how many it has. */
  async readFences(file: Uint8Array, extents: FenceExtents): Promise<Result<number, ServiceError>> {
    const ready = await this.#begin();
    if (!ready.ok) return ready;
    await this.#sendFile(file);
    const read = await this.#ask({ kind: "read_fences", extents });
    if (!read.ok) return read;
    return read.value.kind === "fences_read" ? read.value.result : this.#fail(ENDED);
  }

  /** The next geofences of a file that was read; none behind the last. */
  async nextFences(): Promise<Result<readonly WatchDraft[], ServiceError>> {
    const answer = await this.#ask({ kind: "next_fences" });
    if (!answer.ok) return answer;
    return answer.value.kind === "fences" ? ok(answer.value.drafts) : this.#fail(ENDED);
  }

  async #begin(): Promise<Result<null, ServiceError>> {
    const ready = await this.#answer(this.#ready.promise, START_MS_MAX, STARTED_LATE);
    if (!ready.ok) return ready;
    const isSame = ready.value.kind === "ready" && ready.value.format === BATCH_FORMAT;
    return isSame ? ok(null) : this.#fail(OTHER_VERSION);
  }

  async #sendFile(file: Uint8Array): Promise<void> {
    for (let at = 0; at < file.length; at += PIECE_BYTES) {
      // A copy: with a view, Bun would send all of the buffer that it shows a part of.
      this.#send({ kind: "piece", bytes: file.slice(at, at + PIECE_BYTES) });
      await nextTurn();
    }
  }

  /** The next points of a file that was surveyed; null behind the last. */
  async next(): Promise<Result<ReportBatch | null, ServiceError>> {
    const answer = await this.#ask({ kind: "next" });
    if (!answer.ok) return answer;
    return answer.value.kind === "batch" ? ok(answer.value.batch) : this.#fail(ENDED);
  }

  /** Kills the process. What waits for it fails. */
  end(): void {
    this.#stop(GIVEN_UP);
  }

  async #ask(request: ToUploadReader): Promise<Result<FromUploadReader, ServiceError>> {
    if (this.#failure !== null) return fail(this.#failure);
    this.#pending = Promise.withResolvers();
    this.#send(request);
    const sinceMs = this.#timers.nowMs();
    const answer = await this.#answer(this.#pending.promise, READ_MS_MAX - this.#readMs, LATE);
    this.#readMs += this.#timers.nowMs() - sinceMs;
    return answer;
  }

  async #answer(
    answer: Promise<Result<FromUploadReader, ServiceError>>,
    msMax: number,
    late: ServiceError,
  ): Promise<Result<FromUploadReader, ServiceError>> {
    const cancel = this.#timers.after(Math.max(0, msMax), () => this.#stop(late));
    try {
      return await answer;
    } finally {
      cancel();
    }
  }

  #send(message: ToUploadReader): void {
    if (this.#failure === null) this.#helper.send(message);
  }

  #stop(failure: ServiceError): void {
    if (this.#failure !== null) return;
    this.#failure = failure;
    this.#pending.resolve(fail(failure));
    this.#helper.end();
  }

  #fail(failure: ServiceError): { readonly ok: false; readonly error: ServiceError } {
    this.#stop(failure);
    return fail(failure);
  }
}
