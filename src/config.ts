/** Everything an operator can set, parsed once into units. `cli/command.ts` fills it from flags and environment. */
export interface Config {
  readonly dataDir: string;
  readonly hostname: string;
  readonly port: number;
  /** Origins whose pages may read answers, or `*`; none turns CORS off. */
  readonly corsOrigins: readonly string[];
}

export const DEFAULT_DATA_DIR = "data/local";
export const DEFAULT_HOSTNAME = "127.0.0.1";
export const DEFAULT_PORT = 3000;

/** A segment is read back whole, so this bounds the memory that replay needs beside the store. */
export const SEGMENT_BYTES_MAX = 64 * 1024 * 1024;

/** Reports that wait for the disk, encoded: a second or two of a fast disk, and a bound on memory. */
export const LOG_QUEUE_BYTES_MAX = 64 * 1024 * 1024;
