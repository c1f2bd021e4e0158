/** The process that holds a lock. */
export interface LockOwner {
  readonly pid: number;
  /** The process's command, such as `serve`. */
  readonly command: string;
  /** When the process took the lock, Unix ms. */
  readonly sinceMs: number;
}

export type LockAttempt =
  | { readonly ok: true; release(): void }
  /** `owner` is null if the holder is unknown: it has just started, or the file is damaged. */
  | { readonly ok: false; readonly owner: LockOwner | null };

/**
 * Takes the lock, or returns its holder without waiting. The lock ends with the process, however that ends; the file
 * stays. The process that holds the lock must not open that file again: closing it would end the lock. Throws a
 * `FileError` if the file can't be opened.
 */
export type AcquireLock = (path: string, owner: LockOwner) => Promise<LockAttempt>;
