import type { Answer, Responder } from "./answer/responder.ts";
import { pathnameOf } from "./pathname.ts";

export interface RoutedPath {
  readonly method: string;
  readonly path: string;
}

/**
 * Answers what no route took: 405 with `Allow` where the path is known under another method (or the answer to a
 * browser's preflight), 404 where it is not. The framework knows neither 405 nor OPTIONS.
 */
export function createUnrouted(routes: readonly RoutedPath[], responder: Responder) {
  const methodsOf = new Map<string, Set<string>>();
  for (const { method, path } of routes) {
    const methods = methodsOf.get(path) ?? new Set();
    methods.add(method);
    if (method === "GET") methods.add("HEAD");
    if (responder.answersOptions) methods.add("OPTIONS");
    methodsOf.set(path, methods);
  }
  const known = [...methodsOf].map(([path, methods]) => ({
    shape: shapeOf(path),
    methods: [...methods].sort(),
  }));

  const everyMethod = [...new Set(known.flatMap(({ methods }) => methods))].sort().join(", ");

  return function answerUnrouted(request: Request): Answer {
    const pathname = pathnameOf(request.url);
    const methods = known.find(({ shape }) => shape.test(pathname))?.methods;
    if (methods === undefined) {
      // A page learns of its typo from a 404, which its browser asks for only where the preflight went well.
      const preflight = isPreflight(request) ? responder.preflight(request, everyMethod) : null;
      if (preflight !== null) return preflight;
      return responder.object(request, 404, {
        success: false,
        message: "there is nothing at this path; see /docs",
      });
    }
    const allow = methods.join(", ");
    const preflight = request.method === "OPTIONS" ? responder.preflight(request, allow) : null;
    if (preflight !== null) return preflight;
    const message = `this path takes ${allow}, not ${request.method}`;
    return responder.object(request, 405, { success: false, message }, { allow });
  };
}

/** Whether a browser asks on behalf of a page of another origin, before it sends the page's own request. */
function isPreflight({ method, headers }: Request): boolean {
  return method === "OPTIONS" && headers.has("origin") && headers.has("access-control-request-method");
}

/** `/a/:b/c` as an expression: a segment after a colon is any segment, a slash at the end changes nothing. */
function shapeOf(path: string): RegExp {
  const segments = path.split("/").map((segment) => (segment.startsWith(":") ? "[^/]+" : escaped(segment)));
  return new RegExp(`^${segments.join("/")}/?$`);
}

function escaped(segment: string): string {
  return segment.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
