import type { Client, ClientMessage } from "../../clients/client.ts";
import { deletesWhatIsRefused } from "../../clients/owntracks/apps.ts";
import type { Holder } from "../../lib/schedule/shared-pool.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { Answer, Responder } from "../answer/responder.ts";
import { type AccessError, answerError, codeHeader, type ErrorCode } from "../errors.ts";
import type { HeldAnswers } from "./pace.ts";

/** Whose request is refused, and who holds the answer if it is held. */
export interface Refused {
  readonly request: Request;
  readonly client: Client;
  readonly headers: ClientMessage["headers"];
  readonly holder: Holder;
}

/** What whoever gets a 503 is told to wait. */
export const RETRY_AFTER_SECONDS = 30;

/** Refuses requests as their clients take it: what is deleted, kept, or sent again at once depends on it. */
export class Refusals {
  readonly #responder: Responder;
  readonly #held: HeldAnswers;
  readonly #holdMs: number;

  constructor(responder: Responder, held: HeldAnswers, holdMs: number) {
    this.#responder = responder;
    this.#held = held;
    this.#holdMs = holdMs;
  }

  /** No key, a wrong one, or one that may not write. */
  wrongKey(refused: Refused, error: AccessError): Answer {
    const sentence = error.kind === "permission_missing" ? "The key may not write" : UNKNOWN_KEY;
    return this.#keepingPoints(refused, 401, answerError(error).code, sentence);
  }

  fail(refused: Refused, error: ServiceError): Answer {
    const { status, code, body } = answerError(error);
    const sentence = String(body.message);
    switch (error.kind) {
      case "body_too_large": // Nothing would make it smaller, so it should not come again.
      case "unavailable":
        return this.#refuse(refused, status, code, sentence);
      case "body_incomplete": // By no fault of the client, and the next time may go well.
        return this.#refuse(refused, 503, code, sentence);
      default:
        return this.#keepingPoints(refused, status, code, sentence);
    }
  }

  /** Our mistake. */
  fault(refused: Refused, error: unknown): Answer {
    return this.#hold(refused, this.#responder.fault(refused.request, error));
  }

  /** A mistake of the sender's, told by a status on which the client keeps its points until somebody mends it. */
  #keepingPoints(refused: Refused, status: number, code: ErrorCode, sentence: string): Answer {
    if (deletesWhatIsRefused(refused.headers))
      return this.#refuse(refused, 503, code, `${sentence}; points are kept`);
    return this.#refuse(refused, status, code, sentence);
  }

  #refuse(refused: Refused, status: number, code: ErrorCode, sentence: string): Answer {
    const { request, client } = refused;
    const headers = { ...HEADERS[status], ...codeHeader(code) };
    return this.#hold(refused, this.#responder.words(request, status, client.failure(sentence), headers));
  }

  /** What is sent again at once is answered late. */
  #hold({ request, client, holder }: Refused, answer: Answer): Answer {
    if (!client.retriesAtOnce) return answer;
    return this.#held.hold(holder, this.#holdMs, request.signal)?.then(() => answer) ?? answer;
  }
}

/** Said of every key that is none: missing, revoked, or another in each place. */
const UNKNOWN_KEY = "Unknown key";

const HEADERS: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  401: { "www-authenticate": 'Basic realm="Wherehouse"' },
  503: { "retry-after": String(RETRY_AFTER_SECONDS) },
};
