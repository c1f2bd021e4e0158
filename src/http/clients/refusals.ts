import type { Client, ClientMessage } from "../../clients/client.ts";
import { deletesRefusedPoints } from "../../clients/owntracks/apps.ts";
import type { QuotaOwner } from "../../lib/schedule/shared-pool.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { Answer, Responder } from "../answer/responder.ts";
import { type AccessError, answerError, codeHeader, type ErrorCode } from "../errors.ts";
import type { DelayedAnswers } from "./pace.ts";

/** A refused request, and the owner that is charged if the answer is delayed. */
export interface Refused {
  readonly request: Request;
  readonly client: Client;
  readonly headers: ClientMessage["headers"];
  readonly owner: QuotaOwner;
}

export const RETRY_AFTER_SECONDS = 30;

/** Refuses requests in the client's format. The status decides whether the client deletes, keeps or repeats points. */
export class Refusals {
  readonly #responder: Responder;
  readonly #delayed: DelayedAnswers;
  readonly #holdMs: number;

  constructor(responder: Responder, delayed: DelayedAnswers, holdMs: number) {
    this.#responder = responder;
    this.#delayed = delayed;
    this.#holdMs = holdMs;
  }

  /** The key is missing, invalid, or lacks the permission to write. */
  wrongKey(refused: Refused, error: AccessError): Answer {
    const sentence = error.kind === "permission_missing" ? "The key may not write" : UNKNOWN_KEY;
    return this.#keepingPoints(refused, 401, answerError(error).code, sentence);
  }

  fail(refused: Refused, error: ServiceError): Answer {
    const { status, code, body } = answerError(error);
    const sentence = String(body.message);
    switch (error.kind) {
      case "body_too_large": // A repetition would be as large.
      case "unavailable":
        return this.#refuse(refused, status, code, sentence);
      case "body_incomplete": // Not the client's fault; the next attempt may succeed.
        return this.#refuse(refused, 503, code, sentence);
      default:
        return this.#keepingPoints(refused, status, code, sentence);
    }
  }

  fault(refused: Refused, error: unknown): Answer {
    return this.#hold(refused, this.#responder.fault(refused.request, error));
  }

  /** An error of the sender, with a status on which the client keeps its points until a person fixes the error. */
  #keepingPoints(refused: Refused, status: number, code: ErrorCode, sentence: string): Answer {
    if (deletesRefusedPoints(refused.headers))
      return this.#refuse(refused, 503, code, `${sentence}; the app keeps its points`);
    return this.#refuse(refused, status, code, sentence);
  }

  #refuse(refused: Refused, status: number, code: ErrorCode, sentence: string): Answer {
    const { request, client } = refused;
    const headers = { ...HEADERS[status], ...codeHeader(code) };
    return this.#hold(
      refused,
      this.#responder.clientReply(request, status, client.failure(sentence), headers),
    );
  }

  /** Delays the answer if the client would repeat the request immediately. */
  #hold({ request, client, owner }: Refused, answer: Answer): Answer {
    if (!client.retriesAtOnce) return answer;
    return this.#delayed.hold(owner, this.#holdMs, request.signal)?.then(() => answer) ?? answer;
  }
}

/** For every invalid key: missing, revoked, or several different ones. */
const UNKNOWN_KEY = "Unknown key";

const HEADERS: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  401: { "www-authenticate": 'Basic realm="Wherehouse"' },
  503: { "retry-after": String(RETRY_AFTER_SECONDS) },
};
