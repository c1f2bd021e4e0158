const INTERRUPT_MS = 10;

/** The statements that run on a connection. A signal ends one of them; closing ends all. */
export interface RunningStatements {
  /** Registers a statement, which `signal` or `close()` interrupts. Call the returned function when it has ended. */
  begin(sql: string, signal: AbortSignal | undefined): () => void;
  /** Throws an `AbortError` after `close()`. */
  throwIfClosed(): void;
  /** Interrupts all statements, and lets none begin. */
  close(): void;
}

/** Running statements of all connections of this process. */
const underWay = new Set<{ readonly sql: string }>();

/** The statements that run now, on any connection. A process that exits names those that it did not wait for. */
export function statementsUnderWay(): readonly string[] {
  return [...underWay].map(({ sql }) => sql);
}

/** `interrupt` ends what runs on the connection. `onUnused` is called after the close, once nothing runs any more. */
export function createRunningStatements(interrupt: () => void, onUnused: () => void): RunningStatements {
  const closing = new AbortController();
  let running = 0;

  function endIfUnused(): void {
    if (running === 0) onUnused();
  }

  return {
    throwIfClosed: () => closing.signal.throwIfAborted(),
    begin(sql, signal) {
      signal?.throwIfAborted();
      closing.signal.throwIfAborted();
      const statement = { sql };
      underWay.add(statement);
      running++;
      let interrupting: ReturnType<typeof setInterval> | undefined;
      const onAbort = () => {
        interrupt();
        // A statement that is prepared but not running yet can't be interrupted, so this tries until it ends.
        interrupting ??= setInterval(interrupt, INTERRUPT_MS);
      };
      const signals = signal === undefined ? [closing.signal] : [closing.signal, signal];
      for (const each of signals) each.addEventListener("abort", onAbort);
      return () => {
        for (const each of signals) each.removeEventListener("abort", onAbort);
        clearInterval(interrupting);
        underWay.delete(statement);
        running--;
        if (closing.signal.aborted) endIfUnused();
      };
    },
    close() {
      if (closing.signal.aborted) return;
      closing.abort();
      endIfUnused();
    },
  };
}
