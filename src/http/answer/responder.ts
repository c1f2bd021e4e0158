import { mapMaybe } from "../../lib/schedule/maybe-promise.ts";
import type { Scheduler } from "../../lib/schedule/scheduler.ts";
import { answerError, codeHeader, type HttpError } from "../errors.ts";
import { allowsCoding, type CachedBody, compress, preferredCoding } from "./compression.ts";
import { Cors } from "./cors.ts";
import { namesTag } from "./entity-tags.ts";
import { HeaderTemplates, type MoreHeaders } from "./headers.ts";
import { beginPiecewise, type Sendable, streamOf } from "./piecewise.ts";

/** Long bodies are compressed on another thread, which needs a promise; most bodies are short. */
export type Answer = Response | Promise<Response>;

export interface ResponderOptions {
  /** Origins whose pages may read answers, or `*`. If it is empty, CORS is off. */
  readonly corsOrigins: readonly string[];
  readonly scheduler: Scheduler;
  /** Called for every failure of the server, with the id that the client got. */
  readonly onFault: (requestId: string, error: unknown) => void;
}

const COMPRESS_BYTES_MIN = 1000; // The contract's kilobyte; a smaller body fits a packet anyway.
const REQUEST_ID = /^[\x21-\x7e]{1,128}$/;

export interface SentFile {
  /** Letters, digits, dots and dashes. */
  readonly name: string;
  readonly mediaType: string;
  /** Whether its format is compressed already. */
  readonly isPacked: boolean;
  /** Whether it lacks records whose loss an operator has acknowledged. */
  readonly isIncomplete: boolean;
  /** The size if it is known in advance, so that clients can check that the file is complete. */
  readonly bytes?: number;
  readonly file: Sendable;
}

/** Creates every response: its headers, its request id, its compression. */
export class Responder {
  readonly #cors: Cors;
  readonly #scheduler: Scheduler;
  readonly #onFault: ResponderOptions["onFault"];
  readonly #templates = new HeaderTemplates();

  constructor({ corsOrigins, scheduler, onFault }: ResponderOptions) {
    this.#cors = new Cors(corsOrigins);
    this.#scheduler = scheduler;
    this.#onFault = onFault;
  }

  get answersOptions(): boolean {
    return this.#cors.isOn;
  }

  /** Copies the body before it returns, so the caller may overwrite it. */
  json(request: Request, status: number, body: Uint8Array<ArrayBuffer>, more: MoreHeaders = NO_MORE): Answer {
    const isCompressible = body.length > COMPRESS_BYTES_MIN;
    const headers = this.#headersFor(request, more, isCompressible);
    const coding = isCompressible ? preferredCoding(request.headers.get("accept-encoding")) : null;
    if (coding === null) return new Response(body, { status, headers });
    const coded = new Headers(headers);
    coded.set("content-encoding", coding);
    // The caller may overwrite its bytes once this returns, and compression reads them later.
    return compress(coding, body.slice()).then((bytes) => new Response(bytes, { status, headers: coded }));
  }

  object(request: Request, status: number, body: unknown, more?: MoreHeaders): Answer {
    return this.json(request, status, encoder.encode(JSON.stringify(body)), more);
  }

  text(request: Request, body: string, contentType: string, more?: MoreHeaders): Answer {
    return this.json(request, 200, encoder.encode(body), { ...more, "content-type": contentType });
  }

  /** Bytes of another format; null answers 204. */
  binary(
    request: Request,
    body: Uint8Array<ArrayBuffer> | null,
    contentType: string,
    more: MoreHeaders,
  ): Answer {
    if (body !== null) return this.json(request, 200, body, { ...more, "content-type": contentType });
    const headers = new Headers(this.#headersFor(request, more, false));
    headers.delete("content-type");
    return new Response(null, { status: 204, headers });
  }

  /** Bytes that are gzipped already. Unpacks them for clients that don't accept gzip. */
  gzipped(
    request: Request,
    packed: Uint8Array<ArrayBuffer>,
    unpack: (packed: Uint8Array) => Promise<Uint8Array<ArrayBuffer>>,
    more: MoreHeaders,
  ): Answer {
    const headers = new Headers(this.#headersFor(request, more, true));
    if (!allowsCoding(request.headers.get("accept-encoding"), "gzip"))
      return unpack(packed).then((bytes) => new Response(bytes, { headers }));
    headers.set("content-encoding", "gzip");
    return new Response(packed, { headers });
  }

  /** An answer in a client's own format, which may be empty. */
  clientReply(
    request: Request,
    status: number,
    { contentType, body }: { readonly contentType: string | null; readonly body: string },
    more: MoreHeaders = NO_MORE,
  ): Answer {
    const bytes = encoder.encode(body);
    if (contentType !== null)
      return this.json(request, status, bytes, { ...more, "content-type": contentType });
    const headers = new Headers(this.#headersFor(request, more, false));
    headers.delete("content-type");
    return new Response(bytes, { status, headers });
  }

  /** A body that is the same for all clients, or 304 if the client has it. */
  cached(request: Request, body: CachedBody, more: MoreHeaders): Answer {
    const coding = preferredCoding(request.headers.get("accept-encoding"));
    return mapMaybe(body.in(coding), ({ bytes, tag }) => {
      const headers = this.#headersFor(request, { ...more, etag: tag }, true);
      if (namesTag(request.headers.get("if-none-match"), tag)) {
        return new Response(null, { status: 304, headers });
      }
      if (coding === null) return new Response(bytes, { headers });
      const coded = new Headers(headers);
      coded.set("content-encoding", coding);
      return new Response(bytes, { headers: coded });
    });
  }

  unchanged(request: Request, more: MoreHeaders): Response {
    return new Response(null, { status: 304, headers: this.#headersFor(request, more, false) });
  }

  /** A JSON body that is created as fast as the client reads it, in turns with other work of its owner. */
  pieces(
    request: Request,
    owner: string,
    body: Iterable<Uint8Array<ArrayBuffer>>,
    more: MoreHeaders,
  ): Answer {
    return mapMaybe(beginPiecewise(this.#scheduler, owner, request.signal, body), (beginning) => {
      if (beginning.whole !== null) return this.json(request, 200, beginning.whole, more);
      const headers = new Headers(this.#headersFor(request, more, true));
      const coding = preferredCoding(request.headers.get("accept-encoding"));
      if (coding !== null) headers.set("content-encoding", coding);
      if (request.method !== "HEAD") return new Response(streamOf(beginning, coding), { headers });
      beginning.close(); // A HEAD needs no body.
      return new Response(null, { headers });
    });
  }

  /**
   * A file to download. A failure while it is created closes the connection, so that no client takes it for complete.
   */
  file(
    request: Request,
    { name, mediaType, isPacked, isIncomplete, bytes, file }: SentFile,
    more: MoreHeaders,
  ): Response {
    const headers = new Headers(this.#headersFor(request, more, !isPacked));
    headers.set("content-type", mediaType);
    headers.set("content-disposition", `attachment; filename="${name}"`);
    if (isIncomplete) headers.set("wherehouse-incomplete", "true");
    if (bytes !== undefined) headers.set("wherehouse-bytes", String(bytes));
    const coding = isPacked ? null : preferredCoding(request.headers.get("accept-encoding"));
    if (coding !== null) headers.set("content-encoding", coding);
    return new Response(streamOf(this.#observed(request, headers, file), coding), { headers });
  }

  /**
   * A JSON body that is sent piece by piece as it comes, uncompressed, since compression would hold pieces back. A
   * failure closes the connection, so that no client takes the body for complete.
   */
  arriving(request: Request, body: Sendable, more: MoreHeaders): Response {
    const headers = new Headers(this.#headersFor(request, more, false));
    return new Response(streamOf(this.#observed(request, headers, body), null), { headers });
  }

  /** A stream of events. Its headers forbid proxies to buffer, cache or compress it. */
  events(request: Request, events: Sendable, more: MoreHeaders): Response {
    const headers = new Headers(this.#headersFor(request, { ...more, ...EVENT_STREAM }, false));
    return new Response(streamOf(this.#observed(request, headers, events), null), { headers });
  }

  /** Reports failures of the body, except those after the client has left. */
  #observed(request: Request, headers: Headers, body: Sendable): Sendable {
    const id = headers.get("x-request-id")!;
    let hasLeft = false;
    return {
      pieces: () => this.#observedPieces(() => hasLeft || request.signal.aborted, id, body.pieces()),
      close() {
        hasLeft = true; // Deno reports that a client has left by this call, and may abort its request later.
        body.close?.();
      },
    };
  }

  async *#observedPieces<Bytes>(
    hasLeft: () => boolean,
    id: string,
    pieces: AsyncIterable<Bytes>,
  ): AsyncIterable<Bytes> {
    try {
      yield* pieces;
    } catch (error) {
      if (!hasLeft()) this.#onFault(id, error);
      throw error;
    }
  }

  /** `instead` is the body if the endpoint has its own for this error. */
  failure(request: Request, error: HttpError, more?: MoreHeaders, instead?: unknown): Answer {
    const { status, code, body, headers } = answerError(error);
    const all = { ...more, ...headers, ...codeHeader(code) };
    if (status !== 500) return this.object(request, status, instead ?? body, all);
    const id = requestId(request);
    this.#onFault(id, body.message);
    return this.object(request, status, { ...body, request_id: id }, { ...all, "x-request-id": id });
  }

  /** A failure of the server: the client gets its request's id and no internals. */
  fault(request: Request, error: unknown, more?: MoreHeaders): Answer {
    const id = requestId(request);
    this.#onFault(id, error);
    const body = {
      success: false,
      message: "the server failed to answer; its log has the details",
      request_id: id,
    };
    return this.object(request, 500, body, { ...more, ...codeHeader("SERVER_001"), "x-request-id": id });
  }

  /** Answers a preflight request; null if CORS is off. */
  preflight(request: Request, allow: string): Response | null {
    return this.#cors.isOn ? this.#cors.preflight(request, requestId(request), allow) : null;
  }

  /** Everything but `Content-Encoding`. Valid until the next call; a Response copies it. */
  #headersFor(request: Request, more: MoreHeaders, isCompressible: boolean): Headers {
    const headers = this.#templates.of(more, isCompressible);
    if (more["x-request-id"] === undefined) headers.set("x-request-id", requestId(request));
    this.#cors.addTo(headers, request);
    return headers;
  }
}

function requestId(request: Request): string {
  const id = request.headers.get("x-request-id");
  return id !== null && REQUEST_ID.test(id) ? id : crypto.randomUUID();
}

const NO_MORE: MoreHeaders = {};

const EVENT_STREAM: MoreHeaders = {
  "content-type": "text/event-stream",
  "cache-control": "no-store, no-transform",
  "x-accel-buffering": "no",
};

const encoder = new TextEncoder();
