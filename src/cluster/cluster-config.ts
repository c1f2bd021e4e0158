import type { Files } from "../runtime/files.ts";
import type { StreamAddress, StreamCredentials, TakenMessage } from "./stream/stream.ts";

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

/** As `--log` takes it. */
export function logUrl({ isSecure, servers }: Pick<ClusterAddress, "isSecure" | "servers">): string {
  return `${isSecure ? "tls" : "nats"}://${servers.join(",")}`;
}

/** The address with what opens it, of files too. Throws a `FileError` where one of them can't be read. */
export async function readStreamAddress(
  address: ClusterAddress,
  { credentials, authoritiesFile }: ClusterAccess,
  files: Pick<Files, "read">,
): Promise<StreamAddress> {
  return {
    ...address,
    credentials: credentials === null ? null : await readCredentials(credentials, files),
    authorities: authoritiesFile === null ? null : await readText(authoritiesFile, files),
  };
}

async function readCredentials(
  credentials: ClusterCredentials,
  files: Pick<Files, "read">,
): Promise<StreamCredentials> {
  if (credentials.kind !== "file") return credentials;
  return { kind: "file", text: await readText(credentials.path, files) };
}

async function readText(path: string, files: Pick<Files, "read">): Promise<string> {
  return new TextDecoder().decode(await files.read(path));
}

/** The cluster that this process is a node of, as one more node has to know it. */
export interface ClusterStatus extends ClusterAddress {
  /** This node's own. */
  readonly nodeId: string;
  /** When the stream was created, as its servers say it. */
  readonly created: string;
  /** The first message that a start of this node would need: what its archive holds is in those before it. */
  readonly floor: number;
  /** The last message that this node had taken as its archive was made; null where it has sealed nothing yet. */
  readonly lastTaken: TakenMessage | null;
}
