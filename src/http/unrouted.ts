import type { Client } from "../clients/client.ts";
import { deletesRefusedPoints } from "../clients/owntracks/apps.ts";
import { owntracks } from "../clients/owntracks/owntracks.ts";
import type { Answer, Responder } from "./answer/responder.ts";
import { messageHeaders } from "./clients/client-request.ts";
import { RETRY_AFTER_SECONDS } from "./clients/refusals.ts";
import { codeHeader, type ErrorCode, NOTHING_HERE, wrongMethodMessage } from "./errors.ts";
import { pathnameOf } from "./request.ts";

/** A served path with one method. */
export interface RoutedPath {
  readonly method: string;
  readonly path: string;
  /** The only client of the path, which gets errors in its own format; null for other paths. */
  readonly client: Client | null;
}

interface KnownPath {
  readonly methods: Set<string>;
  readonly client: Client | null;
}

/**
 * Answers requests that no route matches: 405 with `Allow` if the path has other methods (or the answer to a preflight
 * request), 404 if it is unknown. The framework supports neither 405 nor OPTIONS.
 */
export function createUnrouted(routes: readonly RoutedPath[], responder: Responder) {
  const byPath = new Map<string, KnownPath>();
  for (const { method, path, client } of routes) {
    const { methods } = byPath.get(path) ?? { methods: new Set() };
    methods.add(method);
    // A client's GET is a report, for which HEAD makes no sense.
    if (method === "GET" && client === null) methods.add("HEAD");
    if (responder.answersOptions) methods.add("OPTIONS");
    byPath.set(path, { methods, client });
  }
  const known = [...byPath]
    .map(([path, { methods, client }]) => ({
      path,
      shape: shapeOf(path),
      methods: [...methods].sort(),
      client,
    }))
    .sort((a, b) => variablesOf(a.path) - variablesOf(b.path));

  const everyMethod = [...new Set(known.flatMap(({ methods }) => methods))].sort().join(", ");

  /** OwnTracks for iOS deletes its points on a 404 or 405, so a mistyped URL would cost all that it records. */
  function keepingPoints(request: Request, code: ErrorCode, sentence: string): Answer | null {
    if (request.method !== "POST" || !deletesRefusedPoints(messageHeaders(request.headers))) return null;
    const failure = owntracks.failure(`${sentence}; the app keeps its points`);
    const headers = { "retry-after": String(RETRY_AFTER_SECONDS), ...codeHeader(code) };
    return responder.clientReply(request, 503, failure, headers);
  }

  return function answerUnrouted(request: Request): Answer {
    const pathname = pathnameOf(request.url);
    const match = known.find(({ shape }) => shape.test(pathname));
    if (match === undefined) {
      if (isBrowserAtRoot(request, pathname)) return responder.clientReply(request, 302, NO_WORDS, TO_MAP);
      const retry = keepingPoints(request, "NOT_FOUND_001", NOTHING_HERE);
      if (retry !== null) return retry;
      // A page gets a 404 for a typo only if its browser's preflight succeeds.
      const preflight = isPreflight(request) ? responder.preflight(request, everyMethod) : null;
      if (preflight !== null) return preflight;
      return responder.failure(request, { kind: "no_such_path" });
    }
    const { methods, client } = match;
    const allow = methods.join(", ");
    const preflight = request.method === "OPTIONS" ? responder.preflight(request, allow) : null;
    if (preflight !== null) return preflight;
    const error = { kind: "wrong_method", allow, method: request.method } as const;
    const message = wrongMethodMessage(error);
    const retry = keepingPoints(request, "METHOD_001", message);
    if (retry !== null) return retry;
    if (client === null) return responder.failure(request, error);
    return responder.clientReply(request, 405, client.failure(message), {
      allow,
      ...codeHeader("METHOD_001"),
    });
  };
}

const NO_WORDS = { contentType: null, body: "" };
const TO_MAP = { location: "/map", vary: "Accept" };

/** Whether a person has typed the server's address without a path. Programs get a 404, as ever. */
function isBrowserAtRoot({ method, headers }: Request, pathname: string): boolean {
  if (pathname !== "/" || (method !== "GET" && method !== "HEAD")) return false;
  const ranges = (headers.get("accept") ?? "").toLowerCase().split(",");
  return ranges.some(
    (range) => /^\s*text\/html\s*(;|$)/.test(range) && !/;\s*q=0(\.0*)?\s*(;|$)/.test(range),
  );
}

/** Whether a browser asks for permission on behalf of a page of another origin, before the page's own request. */
function isPreflight({ method, headers }: Request): boolean {
  return method === "OPTIONS" && headers.has("origin") && headers.has("access-control-request-method");
}

/**
 * The paths and methods that a path with a variable segment would take from one with a word there: `GET /a/:b` takes
 * `GET /a/word`, although only `POST /a/word` is served.
 */
export function shadowedRoutes(
  routes: readonly RoutedPath[],
): readonly Pick<RoutedPath, "method" | "path">[] {
  const isServed = new Set(routes.map(({ method, path }) => `${method} ${path}`));
  const words = [...new Set(routes.map(({ path }) => path))].filter((path) => variablesOf(path) === 0);
  return routes
    .filter(({ path }) => variablesOf(path) > 0)
    .flatMap(({ method, path }) => {
      const shape = shapeOf(path);
      return words.filter((word) => shape.test(word)).map((word) => ({ method, path: word }));
    })
    .filter(({ method, path }) => !isServed.has(`${method} ${path}`));
}

function variablesOf(path: string): number {
  return path.split("/:").length - 1;
}

/** `/a/:b/c` as a regular expression: `:b` matches any segment, and a final slash is allowed. */
function shapeOf(path: string): RegExp {
  const segments = path.split("/").map((segment) => (segment.startsWith(":") ? "[^/]+" : escaped(segment)));
  return new RegExp(`^${segments.join("/")}/?$`);
}

function escaped(segment: string): string {
  return segment.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
