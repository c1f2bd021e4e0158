/** The user's files, which are only read, and temporary space. Every failure throws a `FileError`. */
export interface Inputs {
  /** Returns the absolute path. */
  resolve(path: string): string;
  /** Follows links. */
  stat(path: string): Promise<InputStat>;
  /** Does not follow links. */
  lstat(path: string): Promise<InputStat>;
  /** Names (not paths) of a directory's entries, sorted. */
  list(directory: string): Promise<string[]>;
  open(path: string): Promise<RandomInput>;
  /** The content of a pipe, or of standard input for `-`; it can be read once. */
  stream(path: string): AsyncIterable<Uint8Array>;
  /** A temporary file on the directory's disk. No other process sees it, and it disappears with this process. */
  openSpool(directory: string): Promise<Spool>;
}

export interface InputStat {
  /** A stream can be read only once: a pipe, a socket, a device. */
  readonly kind: "file" | "directory" | "link" | "stream";
  readonly sizeBytes: number;
  /** Unix ms. */
  readonly modifiedMs: number;
}

/** Bytes with random access. */
export interface RandomInput {
  readonly sizeBytes: number;
  /** A library of this process can open the file by this path while it is open here. */
  readonly path: string;
  /** Fills `into` from `position` on and returns the number of bytes, fewer only at the end of the file. */
  read(into: Uint8Array, position: number): Promise<number>;
  close(): Promise<void>;
}

export interface Spool extends RandomInput {
  append(piece: Uint8Array): Promise<void>;
}
