import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { fail, ok, type Result } from "../../lib/result.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { DeviceId } from "../../model/ids.ts";
import type { TimeRange } from "../../model/time/range.ts";
import { type Files, isOutOfDescriptors } from "../../runtime/files.ts";
import { type QueryDependencies, retainedRange } from "../queries/find-device.ts";
import { planStretches, sealedDaysOf } from "../queries/history/plan.ts";
import { findGaps, OUT_OF_DESCRIPTORS } from "../queries/history/read-archive.ts";
import { exportByDevice } from "./export-by-device.ts";
import { exportByTime } from "./export-by-time.ts";
import { type ExportQuery, exportOrder } from "./export-formats.ts";
import { ExportDamagedError, type ExportSources, runCommand } from "./export-source.ts";
import type { ExportMaker, ExportMakers } from "./maker/export-makers.ts";
import { PieceQueue } from "./piece-queue.ts";

/** A file that is being sent. */
export interface Export {
  /** Whether records are missing that an operator has acknowledged as lost. */
  readonly isIncomplete: boolean;
  /** Records written so far. */
  readonly records: number;
  /**
   * The file, no faster than its reader. Rejects if it can't be completed; a reader that stops early ends the export.
   */
  pieces(): AsyncIterable<Uint8Array<ArrayBuffer>>;
  /** Ends the export because its client has left. */
  close(): void;
}

export interface ExportDependencies extends QueryDependencies, ExportSources {
  readonly files: Files;
  /** Where DuckDB finds the archive. */
  readonly archiveDirectory: string;
  /** For data too large for memory; emptied when the directory is opened. */
  readonly scratchDirectory: string;
  /** How long pieces may wait for the client. */
  readonly stallMs: number;
}

/** An export that has a slot. */
export class ExportJob implements Export {
  isIncomplete = false;
  records = 0;
  /** Resolves once the first piece exists, or there will certainly be none. */
  readonly begun: Promise<Result<Export, ServiceError>>;
  /** Resolves once the client has read everything or the export is abandoned: it is about to end. */
  readonly settled: Promise<void>;
  /** Resolves once all its resources are released. */
  readonly over: Promise<void>;
  readonly #dependencies: ExportDependencies;
  readonly #query: ExportQuery;
  readonly #listed: readonly DeviceId[] | null;
  readonly #left = new AbortController();
  readonly #signal: AbortSignal;
  readonly #scratchDirectory: string;
  readonly #queue: PieceQueue;
  readonly #maker: ExportMaker;

  constructor(
    dependencies: ExportDependencies,
    makers: ExportMakers,
    query: ExportQuery,
    listed: readonly DeviceId[] | null,
    clientSignal: AbortSignal,
  ) {
    const { archiveDirectory, stallMs } = dependencies;
    const { zone, ...options } = query.options;
    this.#dependencies = dependencies;
    this.#query = query;
    this.#listed = listed;
    this.#signal = AbortSignal.any([clientSignal, this.#left.signal]);
    this.#scratchDirectory = join(dependencies.scratchDirectory, `export-${randomUUID()}`);
    this.#queue = new PieceQueue({
      onTaken: () => this.#maker.taken(),
      onStalled: () => this.#left.abort(new Error("The export's client read nothing")),
      stallMs,
    });
    const settings = {
      format: query.format,
      options: { ...options, zone: zone?.name ?? null },
      order: exportOrder(query.format, query.options),
      archiveDirectory,
      scratchDirectory: this.#scratchDirectory,
    };
    this.#maker = makers.open(settings, { onPiece: (bytes) => this.#queue.push(bytes) });
    this.begun = this.#queue.whenBegun().then(
      () => ok(this),
      (error) => fail(failureOf(error)),
    );
    this.settled = this.#settle();
    this.over = this.#tidy();
  }

  async *pieces(): AsyncIterable<Uint8Array<ArrayBuffer>> {
    try {
      for (let piece = await this.#queue.take(); piece !== null; piece = await this.#queue.take())
        yield piece;
    } finally {
      this.close();
    }
  }

  close(): void {
    this.#left.abort(new Error("The export's client has left"));
  }

  /** Resolves whatever happens to the export. */
  async #settle(): Promise<void> {
    const giveUp = () => {
      this.#queue.fail(this.#signal.reason);
      void this.#maker.close();
    };
    this.#signal.addEventListener("abort", giveUp, { once: true });
    if (this.#signal.aborted) giveUp();
    try {
      await this.#make();
      await this.#queue.whenTaken();
    } catch (error) {
      this.#queue.fail(error);
    }
    this.#signal.removeEventListener("abort", giveUp);
  }

  async #make(): Promise<void> {
    const query = this.#query;
    const range = retainedRange(this.#dependencies, query.range);
    this.isIncomplete = await expectWhole(this.#dependencies, query, range);
    await this.#dependencies.files.makeDirectory(this.#scratchDirectory);
    const maker = this.#maker;
    const run = { ...this.#dependencies, query, range, listed: this.#listed, maker, signal: this.#signal };
    const order = exportOrder(query.format, query.options);
    await (order === "time" ? exportByTime(run) : exportByDevice(run));
    const { records, file } = await runCommand(run, { kind: "end" });
    this.records = records;
    if (file !== null) await this.#pushFile(file);
    this.#queue.end();
  }

  async #pushFile(path: string): Promise<void> {
    for await (const piece of this.#dependencies.files.readPieces(path)) {
      this.#queue.push(piece);
      await this.#queue.whenRoom();
    }
  }

  async #tidy(): Promise<void> {
    await this.settled;
    await this.#maker.close();
    await this.#dependencies.files.removeAll(this.#scratchDirectory);
  }
}

/** Describes a file before any of it is written. */
export async function describeExport(
  dependencies: ExportDependencies,
  query: ExportQuery,
): Promise<Result<Pick<Export, "isIncomplete">, ServiceError>> {
  try {
    const range = retainedRange(dependencies, query.range);
    return ok({ isIncomplete: await expectWhole(dependencies, query, range) });
  } catch (error) {
    return fail(failureOf(error));
  }
}

/** The error if not even the first piece could be made; a bug is thrown. */
function failureOf(error: unknown): ServiceError {
  if (error instanceof ExportDamagedError) return { kind: "archive_damaged", days: error.days };
  if (isOutOfDescriptors(error)) return OUT_OF_DESCRIPTORS;
  throw error;
}

/**
 * Checks before the first byte whether the range has lost records; resolves with whether some are acknowledged as lost.
 */
async function expectWhole(
  dependencies: ExportDependencies,
  { appId }: ExportQuery,
  range: TimeRange,
): Promise<boolean> {
  const archive = dependencies.archive();
  const stretches = planStretches(dependencies.hot, archive.manifest, range);
  const gaps = await findGaps(dependencies, archive, appId, sealedDaysOf(stretches));
  if (gaps.unacknowledged.length > 0) throw new ExportDamagedError(gaps.unacknowledged);
  return gaps.isIncomplete;
}
