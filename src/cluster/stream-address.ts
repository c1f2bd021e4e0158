import type { Files } from "../runtime/files.ts";
import type { ClusterAccess, ClusterAddress, ClusterCredentials } from "./cluster-config.ts";
import type { StreamAddress, StreamCredentials } from "./stream/stream.ts";

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
