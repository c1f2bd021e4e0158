import type { Files } from "../../runtime/files.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** Sends as many bytes of a file as it had when it was opened, no faster than they are taken. */
export interface Transfer {
  readonly bytes: number;
  pieces(): AsyncIterable<Bytes>;
  /** Nobody wants it any more, begun or not. */
  close(): void;
}

export interface TransferOptions {
  readonly files: Files;
  readonly path: string;
  readonly bytes: number;
  /** Ends it. */
  readonly signal: AbortSignal;
  /** For so long a piece may wait to be taken. */
  readonly stallMs: number;
  /** Called once, when it is over. */
  onOver(): void;
}

export function createTransfer(options: TransferOptions): Transfer {
  const { files, path, bytes, stallMs, onOver } = options;
  const ending = new AbortController();
  const signal = AbortSignal.any([options.signal, ending.signal]);
  let source: AsyncIterator<Bytes> | null = null;
  let isOver = false;

  /** Also gives the file free, where a piece of it waits that nobody takes. */
  function end(): void {
    if (isOver) return;
    isOver = true;
    signal.removeEventListener("abort", end);
    void source?.return?.();
    onOver();
  }

  async function* pieces(): AsyncGenerator<Bytes> {
    try {
      signal.throwIfAborted();
      source = files.readPieces(path)[Symbol.asyncIterator]();
      for (let sent = 0; sent < bytes; ) {
        const next = await source.next();
        signal.throwIfAborted();
        // Another file has taken its place since it was measured: who takes it sees that it breaks off.
        if (next.done === true) throw new Error(`"${path}" became shorter while it was sent`);
        const piece = next.value.subarray(0, bytes - sent);
        sent += piece.length;
        const stall = setTimeout(() => ending.abort(new Error("nobody took the file")), stallMs);
        try {
          yield piece;
        } finally {
          clearTimeout(stall);
        }
        signal.throwIfAborted();
      }
    } finally {
      end();
    }
  }

  if (signal.aborted) end();
  else signal.addEventListener("abort", end, { once: true });
  return { bytes, pieces, close: end };
}
