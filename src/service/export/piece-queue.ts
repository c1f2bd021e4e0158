/*
 * What an export has made and its client has not taken yet.
 */

import { PIECES_MAX } from "./maker/messages.ts";

type Bytes = Uint8Array<ArrayBuffer>;

export interface PieceQueueEvents {
  onTaken(): void;
  /** Pieces wait, and the client has taken none for `stallMs`. */
  onStalled(): void;
  readonly stallMs: number;
}

/** Pieces of a file between its maker and its client. */
export class PieceQueue {
  readonly #events: PieceQueueEvents;
  readonly #pieces: Bytes[] = [];
  #isOver = false;
  #failure: unknown = null;
  /** Told when there is a piece, or none will come any more. */
  #onChange: (() => void) | null = null;
  #onTaken: (() => void) | null = null;
  #stall: ReturnType<typeof setTimeout> | null = null;

  constructor(events: PieceQueueEvents) {
    this.#events = events;
  }

  push(piece: Bytes): void {
    if (this.#isOver) return;
    this.#pieces.push(piece);
    this.#change();
  }

  end(): void {
    this.#isOver = true;
    this.#change();
  }

  /** What was not taken is never taken: a file that lacks its end must not lose only a little. */
  fail(error: unknown): void {
    if (this.#isOver && this.#pieces.length === 0) return;
    this.#failure ??= error ?? new Error("The export failed");
    this.#isOver = true;
    this.#pieces.length = 0;
    this.#onTaken?.();
    this.#change();
  }

  /** Resolves once there is a piece, or all is over; rejects if it failed. */
  async whenBegun(): Promise<void> {
    while (this.#pieces.length === 0 && !this.#isOver)
      await new Promise<void>((resolve) => {
        this.#onChange = resolve;
      });
    if (this.#failure !== null) throw this.#failure;
  }

  /** Resolves once all is taken; rejects if it failed. */
  whenTaken(): Promise<void> {
    return this.#whenFewer(1);
  }

  /** Resolves once there is room for another piece; rejects if it failed. */
  whenRoom(): Promise<void> {
    return this.#whenFewer(PIECES_MAX);
  }

  async #whenFewer(pieces: number): Promise<void> {
    while (this.#pieces.length >= pieces)
      await new Promise<void>((resolve) => {
        this.#onTaken = resolve;
      });
    if (this.#failure !== null) throw this.#failure;
  }

  /** Null behind the last. */
  async take(): Promise<Bytes | null> {
    this.#clearStall();
    await this.whenBegun();
    const piece = this.#pieces.shift() ?? null;
    if (piece !== null) this.#events.onTaken();
    this.#onTaken?.();
    this.#watch();
    return piece;
  }

  #change(): void {
    this.#onChange?.();
    this.#onChange = null;
    this.#watch();
  }

  /** A client that has taken a piece has `stallMs` to take the next that is there. */
  #watch(): void {
    if (this.#isOver && this.#pieces.length === 0) this.#clearStall();
    else if (this.#pieces.length > 0)
      this.#stall ??= setTimeout(() => this.#events.onStalled(), this.#events.stallMs);
  }

  #clearStall(): void {
    if (this.#stall !== null) clearTimeout(this.#stall);
    this.#stall = null;
  }
}
