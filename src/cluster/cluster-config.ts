import type { StreamAddress, StreamCredentials } from "./stream/stream.ts";

/** The nodes that share a log, and what we are among them. */
export interface ClusterConfig {
  readonly address: ClusterAddress;
  readonly access: ClusterAccess;
  /** What the stream may hold, where it is made. */
  readonly logBytesMax: number;
  /** How long the log is kept for a node that is away. */
  readonly nodeTimeoutMs: number;
  /** Where other nodes reach this one; null where that is where it listens. */
  readonly advertise: string | null;
}

/** Which stream of which servers. */
export type ClusterAddress = Pick<StreamAddress, "servers" | "isSecure" | "stream">;

/** From the environment of each process, and never kept in the data directory. */
export interface ClusterAccess {
  /** Null where the servers ask for none. */
  readonly credentials: ClusterCredentials | null;
  /** Certificates in PEM that the servers' must be signed by; null for those that the runtime trusts. */
  readonly authoritiesFile: string | null;
}

export type ClusterCredentials =
  | Exclude<StreamCredentials, { readonly kind: "file" }>
  /** A `.creds` file. */
  | { readonly kind: "file"; readonly path: string };

/** What can't be used goes through a stream of its own, of a quarter of the log's within these bounds. */
export const QUARANTINE_LOG_BYTES = { min: 64_000_000, max: 1_000_000_000 } as const;
