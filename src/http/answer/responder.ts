import { whenThere } from "../../lib/schedule/maybe-promise.ts";
import type { Scheduler } from "../../lib/schedule/scheduler.ts";
import { answerError, codeHeader, type HttpError } from "../errors.ts";
import { allowsCoding, compress, type KeptBody, preferredCoding } from "./compression.ts";
import { Cors } from "./cors.ts";
import { namesTag } from "./entity-tags.ts";
import { HeaderTemplates, type MoreHeaders } from "./headers.ts";
import { beginPiecewise, type Sendable, streamOf } from "./piecewise.ts";

/** A long body is compressed on another thread, which takes a promise; most bodies are short. */
export type Answer = Response | Promise<Response>;

export interface ResponderOptions {
  /** Origins whose pages may read answers, or `*`; none turns CORS off. */
  readonly corsOrigins: readonly string[];
  /** Gives long bodies the time to be made. */
  readonly scheduler: Scheduler;
  /** Told of every failure of ours, with the id that the client got. */
  readonly onFault: (requestId: string, error: unknown) => void;
}

const COMPRESS_BYTES_MIN = 1000; // The contract's kilobyte; below it a packet carries the body anyway.
const REQUEST_ID = /^[\x21-\x7e]{1,128}$/;

/** A file that is made while it is sent. */
export interface SentFile {
  /** Letters, digits, dots and dashes. */
  readonly name: string;
  readonly mediaType: string;
  /** Whether its format is packed by itself. */
  readonly isPacked: boolean;
  /** Whether it lacks what somebody has acknowledged as lost. */
  readonly isIncomplete: boolean;
  /** How many, where that is known before, so that whoever takes them sees whether all came. */
  readonly bytes?: number;
  readonly file: Sendable;
}

/** Makes every response: its headers, its request id, its compression. */
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

  /** Copies the body before it returns, so that the caller may write over it. */
  json(request: Request, status: number, body: Uint8Array<ArrayBuffer>, more: MoreHeaders = NO_MORE): Answer {
    const isCompressible = body.length > COMPRESS_BYTES_MIN;
    const headers = this.#headersFor(request, more, isCompressible);
    const coding = isCompressible ? preferredCoding(request.headers.get("accept-encoding")) : null;
    if (coding === null) return new Response(body, { status, headers });
    const coded = new Headers(headers);
    coded.set("content-encoding", coding);
    // The caller's bytes are its own again once this returns, and compression reads them later.
    return compress(coding, body.slice()).then((packed) => new Response(packed, { status, headers: coded }));
  }

  object(request: Request, status: number, body: unknown, more?: MoreHeaders): Answer {
    return this.json(request, status, encoder.encode(JSON.stringify(body)), more);
  }

  text(request: Request, body: string, contentType: string, more?: MoreHeaders): Answer {
    return this.json(request, 200, encoder.encode(body), { ...more, "content-type": contentType });
  }

  /** Bytes of another format; null for nothing at all. */
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

  /** Bytes that are gzipped already, unpacked for whoever doesn't take them so. */
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

  /** An answer in the words of a client's own, which may be none. */
  words(
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

  /** A body that is the same for everybody, or a 304 to whoever has it already. */
  kept(request: Request, body: KeptBody, more: MoreHeaders): Answer {
    const coding = preferredCoding(request.headers.get("accept-encoding"));
    return whenThere(body.in(coding), ({ bytes, tag }) => {
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

  /** To whoever has the answer already. */
  unchanged(request: Request, more: MoreHeaders): Response {
    return new Response(null, { status: 304, headers: this.#headersFor(request, more, false) });
  }

  /** A body of JSON that is made as fast as the client takes it, in turns with other work of its owner. */
  pieces(
    request: Request,
    owner: string,
    body: Iterable<Uint8Array<ArrayBuffer>>,
    more: MoreHeaders,
  ): Answer {
    return whenThere(beginPiecewise(this.#scheduler, owner, request.signal, body), (begun) => {
      if (begun.whole !== null) return this.json(request, 200, begun.whole, more);
      const headers = new Headers(this.#headersFor(request, more, true));
      const coding = preferredCoding(request.headers.get("accept-encoding"));
      if (coding !== null) headers.set("content-encoding", coding);
      if (request.method !== "HEAD") return new Response(streamOf(begun, coding), { headers });
      begun.close(); // Nobody reads it.
      return new Response(null, { headers });
    });
  }

  /** A file to be kept. What fails while it is made breaks off the connection, so that nobody takes it for whole. */
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
    return new Response(streamOf(this.#toldOf(request, headers, file), coding), { headers });
  }

  /** Events as they come. Nobody on the way may collect, keep or pack them. */
  events(request: Request, events: Sendable, more: MoreHeaders): Response {
    const headers = new Headers(this.#headersFor(request, { ...more, ...EVENT_STREAM }, false));
    return new Response(streamOf(this.#toldOf(request, headers, events), null), { headers });
  }

  #toldOf(request: Request, headers: Headers, sent: Sendable): Sendable {
    const id = headers.get("x-request-id")!;
    let isLeft = false;
    return {
      pieces: () => this.#told(() => isLeft || request.signal.aborted, id, sent.pieces()),
      close() {
        isLeft = true; // Deno says that a client has left by this, and may abort its request later.
        sent.close?.();
      },
    };
  }

  /** The same pieces; a failure that is no fault of the client's is told. */
  async *#told<Bytes>(
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

  /** `instead` is the body where the endpoint has one of its own for this. */
  failure(request: Request, error: HttpError, more?: MoreHeaders, instead?: unknown): Answer {
    const { status, code, body, headers } = answerError(error);
    const sent = { ...more, ...headers, ...codeHeader(code) };
    if (status !== 500) return this.object(request, status, instead ?? body, sent);
    const id = requestId(request);
    this.#onFault(id, body.message);
    return this.object(request, status, { ...body, request_id: id }, { ...sent, "x-request-id": id });
  }

  /** Our mistake: the client learns its request's id and nothing of the inside. */
  fault(request: Request, error: unknown, more?: MoreHeaders): Answer {
    const id = requestId(request);
    this.#onFault(id, error);
    const body = {
      success: false,
      message: "the server failed to answer; its log says more",
      request_id: id,
    };
    return this.object(request, 500, body, { ...more, ...codeHeader("SERVER_001"), "x-request-id": id });
  }

  /** Answers a browser that asks whether a page of another origin may ask; null where CORS is off. */
  preflight(request: Request, allow: string): Response | null {
    return this.#cors.isOn ? this.#cors.preflight(request, requestId(request), allow) : null;
  }

  /** Everything but `Content-Encoding`; good until the next call, since a Response keeps a copy. */
  #headersFor(request: Request, more: MoreHeaders, isCompressible: boolean): Headers {
    const headers = this.#templates.of(more, isCompressible);
    headers.set("x-request-id", requestId(request));
    for (const name in more) headers.set(name, more[name]!);
    this.#cors.addTo(headers, request);
    return headers;
  }
}

function requestId(request: Request): string {
  const given = request.headers.get("x-request-id");
  return given !== null && REQUEST_ID.test(given) ? given : crypto.randomUUID();
}

const NO_MORE: MoreHeaders = {};

const EVENT_STREAM: MoreHeaders = {
  "content-type": "text/event-stream",
  "cache-control": "no-store, no-transform",
  "x-accel-buffering": "no",
};

const encoder = new TextEncoder();
