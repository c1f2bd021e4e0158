import { whenThere } from "../../lib/schedule/maybe-promise.ts";
import type { Scheduler } from "../../lib/schedule/scheduler.ts";
import { compress, preferredCoding } from "../body/coding.ts";
import type { KeptBody } from "../body/kept-body.ts";
import { answerError, type HttpError } from "../errors.ts";
import { Cors } from "./cors.ts";
import { HeaderTemplates, type MoreHeaders } from "./header-templates.ts";
import { beginPiecewise, streamOf } from "./piecewise.ts";

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

  /** A body that is the same for everybody, or a 304 to who has it already. */
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
      return new Response(streamOf(begun, coding), { headers });
    });
  }

  failure(request: Request, error: HttpError, more?: MoreHeaders): Answer {
    const { status, body, headers } = answerError(error);
    if (status !== 500) return this.object(request, status, body, { ...more, ...headers });
    const id = requestId(request);
    this.#onFault(id, body.message);
    return this.object(
      request,
      status,
      { ...body, request_id: id },
      { ...more, ...headers, "x-request-id": id },
    );
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
    return this.object(request, 500, body, { ...more, "x-request-id": id });
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

/** Whether a list of `If-None-Match` has a tag; weak ones count, RFC 9110 §13.1.2. */
function namesTag(list: string | null, tag: string): boolean {
  const known = list?.split(",").map((item) => item.trim()) ?? [];
  return ["*", tag, `W/${tag}`].some((name) => known.includes(name));
}

const encoder = new TextEncoder();
