import { type Erasure, isErased, type PendingErasure } from "../model/erasure.ts";
import type { AppId, DeviceId } from "../model/ids.ts";

/** An erasure of which files may still have something, and who made it. */
export interface HeldErasure extends Erasure, PendingErasure {
  /** Devices whose newest archived record is not known, since the one that the entry names is erased or hidden. */
  readonly lost: readonly DeviceId[];
}

interface ErasedRecord {
  readonly deviceId: DeviceId;
  readonly userId: string | null;
  readonly timestampMs: number;
}

/** An erasure that was applied. */
interface RecentErasure {
  readonly erasure: Erasure;
  /** The number that it has taken among the app's corrections. */
  readonly number: number;
  /** Whether no correction and no erasure came between its plan and its entry. */
  readonly isCurrent: boolean;
}

/** Erasures that may come between the plan and the entries of another one: those of seconds. */
const RECENT_MAX = 256;

const NO_TIME = { startMs: Number.NEGATIVE_INFINITY, endMs: Number.NEGATIVE_INFINITY };

/**
 * The erasures that are not finished: files may still have what they destroy, and reads of the archive leave it out.
 * They change only by entries of the log and when the archive finishes one, so each start finds the same.
 */
export class Erasures {
  readonly #pending: (HeldErasure & { readonly lost: DeviceId[] })[] = [];
  readonly #recent: RecentErasure[] = [];
  #finishedSequence = 0;
  #onAdded = (_erasure: HeldErasure) => {};
  #added = 0;

  /** Sets the listener that is called when an entry of the log adds one. */
  watch(onAdded: (erasure: HeldErasure) => void): void {
    this.#onAdded = onAdded;
  }

  /** All erasures up to this entry of the log are finished. */
  get finishedSequence(): number {
    return this.#finishedSequence;
  }

  /** How many were added since the start. */
  get added(): number {
    return this.#added;
  }

  /** In the order of the log. */
  pending(): readonly HeldErasure[] {
    return this.#pending;
  }

  ofApp(appId: AppId): HeldErasure[] {
    return this.#pending.filter((erasure) => erasure.appId === appId);
  }

  /** Adds the erasure of an entry. False if it is finished: the entry then changes nothing. */
  add(erasure: Erasure, sequence: number): boolean {
    if (sequence <= this.#finishedSequence) return false;
    // What continues an erasure destroys nothing: reports may have come between the two.
    const range = erasure.continues ? NO_TIME : erasure.range;
    const added = { ...erasure, range, sequence, lost: [] };
    this.#pending.push(added);
    this.#added++;
    this.#onAdded(added);
    return true;
  }

  noteLost(sequence: number, deviceId: DeviceId): void {
    this.#pending.find((erasure) => erasure.sequence === sequence)?.lost.push(deviceId);
  }

  /** Notes one that was applied, finished or not. */
  noteRecent(recent: RecentErasure): void {
    this.#recent.push(recent);
    if (this.#recent.length > RECENT_MAX) this.#recent.shift();
  }

  findRecent(id: string): RecentErasure | null {
    return this.#recent.findLast(({ erasure }) => erasure.id === id) ?? null;
  }

  /** Whether an erasure with a later number than this destroys a record. */
  isErasedSince(number: number, appId: AppId, record: ErasedRecord): boolean {
    const { deviceId, userId, timestampMs } = record;
    return this.#recent.some(
      ({ erasure, number: later }) =>
        later > number && erasure.appId === appId && isErased(erasure, deviceId, userId, timestampMs),
    );
  }

  /** Forgets those of a replay that failed. */
  clear(): void {
    this.#pending.length = 0;
    this.#recent.length = 0;
  }

  /** All erasures up to this entry of the log are finished. */
  finish(sequence: number): void {
    this.#finishedSequence = Math.max(this.#finishedSequence, sequence);
    const left = this.#pending.filter((erasure) => erasure.sequence > this.#finishedSequence);
    this.#pending.splice(0, this.#pending.length, ...left);
  }
}
