import type { View } from "../auth/view.ts";
import type { Binding } from "../model/binding.ts";
import type { AppId } from "../model/ids.ts";
import { type EntityTags, namesTag } from "./answer/entity-tags.ts";
import type { MoreHeaders } from "./answer/headers.ts";
import type { Sendable } from "./answer/piecewise.ts";
import type { Answer, Responder, SentFile } from "./answer/responder.ts";
import type { LongAnswers } from "./answer/turns.ts";
import type { HttpError } from "./errors.ts";
import { targetOf } from "./request.ts";

/** One admitted request: its key, its time, and how to answer it. */
export interface Call {
  readonly request: Request;
  readonly appId: AppId;
  readonly keyId: string;
  readonly binding: Binding;
  /** What the key shows of its app; null for all. */
  readonly view: View | null;
  readonly nowMs: number;
  /** Whether the key would still be admitted. For answers that take long. */
  isStillAllowed(): boolean;
  /** Milliseconds since the request arrived, for `query_time_ms`. */
  elapsedMs(): number;
  json(body: Uint8Array<ArrayBuffer>, status?: number): Answer;
  /** A JSON body that may be too long to create or hold at once. */
  pieces(body: Iterable<Uint8Array<ArrayBuffer>>): Answer;
  file(file: SentFile): Response;
  events(stream: Sendable): Response;
  text(body: string, contentType: string): Answer;
  /** Bytes of another format; null answers 204. */
  binary(body: Uint8Array<ArrayBuffer> | null, contentType: string): Answer;
  object(body: unknown, status: number, more?: MoreHeaders): Answer;
  /** `instead` is the body if the endpoint has its own for this error. */
  fail(error: HttpError, instead?: unknown): Answer;
  /** Runs long answers of an app one per turn, across all endpoints. */
  readonly longAnswers: LongAnswers;
  /**
   * Adds an ETag, or answers 304. `version` must change whenever the answer may change, and must be read before all
   * else that the answer depends on. A failure gets no tag.
   */
  tagged(version: string, answer: (call: Call) => Answer): Answer;
}

/**
 * Caches must be private and revalidate, because one key's answer is not another's. A browser may have the sessions of
 * two pages, which cookies alone don't distinguish; when it goes back in its history it doesn't send a request.
 */
const REVALIDATED: MoreHeaders = {
  "cache-control": "private, no-cache",
  vary: "Authorization, Cookie, X-Wherehouse-Page, Accept-Encoding",
};

export type StartedCall = Pick<
  Call,
  "request" | "appId" | "keyId" | "binding" | "view" | "nowMs" | "isStillAllowed"
> & {
  readonly startedMs: number;
};

export interface CallTools {
  readonly responder: Responder;
  readonly tags: EntityTags;
  readonly longAnswers: LongAnswers;
}

/** `headers` are sent with answers, `failed` with failures. */
export function createCall(
  started: StartedCall,
  tools: CallTools,
  headers: MoreHeaders,
  failed: MoreHeaders,
): Call {
  const { request, appId, view, startedMs } = started;
  const { responder, tags, longAnswers } = tools;
  return {
    ...started,
    elapsedMs: () => performance.now() - startedMs,
    json: (body, status = 200) => responder.json(request, status, body, headers),
    pieces: (body) => responder.pieces(request, appId, body, headers),
    file: (file) => responder.file(request, file, headers),
    events: (stream) => responder.events(request, stream, headers),
    text: (body, contentType) => responder.text(request, body, contentType, headers),
    binary: (body, contentType) => responder.binary(request, body, contentType, headers),
    object: (body, status, more) => responder.object(request, status, body, { ...headers, ...more }),
    fail: (error, instead) => responder.failure(request, error, failed, instead),
    longAnswers,
    tagged(version, answer) {
      const target = targetOf(request.url);
      const etag = tags.of({ appId, view: view?.fingerprint ?? null, target, version });
      const tagged = { ...headers, ...REVALIDATED, etag };
      const condition = request.headers.get("if-none-match");
      // `*` asks whether there is an answer at all, which is not known yet.
      if (condition !== "*" && namesTag(condition, etag)) return responder.unchanged(request, tagged);
      return answer(createCall(started, tools, tagged, failed));
    },
  };
}
