import type { ClusterConfig } from "../../cluster/cluster-config.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import type { Environment, FlagValues } from "../arguments/flag-row.ts";
import { parseCredentials } from "./access.ts";
import type { CLUSTER_FLAGS } from "./flags.ts";

/** Null for a server that is alone. */
export function parseCluster(
  values: FlagValues<typeof CLUSTER_FLAGS>,
  environment: Environment,
): Result<ClusterConfig | null, string> {
  const { logServers, stream, nodeTimeoutMs, advertise, logBytesMax } = values;
  const authoritiesFile = values.natsAuthoritiesFile;
  if (logServers === null) return ok(null);
  if (authoritiesFile !== null && !logServers.isSecure)
    return fail("--nats-ca is about TLS, which tls:// in --log asks for");
  const credentials = parseCredentials(environment);
  if (!credentials.ok) return credentials;
  const access = { credentials: credentials.value, authoritiesFile };
  return ok({ address: { ...logServers, stream }, access, logBytesMax, nodeTimeoutMs, advertise });
}
