import { promisify } from "node:util";
import { constants, gzip, zstdCompress } from "node:zlib";
import { answerError, type HttpError } from "./errors.ts";

/** A long body is compressed on another thread, which takes a promise; most bodies are short. */
export type Answer = Response | Promise<Response>;

/** Makes every response: its headers, its request id, its compression. */
export interface Responder {
  /** Copies the body before it returns, so that the caller may write over it. */
  json(request: Request, status: number, body: Uint8Array<ArrayBuffer>, headers?: Headers): Answer;
  object(request: Request, status: number, body: unknown, headers?: Headers): Answer;
  failure(request: Request, error: HttpError, headers?: Headers): Answer;
  /** Our mistake: the client learns its request's id and nothing of the inside. */
  fault(request: Request, error: unknown, headers?: Headers): Answer;
  /** Answers a browser that asks whether a page of another origin may ask; null where CORS is off. */
  preflight(request: Request, allow: string): Response | null;
  readonly answersOptions: boolean;
}

type Headers = Readonly<Record<string, string>>;

export interface ResponderOptions {
  /** Origins whose pages may read answers, or `*`; none turns CORS off. */
  readonly corsOrigins: readonly string[];
  /** Told of every failure of ours, with the id that the client got. */
  readonly onFault: (requestId: string, error: unknown) => void;
}

const COMPRESS_BYTES_MIN = 1000; // The contract's kilobyte; below it a packet carries the body anyway.
const PREFLIGHT_SECONDS = 600;
const REQUEST_ID = /^[\x21-\x7e]{1,128}$/;

export function createResponder({ corsOrigins, onFault }: ResponderOptions): Responder {
  function requestId(request: Request): string {
    const given = request.headers.get("x-request-id");
    return given !== null && REQUEST_ID.test(given) ? given : crypto.randomUUID();
  }

  function headersFor(request: Request, more: Headers | undefined): Record<string, string> {
    const headers: Record<string, string> = {
      "content-type": "application/json",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      "x-request-id": requestId(request),
      ...more,
    };
    if (corsOrigins.length > 0) addCors(request, headers);
    return headers;
  }

  function addCors(request: Request, headers: Record<string, string>): void {
    const origin = request.headers.get("origin");
    headers.vary = headers.vary === undefined ? "Origin" : `${headers.vary}, Origin`;
    if (origin === null || !(corsOrigins.includes(origin) || corsOrigins.includes("*"))) return;
    headers["access-control-allow-origin"] = origin;
    headers["access-control-expose-headers"] = "RateLimit, RateLimit-Policy, Retry-After, X-Request-Id";
  }

  function json(request: Request, status: number, body: Uint8Array<ArrayBuffer>, more?: Headers): Answer {
    const headers = headersFor(request, more);
    if (body.length <= COMPRESS_BYTES_MIN) return new Response(body, { status, headers });
    headers.vary = headers.vary === undefined ? "Accept-Encoding" : `${headers.vary}, Accept-Encoding`;
    const coding = preferredCoding(request.headers.get("accept-encoding"));
    if (coding === null) return new Response(body, { status, headers });
    headers["content-encoding"] = coding;
    // The caller's bytes are its own again once this returns, and compression reads them later.
    return compress(coding, body.slice()).then((packed) => new Response(packed, { status, headers }));
  }

  function object(request: Request, status: number, body: unknown, more?: Headers): Answer {
    return json(request, status, encoder.encode(JSON.stringify(body)), more);
  }

  return {
    answersOptions: corsOrigins.length > 0,
    json,
    object,
    failure(request, error, more) {
      const { status, body, headers } = answerError(error);
      if (status !== 500) return object(request, status, body, { ...more, ...headers });
      const id = requestId(request);
      return object(
        request,
        status,
        { ...body, request_id: id },
        { ...more, ...headers, "x-request-id": id },
      );
    },
    fault(request, error, more) {
      const id = requestId(request);
      onFault(id, error);
      const body = {
        success: false,
        message: "the server failed to answer; its log says more",
        request_id: id,
      };
      return object(request, 500, body, { ...more, "x-request-id": id });
    },
    preflight(request, allow) {
      if (corsOrigins.length === 0) return null;
      const headers: Record<string, string> = {
        allow,
        "access-control-allow-methods": allow,
        "access-control-allow-headers": "Authorization, Content-Type, Content-Encoding, X-Request-Id",
        "access-control-max-age": String(PREFLIGHT_SECONDS),
        "x-request-id": requestId(request),
      };
      addCors(request, headers);
      return new Response(null, { status: 204, headers });
    },
  };
}

const encoder = new TextEncoder();

type Coding = "gzip" | "zstd";

const gzipAsync = promisify(gzip);
const zstdAsync = promisify(zstdCompress);

async function compress(coding: Coding, body: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  // The fastest levels: records repeat their member names, so even these shrink a page eightfold.
  const packed =
    coding === "gzip"
      ? await gzipAsync(body, { level: constants.Z_BEST_SPEED })
      : await zstdAsync(body, { params: { [constants.ZSTD_c_compressionLevel]: 1 } });
  return new Uint8Array(packed.buffer as ArrayBuffer, packed.byteOffset, packed.byteLength);
}

/** The coding a client's `Accept-Encoding` allows: zstd before gzip where it likes both equally; null for none. */
export function preferredCoding(accepted: string | null): Coding | null {
  if (accepted === null) return null;
  let best: Coding | null = null;
  let bestWeight = 0;
  const weights = new Map<string, number>();
  for (const item of accepted.split(",")) {
    const [name = "", ...parameters] = item.split(";").map((part) => part.trim().toLowerCase());
    const quality = parameters.find((parameter) => parameter.startsWith("q="));
    const weight = quality === undefined ? 1 : Number(quality.slice(2));
    weights.set(name, Number.isFinite(weight) ? weight : 0);
  }
  for (const coding of ["zstd", "gzip"] as const) {
    const weight = weights.get(coding) ?? weights.get("*") ?? 0;
    if (weight > bestWeight) {
      best = coding;
      bestWeight = weight;
    }
  }
  return best;
}
