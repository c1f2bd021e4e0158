import { createHotStore, type HotStore } from "../../../src/hot/hot-store.ts";
import { LongAnswers } from "../../../src/http/answer/turns.ts";
import type { Call } from "../../../src/http/call.ts";
import { AnswerBuffer } from "../../../src/http/encode/answer-buffer.ts";
import { nearby } from "../../../src/http/endpoints/devices/nearby.ts";
import type { Services } from "../../../src/http/services.ts";
import { Scheduler } from "../../../src/lib/schedule/scheduler.ts";
import type { ReportBatch } from "../../../src/model/report-batch.ts";
import type { Clock } from "../../../src/model/time/clock.ts";
import { DEFAULT_RETENTION } from "../../../src/model/time/retention.ts";
import { createNearby } from "../../../src/service/queries/nearby.ts";
import { BENCH_APP } from "../store/log.ts";

const ORIGIN = "http://bench";
const NOTHING = new Response();

/** A store in memory that answers requests like a server, but without HTTP. */
export class AskedCity {
  readonly #hot: HotStore;
  readonly #answer: (path: string) => Promise<Uint8Array>;
  #sequence = 0;

  constructor(clock: Clock) {
    const hot = createHotStore(new Scheduler());
    this.#hot = hot;
    // The services that this endpoint uses.
    const services = {
      nearby: createNearby({ hot, clock, retention: DEFAULT_RETENTION }),
      answers: new AnswerBuffer(),
    };
    const handle = nearby.open(services as Services);
    const longAnswers = new LongAnswers();
    this.#answer = async (path) => {
      let written: Uint8Array | null = null;
      await handle({
        request: { url: ORIGIN + path } as Request,
        appId: BENCH_APP,
        longAnswers,
        elapsedMs: () => 0, // Makes answers to the same query equal.
        json(body) {
          written = body;
          return NOTHING;
        },
      } as Call);
      if (written === null) throw new Error(`${path} has no answer`);
      return written;
    };
  }

  apply(batch: ReportBatch): void {
    this.#hot.apply(BENCH_APP, batch, ++this.#sequence);
  }

  /** The answer is valid until the next request. */
  ask(path: string): Promise<Uint8Array> {
    return this.#answer(path);
  }
}
