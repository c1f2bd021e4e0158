import { INGEST_LIMITS, LATE_WINDOW } from "../../../src/config.ts";
import { Doctor } from "../../../src/doctor/doctor.ts";
import { createBodyBudget } from "../../../src/http/body/body-budget.ts";
import { AnswerBuffer } from "../../../src/http/encode/answer-buffer.ts";
import type { Services } from "../../../src/http/services.ts";
import { Scheduler } from "../../../src/lib/schedule/scheduler.ts";
import { inOneStep } from "../../../src/lib/schedule/steps.ts";
import type { Meters } from "../../../src/metrics/meters.ts";
import type { OpenDirectory } from "../../../src/open-directory.ts";
import type { Platform } from "../../../src/runtime/platform.ts";
import { MessageCounts } from "../../../src/service/clients/message-counts.ts";
import { createTakeMessage } from "../../../src/service/clients/take-message.ts";
import { createCurrentQueries } from "../../../src/service/current.ts";
import { createHistoryQueries } from "../../../src/service/history/history.ts";
import { createNearby } from "../../../src/service/nearby.ts";
import { systemClock as clock } from "../../../src/time/clock.ts";

/** What a server over a directory answers from, without its metrics. */
export function createBenchServices(
  { hot, archive, ingest }: Pick<OpenDirectory, "archive" | "ingest"> & Pick<Services, "hot">,
  { readAsset }: Pick<Platform, "readAsset">,
  { reports }: Pick<Meters, "reports">,
  doctor: Services["doctor"] = new Doctor(),
): Services {
  const scheduler = new Scheduler();
  const queries = { hot, clock, scheduler };
  return {
    ...queries,
    version: "bench",
    readiness: () => ({ status: "ready" }),
    countDamaged: () => Promise.resolve(0),
    ingest,
    takeMessage: createTakeMessage({
      keepRefused: () => Promise.reject(new Error("benches send what can be used")),
      ingest,
      doctor,
      counts: new MessageCounts(),
      scheduler,
      clock,
    }),
    quarantine: () => {
      throw new Error("benches send what can be used");
    },
    listKeys: () => [],
    bodies: createBodyBudget(INGEST_LIMITS),
    reports,
    friendsFor: () => null,
    decryptOf: () => () => inOneStep(() => null),
    doctor,
    mqttOf: () => null,
    current: createCurrentQueries(queries),
    history: createHistoryQueries({
      ...queries,
      archive: () => archive,
      acknowledgedParts: () => Promise.resolve(new Set()),
      lateWindow: LATE_WINDOW,
    }),
    nearby: createNearby(queries),
    scrape: () => Promise.resolve(""),
    answers: new AnswerBuffer(),
    readAsset,
  };
}
