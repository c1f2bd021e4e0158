import { fail, ok, type Result } from "../lib/result.ts";
import type { MaybePromise } from "../lib/schedule/maybe-promise.ts";
import { type QuotaOwner, SharedPool } from "../lib/schedule/shared-pool.ts";
import type { Wait } from "../lib/schedule/timers.ts";
import type { ServiceError } from "../model/errors.ts";
import type { AppliedSequences } from "../service/ingest/applied-sequences.ts";
import { optionalNumber } from "./parameters/kinds.ts";
import type { Schema } from "./shapes/shape.ts";

/*
 * `Wherehouse-Min-Sequence`: the entry of the log that an answer must know of. Who sent a report to one node and asks
 * another says with it which, and the answer comes once that node has it too.
 */

const MIN_SEQUENCE = "Wherehouse-Min-Sequence";

const minSequence = optionalNumber("integer", {
  description: [
    "The answer must know of this entry of the log, as an answer to reports names it in `sequence`: the server waits",
    "until it does, for 5 seconds at most, then answers 503. A single server knows of all that it has acknowledged.",
    "Not looked at where the key has the permission `view`.",
  ].join(" "),
  minimum: 0,
});

/** As the document has it, with every question. */
export const MIN_SEQUENCE_HEADER: Schema = {
  name: MIN_SEQUENCE,
  in: "header",
  required: false,
  description: minSequence.description,
  schema: minSequence.schema,
};

/** What is wrong with one that is refused. */
export const WRONG_MIN_SEQUENCE: ServiceError = {
  kind: "invalid_parameter",
  message: `${MIN_SEQUENCE} must be an integer`,
};

/** A node that is up to date has an entry within milliseconds of its being acknowledged. */
const WAIT_MS_MAX = 5000;
/** Some KB of a connection's each. */
const WAITING_MAX = 2000;
const RETRY_AFTER_SECONDS = 2;

/** Memory has this entry of the log. */
export interface Reached {
  readonly sequence: number;
  readonly hasWaited: boolean;
}

export interface MinSequencesDependencies {
  readonly sequences: Pick<AppliedSequences, "current" | "waitFor">;
  readonly wait: Wait;
}

/** Questions that wait for entries of the log: so many at a time, and of each key and app no more than its share. */
export class MinSequences {
  readonly #sequences: MinSequencesDependencies["sequences"];
  readonly #wait: Wait;
  readonly #pool = new SharedPool(WAITING_MAX);

  constructor({ sequences, wait }: MinSequencesDependencies) {
    this.#sequences = sequences;
    this.#wait = wait;
  }

  /** Questions that wait now. */
  get size(): number {
    return this.#pool.used;
  }

  /** Most questions want no more than what is there. */
  isAsked(request: Request): boolean {
    return request.headers.has(MIN_SEQUENCE);
  }

  /** Has a question wait until memory is as far as it wants. */
  reach(request: Request, holder: QuotaOwner): MaybePromise<Result<Reached, ServiceError>> {
    const asked = minSequence.parse(MIN_SEQUENCE, request.headers.get(MIN_SEQUENCE));
    if (!asked.ok) return asked;
    const sequence = asked.value ?? 0;
    if (sequence <= this.#sequences.current) return ok({ sequence, hasWaited: false });
    if (!this.#pool.take(holder, 1)) return fail(TOO_MANY);
    return this.#waitFor(sequence, request.signal)
      .finally(() => this.#pool.give(holder, 1))
      .then((isReached) => (isReached ? ok({ sequence, hasWaited: true }) : fail(behind(sequence))));
  }

  /** Until it is there, the time is over, or the client has left. */
  async #waitFor(sequence: number, client: AbortSignal): Promise<boolean> {
    const over = new AbortController();
    const end = () => over.abort();
    client.addEventListener("abort", end);
    if (client.aborted) end();
    void this.#wait(WAIT_MS_MAX, over.signal).then(end);
    try {
      return await this.#sequences.waitFor(sequence, over.signal);
    } finally {
      client.removeEventListener("abort", end);
      end();
    }
  }
}

/** How far the server is instead is no business of who asks about one app. */
export function behind(sequence: number): ServiceError {
  return {
    kind: "unavailable",
    message: `the log's entry ${sequence} has not come here yet; ask again shortly`,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  };
}

const TOO_MANY: ServiceError = {
  kind: "unavailable",
  message: "too many questions wait for what this server does not know yet; ask again shortly",
  retryAfterSeconds: RETRY_AFTER_SECONDS,
};
