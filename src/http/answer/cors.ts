import { SECURITY_HEADERS } from "./headers.ts";

const PREFLIGHT_SECONDS = 600;

/** Headers that pages of other origins may read. */
const EXPOSED =
  "RateLimit, RateLimit-Policy, Retry-After, Wherehouse-Error-Code, Wherehouse-Ignored-Parameters, " +
  "Wherehouse-New-Records, Wherehouse-Same-Time, Wherehouse-Sequence, X-Request-Id";
const ALLOWED =
  "Authorization, Content-Type, Content-Encoding, Last-Event-ID, Wherehouse-Min-Sequence, X-Request-Id";

/** Tells browsers which pages of other origins may read answers (CORS). */
export class Cors {
  /** Origins, or `*`. If it is empty, CORS is off. */
  readonly #origins: readonly string[];

  constructor(origins: readonly string[]) {
    this.#origins = origins;
  }

  get isOn(): boolean {
    return this.#origins.length > 0;
  }

  /** Sets the CORS headers for the page that sent the request; replaces those of an earlier request. */
  addTo(headers: Headers, request: Request): void {
    if (!this.isOn) return;
    const origin = request.headers.get("origin");
    const vary = headers.get("vary");
    if (!vary?.endsWith("Origin")) headers.set("vary", vary === null ? "Origin" : `${vary}, Origin`);
    headers.delete("access-control-allow-origin");
    headers.delete("access-control-expose-headers");
    if (origin === null || !(this.#origins.includes(origin) || this.#origins.includes("*"))) return;
    headers.set("access-control-allow-origin", origin);
    headers.set("access-control-expose-headers", EXPOSED);
  }

  preflight(request: Request, requestId: string, allow: string): Response {
    const headers = new Headers({
      ...SECURITY_HEADERS,
      allow,
      "access-control-allow-methods": allow,
      "access-control-allow-headers": ALLOWED,
      "access-control-max-age": String(PREFLIGHT_SECONDS),
      "x-request-id": requestId,
    });
    this.addTo(headers, request);
    return new Response(null, { status: 204, headers });
  }
}
