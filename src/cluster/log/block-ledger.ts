import type { UtcDay } from "../../model/time/utc-day.ts";
import { addDays, type ReportsByDay } from "../../wal/batch-parts.ts";
import type { Coverage } from "../../wal/closed-segments.ts";

/** A run of messages, as far as they were applied. */
interface Block {
  readonly firstMessage: number;
  /** None of its entries has a greater one. */
  lastSequence: number;
  bytes: number;
  readonly reports: Map<UtcDay, number>;
}

/** A node of a thousand messages a second has some 150,000 blocks of them in a window, of 200 bytes each. */
const BLOCK_MESSAGES_MAX = 4096;

/**
 * Which days the messages of a stream have reports of, by blocks, so that a node knows the first message that a start
 * of it still needs. Messages without reports of any day need nobody.
 */
export class BlockLedger {
  #blocks: Block[] = [];
  #current: Block | null = null;

  /** Of the block that is being filled. */
  get currentDays(): ReadonlySet<UtcDay> {
    return new Set(this.#current?.reports.keys());
  }

  /** Messages come in order; `lastSequence` is that of its last entry. */
  note(message: number, lastSequence: number, reports: ReportsByDay, bytes: number): void {
    if (this.#current !== null && message - this.#current.firstMessage >= BLOCK_MESSAGES_MAX) this.endBlock();
    this.#current ??= { firstMessage: message, lastSequence, bytes: 0, reports: new Map() };
    this.#current.lastSequence = lastSequence;
    this.#current.bytes += bytes;
    addDays(reports, this.#current.reports);
  }

  /** The next message begins a block. */
  endBlock(): void {
    if (this.#current !== null) this.#blocks.push(this.#current);
    this.#current = null;
  }

  get bytes(): number {
    return this.#all().reduce((sum, { bytes }) => sum + bytes, 0);
  }

  mayHold(day: UtcDay): boolean {
    return this.#all().some(({ reports }) => reports.has(day));
  }

  /** Forgets the oldest blocks as far as all of them are covered. */
  trim({ isCovered }: Coverage): void {
    const isNeeded = ({ reports, lastSequence }: Block) =>
      [...reports.keys()].some((day) => !isCovered(day, lastSequence));
    const first = this.#blocks.findIndex(isNeeded);
    this.#blocks = first < 0 ? [] : this.#blocks.slice(first);
  }

  /** The first message that a start needs, where the next one to come is `next`. */
  floor(next: number): number {
    return this.#blocks[0]?.firstMessage ?? this.#current?.firstMessage ?? next;
  }

  #all(): readonly Block[] {
    return this.#current === null ? this.#blocks : [...this.#blocks, this.#current];
  }
}
