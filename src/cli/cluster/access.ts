import type { ClusterAccess, ClusterCredentials } from "../../cluster/cluster-config.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import type { Environment } from "../arguments/flag-row.ts";

/* What opens a cluster. No flags, since everybody on a machine can see the flags of its processes. */

const USER = "WHEREHOUSE_NATS_USER";
const PASSWORD = "WHEREHOUSE_NATS_PASSWORD";
const TOKEN = "WHEREHOUSE_NATS_TOKEN";
const CREDENTIALS = "WHEREHOUSE_NATS_CREDENTIALS";

/** Of `--nats-ca`, which commands read that have no such flag. */
export const AUTHORITIES = "WHEREHOUSE_NATS_CA";

/** For a command that finds the address in the data directory. The error is a line without a full stop. */
export function parseAccess(environment: Environment): Result<ClusterAccess, string> {
  const credentials = parseCredentials(environment);
  if (!credentials.ok) return credentials;
  return ok({ credentials: credentials.value, authoritiesFile: environment[AUTHORITIES] || null });
}

/** Null where there are none. An empty variable counts as unset. */
export function parseCredentials(environment: Environment): Result<ClusterCredentials | null, string> {
  const user = environment[USER] || null;
  const password = environment[PASSWORD] || null;
  const token = environment[TOKEN] || null;
  const path = environment[CREDENTIALS] || null;
  if ([user ?? password, token, path].filter((one) => one !== null).length > 1)
    return fail(`Give one of ${USER} with ${PASSWORD}, ${TOKEN} and ${CREDENTIALS}`);
  if (token !== null) return ok({ kind: "token", token });
  if (path !== null) return ok({ kind: "file", path });
  if (user === null) return password === null ? ok(null) : fail(`${PASSWORD} needs ${USER}`);
  return password === null ? fail(`${USER} needs ${PASSWORD}`) : ok({ kind: "user", user, password });
}
