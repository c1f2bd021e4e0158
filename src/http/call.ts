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

/** One admitted request: whose it is, when it came, and how to answer it. */
export interface Call {
  readonly request: Request;
  readonly appId: AppId;
  readonly keyId: string;
  /** Whom the key writes as. */
  readonly binding: Binding;
  /** What the key shows of its app; null for all. */
  readonly view: View | null;
  readonly nowMs: number;
  /** Whether the key could still ask this: for answers that take long. */
  isStillAllowed(): boolean;
  /** Milliseconds since the request came in, for `query_time_ms`. */
  elapsedMs(): number;
  json(body: Uint8Array<ArrayBuffer>, status?: number): Answer;
  /** A body of JSON that may be too long to be made, or held, in one piece. */
  pieces(body: Iterable<Uint8Array<ArrayBuffer>>): Answer;
  /** A file that is made while it is sent. */
  file(file: SentFile): Response;
  /** Server-Sent Events, as they come. */
  events(stream: Sendable): Response;
  text(body: string, contentType: string): Answer;
  /** Bytes of another format; null for an answer without any. */
  binary(body: Uint8Array<ArrayBuffer> | null, contentType: string): Answer;
  /** `more` are headers of this answer alone. */
  object(body: unknown, status: number, more?: MoreHeaders): Answer;
  /** `instead` is the body where the endpoint has one of its own for this. */
  fail(error: HttpError, instead?: unknown): Answer;
  /** Makes the answers of apps whose answers take long one a turn, of all endpoints together. */
  readonly longAnswers: LongAnswers;
  /**
   * Answers with an entity tag, or with 304 to who has this answer. `version` is another text whenever the answer may
   * be another, and was asked for before anything else that it depends on. A failure gets no tag.
   */
  tagged(version: string, answer: (call: Call) => Answer): Answer;
}

/**
 * Kept by who asked, and good once the server says so: what one key sees is not another's. A browser has the sessions
 * of two pages, which its cookies alone don't tell apart; on the way back through its history it doesn't ask again.
 */
const REVALIDATED: MoreHeaders = {
  "cache-control": "private, no-cache",
  vary: "Authorization, Cookie, X-Wherehouse-Page, Accept-Encoding",
};

/** What is known of a request once it is admitted. */
export type StartedCall = Pick<
  Call,
  "request" | "appId" | "keyId" | "binding" | "view" | "nowMs" | "isStillAllowed"
> & {
  readonly startedMs: number;
};

/** What answers are made with. */
export interface CallTools {
  readonly responder: Responder;
  readonly tags: EntityTags;
  readonly longAnswers: LongAnswers;
}

/** `headers` go with what is answered, `failed` with failures. */
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
      const asked = targetOf(request.url);
      const etag = tags.of({ appId, view: view?.fingerprint ?? null, asked, version });
      const tagged = { ...headers, ...REVALIDATED, etag };
      const kept = request.headers.get("if-none-match");
      // `*` asks whether there is an answer at all, which is not known yet.
      if (kept !== "*" && namesTag(kept, etag)) return responder.unchanged(request, tagged);
      return answer(createCall(started, tools, tagged, failed));
    },
  };
}
