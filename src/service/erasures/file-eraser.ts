import { join } from "node:path";
import type { Archive } from "../../archive/archive.ts";
import type { Manifest } from "../../archive/manifest.ts";
import type { ErasureLedger, LedgerErasure } from "../../directory/erasure-ledger.ts";
import type { HeldErasure } from "../../hot/erasures.ts";
import type { HotStore } from "../../hot/hot-store.ts";
import { messageOf } from "../../lib/message-of.ts";
import type { Timers } from "../../lib/schedule/timers.ts";
import { masksDay } from "../../model/erasure.ts";
import type { AppId } from "../../model/ids.ts";
import type { Clock } from "../../model/time/clock.ts";
import { nextUtcDay, utcDayStartMs } from "../../model/time/utc-day.ts";
import { type Files, readIfThere } from "../../runtime/files.ts";
import type { SealSchedule } from "../upkeep/seal/schedule.ts";
import { ledgerLine, subjectOf } from "./erase.ts";
import { ReportBuilder } from "./report-builder.ts";
import type { ErasureReport, ErasureState, ErasureStates } from "./states.ts";

/* Erasing the files of a data directory while it is served. */

export interface FileEraserDependencies {
  readonly hot: Pick<HotStore, "erasures">;
  readonly schedule: Pick<SealSchedule, "sealNow">;
  readonly archive: Pick<Archive, "manifest">;
  readonly ledger: ErasureLedger;
  readonly files: Pick<Files, "read" | "replace" | "makeDirectory">;
  /** The folder of the reports. */
  readonly directory: string;
  readonly clock: Clock;
  readonly timers: Timers;
  /** Removes what is not in log and archive: messages of the quarantine, keys, damaged files. */
  readonly eraseElsewhere: (
    erasure: HeldErasure,
    dropsDamaged: boolean,
    report: ReportBuilder,
  ) => Promise<void>;
  /** Called with a sentence for the operator. */
  readonly onNote: (note: string) => void;
}

export interface EraseAllOptions {
  /** Whether to delete all files in `damaged/`, which may have something and can't be read whole. */
  readonly dropsDamaged: boolean;
  readonly onDaysLeft: (days: number) => void;
}

const NO_OPTIONS: EraseAllOptions = { dropsDamaged: false, onDaysLeft: () => undefined };

/** After an attempt that failed, or that a damaged file kept from finishing. */
const RETRY_MS = 5 * 60_000;

/**
 * Removes what erasures destroy from all files, by seals that rewrite them, and ends with a report. It goes on after a
 * restart, since the log has the erasures that are not finished.
 */
export class FileEraser implements ErasureStates {
  readonly #dependencies: FileEraserDependencies;
  #running: Promise<void> | null = null;
  #isStopped = false;
  #cancelRetry = () => {};
  /** How to end the blocks that the ledger does not have yet, by the entries of their erasures. */
  readonly #blocked = new Map<number, () => void>();

  constructor(dependencies: FileEraserDependencies) {
    this.#dependencies = dependencies;
  }

  start(): void {
    const { erasures } = this.#dependencies.hot;
    erasures.watch((erasure) => {
      this.#blockMeanwhile(erasure);
      this.#runSoon();
    });
    for (const erasure of erasures.pending()) this.#blockMeanwhile(erasure);
    this.#runSoon();
  }

  /** A node that did not make the erasure has it in its ledger only once it begins to erase. */
  #blockMeanwhile(erasure: HeldErasure): void {
    if (!erasure.block || erasure.continues || this.#blocked.has(erasure.sequence)) return;
    this.#blocked.set(erasure.sequence, this.#dependencies.ledger.blockMeanwhile(subjectOf(erasure)));
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelRetry();
    await this.#running;
  }

  /** Erases all that is pending. Returns why it is not finished; null if it is. */
  async finishNow(options: EraseAllOptions): Promise<string | null> {
    await this.#running;
    return this.#finishAll(options);
  }

  list(appId: AppId): readonly ErasureState[] {
    const { ledger, hot } = this.#dependencies;
    const states = ledger.erasures
      .filter((erasure) => erasure.appId === appId)
      .map((erasure) => this.#stateOf(erasure));
    const known = new Set(states.map(({ id }) => id));
    const fresh = hot.erasures.ofApp(appId).filter(({ id, continues }) => !continues && !known.has(id));
    return [
      ...states,
      ...fresh.map((erasure) => this.#stateOf({ ...erasure, ...erasure.range, finishedMs: null })),
    ].reverse();
  }

  async find(appId: AppId, id: string) {
    const state = this.list(appId).find((erasure) => erasure.id === id) ?? null;
    if (state === null) return null;
    const { files } = this.#dependencies;
    const bytes = state.finishedMs === null ? null : await readIfThere(files, this.#reportPath(id));
    return {
      state,
      report: bytes === null ? null : (JSON.parse(new TextDecoder().decode(bytes)) as ErasureReport),
    };
  }

  #stateOf({ id, startMs, endMs, block, createdMs, finishedMs }: StateMembers): ErasureState {
    const { hot, archive } = this.#dependencies;
    const pending = finishedMs === null ? hot.erasures.pending().find((each) => each.id === id) : undefined;
    const daysLeft = pending === undefined ? 0 : countDaysLeft(pending, archive.manifest);
    return { id, range: { startMs, endMs }, block, createdMs, finishedMs, daysLeft };
  }

  #runSoon(): void {
    if (this.#running !== null || this.#isStopped) return;
    this.#cancelRetry();
    this.#running = this.#run().finally(() => {
      this.#running = null;
    });
  }

  async #run(): Promise<void> {
    const { onNote, timers } = this.#dependencies;
    const obstacle = await this.#finishAll(NO_OPTIONS).catch(messageOf);
    if (obstacle === null || this.#isStopped) return;
    onNote(`An erasure is not finished: ${obstacle}. It is tried again.`);
    this.#cancelRetry = timers.after(RETRY_MS, () => this.#runSoon());
  }

  async #finishAll(options: EraseAllOptions): Promise<string | null> {
    const { erasures } = this.#dependencies.hot;
    do {
      const obstacle =
        erasures.pending().length > 0
          ? await this.#eraseAll(erasures.pending(), options)
          : await this.#finishErased();
      if (obstacle !== null) return obstacle;
    } while (erasures.pending().length > 0);
    return null;
  }

  /** Erases all that is pending at once. Returns why it is not finished; null if it is. */
  async #eraseAll(
    all: readonly HeldErasure[],
    { dropsDamaged, onDaysLeft }: EraseAllOptions,
  ): Promise<string | null> {
    const { hot, schedule, ledger, eraseElsewhere } = this.#dependencies;
    const erasures = [...all];
    const lastSequence = erasures.at(-1)!.sequence;
    const whole = erasures.filter(({ continues }) => !continues);
    const reports = new Map(whole.map((erasure) => [erasure.sequence, new ReportBuilder(erasure)]));
    for (const erasure of whole) {
      const added = await ledger.add(ledgerLine(erasure));
      if (!added.ok) return added.error.reason;
      this.#blocked.get(erasure.sequence)?.();
      this.#blocked.delete(erasure.sequence);
      await eraseElsewhere(erasure, dropsDamaged, reports.get(erasure.sequence)!);
    }
    for (let before = Number.POSITIVE_INFINITY; ; ) {
      const { erased, unfinished, ...sealed } = await schedule.sealNow();
      if (this.#isStopped) return "the server stops";
      if (erased === null) return "a seal did not know of it";
      for (const report of reports.values()) report.addSeal({ ...sealed, erased, unfinished });
      onDaysLeft(erased.left);
      const unsearched = erased.log?.unsearched ?? [];
      if (unsearched.length > 0) return `${unsearched.join(", ")} can't be read`;
      if (erased.left === 0 && erased.log?.isComplete === true && erased.sequence >= lastSequence) break;
      if (erased.damaged.length > 0 && erased.left >= before)
        return `${erased.damaged.join(", ")} can't be read`;
      if (erased.left >= before) return unfinished ?? "files could not be written anew";
      before = erased.left;
    }
    for (const erasure of whole) await this.#writeReport(erasure, reports.get(erasure.sequence)!);
    hot.erasures.finish(lastSequence);
    return this.#finishErased();
  }

  /**
   * Finishes what is gone from all files: a seal notes so, and takes the entries of these erasures out of the log. Goes
   * on with it after a restart. Returns why it is not finished; null if it is.
   */
  async #finishErased(): Promise<string | null> {
    const { archive, hot, ledger, schedule, clock } = this.#dependencies;
    const isPending = new Set(hot.erasures.pending().map(({ sequence }) => sequence));
    const erased = ledger.erasures.filter(
      ({ sequence, finishedMs }) => finishedMs === null && !isPending.has(sequence),
    );
    // One that a restore repeats is finished in the ledger already.
    const isNoted = erased.length === 0 && hot.erasures.finishedSequence <= archive.manifest.erased;
    if (isNoted || this.#isStopped) return null;
    const { unfinished } = await schedule.sealNow();
    if (unfinished !== null) return unfinished;
    for (const { id, sequence } of erased)
      if (sequence <= archive.manifest.erased) await ledger.finish(id, clock.nowMs());
    return null;
  }

  async #writeReport({ id }: HeldErasure, report: ReportBuilder): Promise<void> {
    const { files, directory } = this.#dependencies;
    await files.makeDirectory(directory);
    await files.replace(
      this.#reportPath(id),
      new TextEncoder().encode(`${JSON.stringify(report.build())}\n`),
    );
  }

  #reportPath(id: string): string {
    return join(this.#dependencies.directory, `${id}.json`);
  }
}

/** How many archived days have files with records of the app that the erasure may destroy. */
function countDaysLeft(erasure: HeldErasure, { days, expired }: Manifest): number {
  let count = 0;
  for (const [day, { cleared, parts }] of [...days, ...expired]) {
    const range = { startMs: utcDayStartMs(day), endMs: utcDayStartMs(nextUtcDay(day)) };
    if (masksDay(erasure, range, cleared) && parts.some(({ apps }) => apps.has(erasure.appId))) count++;
  }
  return count;
}

type StateMembers = Pick<LedgerErasure, "id" | "startMs" | "endMs" | "block" | "createdMs" | "finishedMs">;
