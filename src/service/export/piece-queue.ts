/*
 * The finished pieces of an export that its client has not read yet.
 */

import { PIECES_MAX } from "./maker/messages.ts";

type Bytes = Uint8Array<ArrayBuffer>;

export interface PieceQueueEvents {
  onTaken(): void;
  /** Pieces wait, and the client has read none for `stallMs`. */
  onStalled(): void;
  readonly stallMs: number;
}

/** Pieces of a file between its maker and its client. */
export class PieceQueue {
  readonly #events: PieceQueueEvents;
  readonly #pieces: Bytes[] = [];
  #isOver = false;
  #failure: unknown = null;
  /** Called when there is a piece, or there will be no more. */
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

  /** Drops waiting pieces, so that a failed file lacks more than a little of its end, and its failure is noticed. */
  fail(error: unknown): void {
    if (this.#isOver && this.#pieces.length === 0) return;
    this.#failure ??= error ?? new Error("The export failed");
    this.#isOver = true;
    this.#pieces.length = 0;
    this.#onTaken?.();
    this.#change();
  }

  /** Resolves once there is a piece, or the queue is closed; rejects if the export failed. */
  async whenBegun(): Promise<void> {
    while (this.#pieces.length === 0 && !this.#isOver)
      await new Promise<void>((resolve) => {
        this.#onChange = resolve;
      });
    if (this.#failure !== null) throw this.#failure;
  }

  /** Resolves once the client has read all pieces; rejects if the export failed. */
  whenTaken(): Promise<void> {
    return this.#whenFewer(1);
  }

  /** Resolves once there is room for another piece; rejects if the export failed. */
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

  /** Null after the last piece. */
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

  /** After a piece, the client has `stallMs` to read the next one. */
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
