import { createRateLimit } from "../../../src/auth/rate-limit.ts";
import { createServer } from "../../../src/http/server.ts";
import { createMeters } from "../../../src/service/metrics/meters.ts";
import { SERVED_APP } from "../store/archived-directory.ts";
import type { ServedDirectory } from "../store/served-directory.ts";
import { createBenchServices } from "./bench-services.ts";

/** Sends read requests to a server in this process. */
export type AskInProcess = (path: string, headers?: Readonly<Record<string, string>>) => Promise<Response>;

export async function askInProcess(served: ServedDirectory): Promise<AskInProcess> {
  const request = await requestInProcess(served);
  return (path, headers) => request(path, { headers: headers ?? {} });
}

/** Sends any request to a server in this process, with a key that may read and edit. */
export type RequestInProcess = (path: string, init?: RequestInProcessInit) => Promise<Response>;

export interface RequestInProcessInit {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export async function requestInProcess({
  directory,
  keys,
  platform,
}: ServedDirectory): Promise<RequestInProcess> {
  const meters = createMeters();
  const { fetch } = createServer({
    services: createBenchServices(directory, keys, { platform, meters }),
    rateLimit: createRateLimit(),
    corsOrigins: [],
    requests: meters.requests,
    onFault: (_id, error) => console.error(error),
    onAnswered: null,
  });
  const created = await keys.create({ ...KEY, appId: SERVED_APP });
  if (!created.ok) throw new Error("a key store that is empty takes a key");
  const authorization = `Bearer ${created.value.text}`;
  return async (path, init = {}) =>
    fetch(new Request(`http://localhost${path}`, { ...init, headers: { ...init.headers, authorization } }));
}

const KEY = {
  permissions: ["read", "edit"],
  tier: "unlimited",
  label: "bench",
  deviceId: null,
  userId: null,
  expiresMs: null,
  view: null,
} as const;
