import { document, type Operation } from "../../http/openapi/open-api-document.ts";

/** Every operation of the document, so that a new one is tried by what is tried on all, or a test names it. */
export interface NamedOperation {
  /** As in `GET /api/v1/devices/{deviceId}/locations/current`. */
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

export const OPERATIONS: readonly NamedOperation[] = Object.entries(document.paths).flatMap(
  ([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      method: method.toUpperCase(),
      path,
      operation,
    })),
);

export const KEYED_OPERATIONS = OPERATIONS.filter(({ operation }) => operation.security.length > 0);

/** The path with its variable parts filled, as a client percent-encodes them. */
export function filledPath(path: string, deviceId: string, userId: string): string {
  return path
    .replace("{deviceId}", encodeURIComponent(deviceId))
    .replace("{user_id}", encodeURIComponent(userId));
}

/** A query that the operation takes, where it can't do without one. */
export function neededQuery({ operation }: NamedOperation): string {
  const needed = (operation.parameters ?? []).filter((each) => each.in === "query" && each.required);
  return needed.map(({ name }) => `${name}=${QUERY_VALUES[name] ?? "1"}`).join("&");
}

const QUERY_VALUES: Readonly<Record<string, string>> = { latitude: "53.4", longitude: "-2.9" };

/** A request that the operation answers with success where the data is there. */
export function plainPath(named: NamedOperation, deviceId: string, userId: string): string {
  const query = neededQuery(named);
  return filledPath(named.path, deviceId, userId) + (query === "" ? "" : `?${query}`);
}

/** The operation that a path belongs to once `..` in it is resolved, as URLs do; null where there is none. */
export function operationAt(path: string): NamedOperation | null {
  const { pathname } = new URL(path, "http://localhost");
  return OPERATIONS.find((named) => shapeOf(named.path).test(pathname)) ?? null;
}

function shapeOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(".", "\\.").replaceAll(/\{\w+\}/g, "[^/]+")}/?$`);
}
