import { document, type Operation } from "../../http/openapi/open-api-document.ts";

/** An operation of the document. */
export interface NamedOperation {
  /** As in `GET /api/v1/devices/{deviceId}/locations/current`. */
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

const DOCUMENTED: readonly NamedOperation[] = Object.entries(document.paths).flatMap(([path, operations]) =>
  Object.entries(operations).map(([method, operation]) => ({
    name: `${method.toUpperCase()} ${path}`,
    method: method.toUpperCase(),
    path,
    operation,
  })),
);

/** Those of apps that speak a language of their own, and take keys wherever such an app can put one. */
export const CLIENT_OPERATIONS = DOCUMENTED.filter(({ operation }) => operation.tags.includes("Clients"));

/** All others, so that a new one is tried by what is tried on all, or a test names it. */
export const OPERATIONS = DOCUMENTED.filter((named) => !CLIENT_OPERATIONS.includes(named));

export const KEYED_OPERATIONS = OPERATIONS.filter(({ operation }) => operation.security.length > 0);

/** The path with its variable segments filled, as a client percent-encodes them. */
function filledPath({ path, operation }: NamedOperation, deviceId: string, userId: string): string {
  const known: Readonly<Record<string, string>> = { deviceId, user_id: userId };
  const examples = (operation.parameters ?? []).map(({ name, example }) => [name, String(example)] as const);
  const ids = { ...Object.fromEntries(examples), ...known };
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(ids[name]!));
}

/** A query that the operation takes, where it can't do without one. */
export function neededQuery({ operation }: NamedOperation): string {
  const needed = (operation.parameters ?? []).filter((each) => each.in === "query" && each.required);
  return needed.map(({ name, example }) => `${name}=${encodeURIComponent(String(example))}`).join("&");
}

/** A request that the operation answers with success where the data is there. */
export function plainPath(named: NamedOperation, deviceId: string, userId: string): string {
  const query = neededQuery(named);
  return filledPath(named, deviceId, userId) + (query === "" ? "" : `?${query}`);
}

/**
 * The operation that a path and method belong to once `..` in the path is resolved, as URLs do; where it has none of
 * that method another one of the path, and null where there is none at all.
 */
export function operationAt(path: string, method: string): NamedOperation | null {
  const { pathname } = new URL(path, "http://localhost");
  const there = OPERATIONS.filter((named) => shapeOf(named.path).test(pathname));
  return there.find((named) => named.method === method) ?? there[0] ?? null;
}

function shapeOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(".", "\\.").replaceAll(/\{\w+\}/g, "[^/]+")}/?$`);
}
