import type { Client, ClientName } from "../../clients/client.ts";
import { CLIENTS } from "../../clients/clients.ts";
import type { ClientEndpoint } from "../endpoint.ts";
import {
  ADDRESS_PARAMETERS,
  deviceSegment,
  KEY_PARAMETERS_DESCRIBED,
  keySegment,
} from "./address-parameters.ts";
import { describeClient } from "./describe-client.ts";
import { CLIENT_EXAMPLES } from "./examples.ts";
import { createTakeIn } from "./take-in.ts";

/*
 * The paths of every client, made from what it says of itself.
 */

/** Paths that clients of other servers have, and which are nobody else's. */
const OTHER_PATHS: Partial<Record<ClientName, string>> = { owntracks: "/pub" };

/** Dawarich's paths. They are under `/api/`, where no key in a URL counts otherwise, so they are off by default. */
const DAWARICH_PATHS: Partial<Record<ClientName, string>> = {
  owntracks: "/api/v1/owntracks/points",
  overland: "/api/v1/overland/batches",
  traccar: "/api/v1/traccar/points",
};

const METHODS = ["GET", "POST"] as const;

export const CLIENT_ENDPOINTS: readonly ClientEndpoint[] = CLIENTS.flatMap((client) => {
  const path = `/ingest/${client.name}`;
  const other = OTHER_PATHS[client.name];
  return [
    ...endpointsAt(client, path),
    ...endpointsAt(client, `${path}/k/:key`),
    ...endpointsAt(client, `${path}/k/:key/:device`),
    ...(other === undefined ? [] : endpointsAt(client, other)),
  ];
});

export const DAWARICH_ENDPOINTS: readonly ClientEndpoint[] = CLIENTS.flatMap((client) => {
  const path = DAWARICH_PATHS[client.name];
  return path === undefined ? [] : endpointsAt(client, path);
});

function endpointsAt(client: Client, path: string): readonly ClientEndpoint[] {
  return METHODS.filter((method) => {
    const isQuestion = method === "GET" && client.greeting !== undefined;
    return isQuestion || client.methods.includes(method);
  }).map((method) => endpointAt(client, path, method));
}

function endpointAt(client: Client, path: string, method: "GET" | "POST"): ClientEndpoint {
  const route = { client, method, path };
  return {
    kind: "client",
    ...route,
    permission: "write",
    pathParameters: {
      ...(path.includes("/:key") ? { key: keySegment } : {}),
      ...(path.includes("/:device") ? { device: deviceSegment } : {}),
    },
    query: path.includes("/:key")
      ? ADDRESS_PARAMETERS
      : { ...ADDRESS_PARAMETERS, ...KEY_PARAMETERS_DESCRIBED },
    operation: describeClient(route, CLIENT_EXAMPLES[client.name]),
    example: CLIENT_EXAMPLES[client.name],
    open: (services) => createTakeIn(services, route),
  };
}
