/**
 * What people have on their disks, which is read and never written, and room beside it for what can be read only once.
 * Every failure throws a `FileError`.
 */
export interface Inputs {
  /** The path from the root. */
  resolve(path: string): string;
  /** What lies there; of a link, what it leads to. */
  stat(path: string): Promise<InputStat>;
  /** What lies there, which may be a link. */
  lstat(path: string): Promise<InputStat>;
  /** Names (not paths) of a directory's entries, sorted. */
  list(directory: string): Promise<string[]>;
  open(path: string): Promise<RandomInput>;
  /** What comes through a pipe, or standard input for `-`; it comes once. */
  stream(path: string): AsyncIterable<Uint8Array>;
  /** Room on the disk of a directory. Nobody else sees it, and it is gone when this process is, however it ends. */
  openSpool(directory: string): Promise<Spool>;
}

export interface InputStat {
  /** A stream is what can't be read twice: a pipe, a socket, a device. */
  readonly kind: "file" | "directory" | "link" | "stream";
  readonly sizeBytes: number;
  /** When it was last written, as Unix ms. */
  readonly modifiedMs: number;
}

/** Bytes that may be read from anywhere among them. */
export interface RandomInput {
  readonly sizeBytes: number;
  /** By which a library of this process opens it once more, as long as it is open here. */
  readonly path: string;
  /** Fills `into` with what lies from `position` on, and returns how many bytes: fewer only where the end is. */
  read(into: Uint8Array, position: number): Promise<number>;
  close(): Promise<void>;
}

export interface Spool extends RandomInput {
  append(piece: Uint8Array): Promise<void>;
}
