import { tmpdir } from "node:os";
import { DEFAULT_VIEWERS, INGEST_LIMITS, LATE_WINDOW } from "../../../src/app/config.ts";
import type { OpenDirectory } from "../../../src/app/open-directory.ts";
import { MadeKeys } from "../../../src/auth/made-keys.ts";
import { Sessions } from "../../../src/auth/sessions.ts";
import { createCopies } from "../../../src/cluster/join/copies.ts";
import { createBodyBudget } from "../../../src/http/body/body-budget.ts";
import { AnswerBuffer } from "../../../src/http/encode/answer-buffer.ts";
import { Viewers } from "../../../src/http/live/viewers.ts";
import type { Services } from "../../../src/http/services.ts";
import { Scheduler } from "../../../src/lib/schedule/scheduler.ts";
import { inOneStep } from "../../../src/lib/schedule/steps.ts";
import { createPlacesLoader } from "../../../src/map/places/load-places.ts";
import { systemClock as clock } from "../../../src/model/time/clock.ts";
import { DEFAULT_RETENTION } from "../../../src/model/time/retention.ts";
import { createNodeFiles } from "../../../src/runtime/node-files.ts";
import type { Platform } from "../../../src/runtime/platform.ts";
import { Doctor } from "../../../src/service/doctor/doctor.ts";
import { createAppliedSequences } from "../../../src/service/ingest/applied-sequences.ts";
import { MessageCounts } from "../../../src/service/ingest/messages/message-counts.ts";
import { createTakeMessage } from "../../../src/service/ingest/messages/take-message.ts";
import { createLive } from "../../../src/service/live/create-live.ts";
import { ViewerSlots } from "../../../src/service/live/viewer-slots.ts";
import type { Meters } from "../../../src/service/metrics/meters.ts";
import { createCurrentQueries } from "../../../src/service/queries/current.ts";
import { createHistoryQueries } from "../../../src/service/queries/history/history.ts";
import { createNearby } from "../../../src/service/queries/nearby.ts";
import { createReadPositions } from "../../../src/service/queries/positions.ts";
import { createReadCoordinates } from "../../../src/service/queries/read-coordinates.ts";
import { createVersions } from "../../../src/service/queries/versions.ts";

/** What a server over a directory answers from, without its metrics. */
export function createBenchServices(
  {
    hot,
    archive,
    ingest,
    exports,
    keys,
  }: Pick<OpenDirectory, "archive" | "ingest" | "exports"> & Pick<Services, "hot" | "keys">,
  { readAsset, stripTypes }: Pick<Platform, "readAsset" | "stripTypes">,
  { reports, viewers }: Pick<Meters, "reports" | "viewers">,
  doctor: Services["doctor"] = new Doctor(),
): Services {
  const scheduler = new Scheduler();
  const queries = { hot, clock, retention: DEFAULT_RETENTION, scheduler };
  const archived = {
    ...queries,
    archive: () => archive,
    acknowledgedParts: () => Promise.resolve(new Set<string>()),
    lateWindow: LATE_WINDOW,
  };
  const answers = new AnswerBuffer();
  return {
    ...queries,
    version: "bench",
    stopping: new AbortController().signal,
    readiness: () => ({ status: "ready", lagMs: null }),
    countDamaged: () => Promise.resolve(0),
    seals: () => ({ lastMs: null, isLate: false }),
    ingest,
    exactIngest: () => ingest,
    takeMessage: createTakeMessage({
      keepRefused: () => Promise.reject(new Error("benches send what can be used")),
      ingest,
      doctor,
      counts: new MessageCounts(),
      scheduler,
      clock,
      retention: DEFAULT_RETENTION,
    }),
    quarantine: () => {
      throw new Error("benches send what can be used");
    },
    keys,
    madeKeys: new MadeKeys(keys),
    sessions: new Sessions({
      secret: { signer: null, obtain: nobodySignsIn, refresh: async () => {} },
      keys,
      clock,
    }),
    bodies: createBodyBudget(INGEST_LIMITS),
    reports,
    friendsFor: () => null,
    decryptOf: () => () => inOneStep(() => null),
    doctor,
    mqttOf: () => null,
    current: createCurrentQueries(queries),
    history: createHistoryQueries(archived),
    readPositions: createReadPositions(archived),
    readCoordinates: createReadCoordinates(archived),
    exports: () => exports,
    copies: createCopies({
      files: createNodeFiles(),
      dataDir: tmpdir(),
      cluster: () => null,
      stallMs: 60_000,
    }),
    nearby: createNearby(queries),
    viewers: new Viewers({
      live: createLive(queries),
      slots: new ViewerSlots(DEFAULT_VIEWERS),
      counts: viewers,
      answers,
    }),
    sequences: createAppliedSequences(hot),
    versions: createVersions({ ...queries, archive: () => archive }),
    scrape: () => Promise.resolve(""),
    answers,
    readAsset,
    stripTypes,
    demoSpeed: null,
    loadPlaces: createPlacesLoader(readAsset, scheduler),
    baseMap: () => {
      throw new Error("benches ask for no map");
    },
  };
}

function nobodySignsIn(): never {
  throw new Error("benches ask with keys");
}
