import { fail, ok, type Result } from "../lib/result.ts";
import type { MaybePromise } from "../lib/schedule/maybe-promise.ts";
import { type QuotaOwner, SharedPool } from "../lib/schedule/shared-pool.ts";
import type { Wait } from "../lib/schedule/timers.ts";
import type { ServiceError } from "../model/errors.ts";
import type { AppliedSequences } from "../service/ingest/applied-sequences.ts";
import { optionalNumber } from "./parameters/kinds.ts";
import type { Schema } from "./shapes/shape.ts";

/*
 * `Wherehouse-Min-Sequence`: the entry of the log that an answer must include. A client that reports to one node and
 * queries another sends it, and the answer waits until that node has the entry.
 */

const MIN_SEQUENCE = "Wherehouse-Min-Sequence";

const minSequence = optionalNumber("integer", {
  description: [
    "The answer must include this entry of the log, which an answer to reports has as its `sequence`. The server waits for",
    "it for at most 5 seconds, then answers 503. A single server always has everything that it has acknowledged. Ignored if",
    "the key has the permission `view`.",
  ].join(" "),
  minimum: 0,
});

/** The document describes it for every query. */
export const MIN_SEQUENCE_HEADER: Schema = {
  name: MIN_SEQUENCE,
  in: "header",
  required: false,
  description: minSequence.description,
  schema: minSequence.schema,
};

export const WRONG_MIN_SEQUENCE: ServiceError = {
  kind: "invalid_parameter",
  message: `${MIN_SEQUENCE} must be an integer`,
};

/** An up-to-date node has an entry within milliseconds of its acknowledgement. */
const WAIT_MS_MAX = 5000;
/** Each takes some KB for its connection. */
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

/** Queries that wait for entries of the log, in a limited number with a share for each key and app. */
export class MinSequences {
  readonly #sequences: MinSequencesDependencies["sequences"];
  readonly #wait: Wait;
  readonly #pool = new SharedPool(WAITING_MAX);

  constructor({ sequences, wait }: MinSequencesDependencies) {
    this.#sequences = sequences;
    this.#wait = wait;
  }

  get size(): number {
    return this.#pool.used;
  }

  /** Whether the request has the header; most don't. */
  isAsked(request: Request): boolean {
    return request.headers.has(MIN_SEQUENCE);
  }

  reach(request: Request, owner: QuotaOwner): MaybePromise<Result<Reached, ServiceError>> {
    const minimum = minSequence.parse(MIN_SEQUENCE, request.headers.get(MIN_SEQUENCE));
    if (!minimum.ok) return minimum;
    const sequence = minimum.value ?? 0;
    if (sequence <= this.#sequences.current) return ok({ sequence, hasWaited: false });
    if (!this.#pool.take(owner, 1)) return fail(TOO_MANY);
    return this.#waitFor(sequence, request.signal)
      .finally(() => this.#pool.give(owner, 1))
      .then((isReached) => (isReached ? ok({ sequence, hasWaited: true }) : fail(behind(sequence))));
  }

  /** Until the entry is there, the time is over, or the client has left. */
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

/** Does not say how far the server is: that is not about the client's app. */
export function behind(sequence: number): ServiceError {
  return {
    kind: "unavailable",
    message: `this server does not have the log's entry ${sequence} yet; try again shortly`,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  };
}

const TOO_MANY: ServiceError = {
  kind: "unavailable",
  message: "too many queries wait for entries that this server does not have yet; try again shortly",
  retryAfterSeconds: RETRY_AFTER_SECONDS,
};
