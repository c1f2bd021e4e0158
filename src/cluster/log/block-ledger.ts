import type { UtcDay } from "../../model/time/utc-day.ts";
import { EntryCounter, type EntryTally } from "../../wal/batch-parts.ts";
import type { Coverage } from "../../wal/coverage.ts";

/** A run of applied messages. */
interface Block {
  readonly firstMessage: number;
  /** The greatest sequence of its entries. */
  lastSequence: number;
  bytes: number;
  readonly tally: EntryCounter;
}

/** At 1000 messages a second, a window of a week has 150,000 blocks of 200 bytes. */
const BLOCK_MESSAGES_MAX = 4096;

/** Records the days of a stream's messages, in blocks, to find the first message that a restart needs. */
export class BlockLedger {
  #blocks: Block[] = [];
  #current: Block | null = null;

  /** The days of the block that is being filled. */
  get currentDays(): ReadonlySet<UtcDay> {
    return new Set(this.#current?.tally.reports.keys());
  }

  /** Called in message order; `lastSequence` is that of the last entry. */
  note(message: number, lastSequence: number, tally: EntryTally, bytes: number): void {
    if (this.#current !== null && message - this.#current.firstMessage >= BLOCK_MESSAGES_MAX) this.endBlock();
    this.#current ??= { firstMessage: message, lastSequence, bytes: 0, tally: new EntryCounter() };
    this.#current.lastSequence = lastSequence;
    this.#current.bytes += bytes;
    this.#current.tally.addAll(tally);
  }

  /** The next message starts a new block. */
  endBlock(): void {
    if (this.#current !== null) this.#blocks.push(this.#current);
    this.#current = null;
  }

  get bytes(): number {
    return this.#all().reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** The last day of any message; null if there is none. */
  get lastDay(): UtcDay | null {
    const days = this.#all().flatMap(({ tally }) => [...tally.reports.keys()]);
    return days.reduce<UtcDay | null>((last, day) => (last === null || day > last ? day : last), null);
  }

  mayHold(day: UtcDay): boolean {
    return this.#all().some(({ tally }) => tally.reports.has(day));
  }

  /** Removes the oldest blocks that are fully covered, up to the first with a pending erasure. */
  trim({ isCovered, standingSequence, erasures }: Coverage): void {
    const isNeeded = ({ tally, lastSequence }: Block) =>
      erasures.some(({ sequence }) => sequence <= lastSequence) ||
      tally.standingSequence > standingSequence ||
      [...tally.reports.keys()].some((day) => !isCovered(day, lastSequence));
    const first = this.#blocks.findIndex(isNeeded);
    this.#blocks = first < 0 ? [] : this.#blocks.slice(first);
  }

  /** The first message that a restart needs; `next` is the number of the next message. */
  floor(next: number): number {
    return this.#blocks[0]?.firstMessage ?? this.#current?.firstMessage ?? next;
  }

  #all(): readonly Block[] {
    return this.#current === null ? this.#blocks : [...this.#blocks, this.#current];
  }
}
