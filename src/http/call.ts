import type { KeyRecord, Permission } from "../auth/key-file.ts";
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

/** The key and the time of one admitted request. */
export interface Admission {
  readonly request: Request;
  readonly key: Pick<KeyRecord, "id" | "appId" | "permissions" | keyof Binding>;
  /** What the key shows of its app; null for all. */
  readonly view: View | null;
  readonly nowMs: number;
  /** When the request arrived, by the process's clock. */
  readonly startedMs: number;
  /** Whether the key would still be admitted. For answers that take long. */
  isStillAllowed(): boolean;
}

export interface CallTools {
  readonly responder: Responder;
  readonly tags: EntityTags;
  /** Runs long answers of an app one per turn, across all endpoints. */
  readonly longAnswers: LongAnswers;
}

/**
 * Caches must be private and revalidate, because one key's answer is not another's. A browser may have the sessions of
 * two pages, which cookies alone don't distinguish; when it goes back in its history it doesn't send a request.
 */
const REVALIDATED: MoreHeaders = {
  "cache-control": "private, no-cache",
  vary: "Authorization, Cookie, X-Wherehouse-Page, Accept-Encoding",
};

/** One admitted request: its key, its time, and how to answer it. One object, since each request creates one. */
export class Call {
  readonly #admission: Admission;
  readonly #tools: CallTools;
  readonly #headers: MoreHeaders;
  readonly #failed: MoreHeaders;

  /** `headers` are sent with answers, `failed` with failures. */
  constructor(admission: Admission, tools: CallTools, headers: MoreHeaders, failed: MoreHeaders) {
    this.#admission = admission;
    this.#tools = tools;
    this.#headers = headers;
    this.#failed = failed;
  }

  get request(): Request {
    return this.#admission.request;
  }

  get appId(): AppId {
    return this.#admission.key.appId;
  }

  get keyId(): string {
    return this.#admission.key.id;
  }

  get binding(): Binding {
    return this.#admission.key;
  }

  /** What the key shows of its app; null for all. */
  get view(): View | null {
    return this.#admission.view;
  }

  /** Whether the key has a permission besides that of the endpoint. */
  may(permission: Permission): boolean {
    return this.#admission.key.permissions.includes(permission);
  }

  get nowMs(): number {
    return this.#admission.nowMs;
  }

  get longAnswers(): LongAnswers {
    return this.#tools.longAnswers;
  }

  isStillAllowed(): boolean {
    return this.#admission.isStillAllowed();
  }

  /** Milliseconds since the request arrived, for `query_time_ms`. */
  elapsedMs(): number {
    return performance.now() - this.#admission.startedMs;
  }

  json(body: Uint8Array<ArrayBuffer>, status = 200): Answer {
    return this.#tools.responder.json(this.request, status, body, this.#headers);
  }

  /** A JSON body that may be too long to create or hold at once. */
  pieces(body: Iterable<Uint8Array<ArrayBuffer>>): Answer {
    return this.#tools.responder.pieces(this.request, this.appId, body, this.#headers);
  }

  /** A JSON body whose pieces are sent as they come. */
  arriving(body: Sendable): Response {
    return this.#tools.responder.arriving(this.request, body, this.#headers);
  }

  file(file: SentFile): Response {
    return this.#tools.responder.file(this.request, file, this.#headers);
  }

  events(stream: Sendable): Response {
    return this.#tools.responder.events(this.request, stream, this.#headers);
  }

  text(body: string, contentType: string): Answer {
    return this.#tools.responder.text(this.request, body, contentType, this.#headers);
  }

  /** Bytes of another format; null answers 204. */
  binary(body: Uint8Array<ArrayBuffer> | null, contentType: string): Answer {
    return this.#tools.responder.binary(this.request, body, contentType, this.#headers);
  }

  object(body: unknown, status: number, more?: MoreHeaders): Answer {
    return this.#tools.responder.object(this.request, status, body, { ...this.#headers, ...more });
  }

  /** `instead` is the body if the endpoint has its own for this error. */
  fail(error: HttpError, instead?: unknown): Answer {
    return this.#tools.responder.failure(this.request, error, this.#failed, instead);
  }

  /**
   * Adds an ETag, or answers 304. `version` must change whenever the answer may change, and must be read before all
   * else that the answer depends on. A failure gets no tag.
   */
  tagged(version: string, answer: (call: Call) => Answer): Answer {
    const { request, appId, view } = this;
    const { responder, tags } = this.#tools;
    const target = targetOf(request.url);
    const etag = tags.of({ appId, view: view?.fingerprint ?? null, target, version });
    const tagged = { ...this.#headers, ...REVALIDATED, etag };
    const condition = request.headers.get("if-none-match");
    // `*` asks whether there is an answer at all, which is not known yet.
    if (condition !== "*" && namesTag(condition, etag)) return responder.unchanged(request, tagged);
    return answer(new Call(this.#admission, this.#tools, tagged, this.#failed));
  }
}
