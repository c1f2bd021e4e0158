import type { ClusterAccess, ClusterAddress } from "../../cluster/cluster-config.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import type { Environment } from "../arguments/flag-row.ts";
import type { ValuesOf } from "../commands.ts";
import { parseCredentials } from "./access.ts";

/** Which directory moves into which cluster. */
export interface ClusterInitCommand {
  readonly kind: "cluster init";
  readonly dataDir: string;
  readonly address: ClusterAddress;
  readonly access: ClusterAccess;
  /** What the stream may hold. */
  readonly logBytesMax: number;
  readonly json: boolean;
}

export function parseClusterInit(
  { logServers, stream, logBytesMax, natsAuthoritiesFile: authoritiesFile, json }: ValuesOf<"cluster init">,
  dataDir: string,
  environment: Environment,
): Result<ClusterInitCommand, string> {
  if (authoritiesFile !== null && !logServers.isSecure)
    return fail("--nats-ca is about TLS, which tls:// in --log asks for");
  const credentials = parseCredentials(environment);
  if (!credentials.ok) return credentials;
  const access = { credentials: credentials.value, authoritiesFile };
  const address = { ...logServers, stream };
  return ok({ kind: "cluster init", dataDir, address, access, logBytesMax, json });
}
