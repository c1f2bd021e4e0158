import { Buffer } from "node:buffer";
import { presentHappening } from "../../../geofences/present-event.ts";
import type { WatchEvent } from "../../../geofences/watch.ts";
import type { Result } from "../../../lib/result.ts";
import { SharedPool } from "../../../lib/schedule/shared-pool.ts";
import { atMost, systemTimers } from "../../../lib/schedule/timers.ts";
import type { ServiceError } from "../../../model/errors.ts";
import type { WatchDraft } from "../../../model/watches/watch-rules.ts";
import type { PreviewFence } from "../../../service/geofences/preview.ts";
import type { Answer } from "../../answer/responder.ts";
import type { Call } from "../../call.ts";
import { readInstants } from "../../parameters/ranges.ts";
import type { Services } from "../../services.ts";
import { readWatch } from "./read-watch.ts";

/* What a geofence or an alert would have said, sent while the past is still being read. */

/** Each takes as much memory as its devices and events, up to some 150 MB. */
const PREVIEWS_MAX = 2;

const TOO_MANY: ServiceError = {
  kind: "unavailable",
  message: "too many previews are under way; ask again later",
  retryAfterSeconds: 2,
};

/** Servers and proxies close a connection that is silent for a minute or so. Blanks change nothing in JSON. */
const BEAT_MS = 15_000;
const BLANK = bytesOf(" ");

/** Those of a server share one pool, whatever they are of. */
const pools = new WeakMap<PreviewFence, SharedPool>();

interface PreviewValues {
  readonly start: number;
  readonly end: number;
  readonly limit: number;
  readonly offset: number;
}

export function createAnswerPreview(
  { previewFence }: Pick<Services, "previewFence">,
  parse: (value: unknown) => Result<WatchDraft, string>,
) {
  const pool = pools.get(previewFence) ?? new SharedPool(PREVIEWS_MAX);
  pools.set(previewFence, pool);
  return async (call: Call, { start, end, limit, offset }: PreviewValues): Promise<Awaited<Answer>> => {
    const range = readInstants({ start, end });
    if (!range.ok) return call.fail(range.error);
    const draft = await readWatch(call.request, parse);
    if (!draft.ok) return call.fail(draft.error);
    const owner = { appId: call.appId, keyId: call.keyId };
    if (!pool.take(owner, 1)) return call.fail(TOO_MANY);
    const query = { terms: draft.value.terms, range: range.value, offset, limit };
    const arrivals = new Arrivals();
    const onEvents = (events: readonly WatchEvent[]) => arrivals.add(events);
    const preview = previewFence(call.appId, query, call.request, onEvents).finally(() => {
      arrivals.end();
      pool.give(owner, 1);
    });
    preview.catch(() => undefined); // What reads the answer gets the error.
    await arrivals.some();
    if (arrivals.isEnded) {
      const outcome = await preview;
      if (!outcome.ok) return call.fail(outcome.error);
    }
    return call.arriving({ pieces: () => piecesOf(arrivals, preview, { offset, limit }) });
  };
}

/** Events of a page that come one after the other. */
export class Arrivals {
  #events: WatchEvent[] = [];
  #change = Promise.withResolvers<void>();
  #isEnded = false;

  /** Whether there will be no more. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  add(events: readonly WatchEvent[]): void {
    this.#events.push(...events);
    this.#change.resolve();
  }

  end(): void {
    this.#isEnded = true;
    this.#change.resolve();
  }

  /** Resolves once there are some, or there will be no more. */
  some(): Promise<void> {
    return this.#change.promise;
  }

  /** Those that have come since the last call. */
  take(): readonly WatchEvent[] {
    const events = this.#events;
    this.#events = [];
    if (!this.#isEnded) this.#change = Promise.withResolvers<void>();
    return events;
  }
}

/** The body of an answer, of which each piece is sent as soon as its events are certain. */
export async function* piecesOf(
  arrivals: Arrivals,
  preview: ReturnType<PreviewFence>,
  paging: { readonly offset: number; readonly limit: number },
  timers = systemTimers,
): AsyncIterable<Uint8Array<ArrayBuffer>> {
  yield bytesOf('{"success":true,"events":[');
  let count = 0;
  for (let isOver = false; !isOver; ) {
    await atMost(timers, BEAT_MS, arrivals.some());
    isOver = arrivals.isEnded;
    const events = arrivals.take();
    if (events.length === 0) {
      if (!isOver) yield BLANK;
      continue;
    }
    const texts = events.map((each) => JSON.stringify(presentHappening(each)));
    yield bytesOf(`${count === 0 ? "" : ","}${texts.join()}`);
    count += events.length;
  }
  const outcome = await preview;
  if (!outcome.ok) throw new Error("a preview had too many events after the first ones were sent");
  const { total, isIncomplete } = outcome.value;
  const pagination = { count, has_more: paging.offset + count < total, total_count: total, ...paging };
  yield bytesOf(`]${isIncomplete ? ',"incomplete":true' : ""},"pagination":${JSON.stringify(pagination)}}`);
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return Buffer.from(text);
}
