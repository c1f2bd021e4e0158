import type { Files } from "../runtime/files.ts";
import type { StreamAddress, StreamCredentials, TakenMessage } from "./stream/stream.ts";

/** How this process takes part in a cluster, from the command line and the environment. */
export interface ClusterConfig {
  readonly address: ClusterAddress;
  readonly access: ClusterAccess;
  /** The maximum size of the stream, if this process creates it. */
  readonly logBytesMax: number;
  /** How long messages are retained for an absent node. */
  readonly nodeTimeoutMs: number;
  /** The address at which other nodes reach this one; null for the one it listens on. */
  readonly advertise: string | null;
}

export type ClusterAddress = Pick<StreamAddress, "servers" | "isSecure" | "stream">;

/** Comes from the environment of each process, and is never stored in the data directory. */
export interface ClusterAccess {
  /** Null if the servers need none. */
  readonly credentials: ClusterCredentials | null;
  /** Certificates in PEM that the servers' must be signed by; null for those that the runtime trusts. */
  readonly authoritiesFile: string | null;
}

export type ClusterCredentials =
  | Exclude<StreamCredentials, { readonly kind: "file" }>
  /** The path of a `.creds` file. */
  | { readonly kind: "file"; readonly path: string };

/** The value of `--log` for this address. */
export function logUrl({ isSecure, servers }: Pick<ClusterAddress, "isSecure" | "servers">): string {
  return `${isSecure ? "tls" : "nats"}://${servers.join(",")}`;
}

/** Reads the credential files. Throws a `FileError` if one can't be read. */
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

/** What a new node must know about the cluster. */
export interface ClusterStatus extends ClusterAddress {
  readonly nodeId: string;
  /** The stream's creation time, as text from its servers. */
  readonly created: string;
  /** The first message that a restart of this node needs: its archive covers all earlier ones. */
  readonly floor: number;
  /** The last message applied before the latest seal; null before the first seal. */
  readonly lastTaken: TakenMessage | null;
}
