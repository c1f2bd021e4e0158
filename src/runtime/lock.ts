/** Who holds a lock, in words that a person can act on. */
export interface LockOwner {
  readonly pid: number;
  /** What the process was started to do, such as `serve`. */
  readonly command: string;
  /** When it took the lock, Unix ms. */
  readonly sinceMs: number;
}

export type LockAttempt =
  | { readonly ok: true; release(): void }
  /** `owner` is null where the holder could not be told: it has just begun, or the file is damaged. */
  | { readonly ok: false; readonly owner: LockOwner | null };

/**
 * Takes the lock named by a file, or says who holds it; never waits for a holder. It ends with the process,
 * however that ends, and the file stays. Nothing else may open that file: reading it in the process that
 * holds the lock would end the lock. Throws a `FileError` where the file can't be opened.
 */
export type AcquireLock = (path: string, owner: LockOwner) => Promise<LockAttempt>;
