import manifest from "../../package.json" with { type: "json" };
import type { KeyStore } from "../auth/key-store.ts";
import type { PassPhrases } from "../auth/pass-phrases.ts";
import { INGEST_LIMITS, LATE_WINDOW } from "../config.ts";
import { readAcknowledgedParts } from "../directory/acknowledged.ts";
import { Doctor } from "../doctor/doctor.ts";
import type { HotStore } from "../hot/hot-store.ts";
import { createBodyBudget } from "../http/body/body-budget.ts";
import { AnswerBuffer } from "../http/encode/answer-buffer.ts";
import type { Services } from "../http/services.ts";
import type { Scheduler } from "../lib/schedule/scheduler.ts";
import type { EventLoopMeter } from "../metrics/event-loop-meter.ts";
import type { Meters } from "../metrics/meters.ts";
import { createScrape } from "../metrics/scrape.ts";
import type { AppId } from "../model/ids.ts";
import type { Files } from "../runtime/files.ts";
import type { Platform } from "../runtime/platform.ts";
import { decryptOf } from "../service/clients/decrypt.ts";
import { createFriendsFor } from "../service/clients/friends.ts";
import { MessageCounts } from "../service/clients/message-counts.ts";
import { createTakeMessage } from "../service/clients/take-message.ts";
import { createCurrentQueries } from "../service/current.ts";
import { createFindings } from "../service/findings.ts";
import { createHistoryQueries } from "../service/history/history.ts";
import type { Ingest } from "../service/ingest.ts";
import { createNearby } from "../service/nearby.ts";
import { countUnacknowledged } from "../service/verify/verify.ts";
import type { Clock } from "../time/clock.ts";
import type { BrokerLink } from "./broker-link.ts";
import type { ServiceState } from "./service-state.ts";

/** What services are made from. */
export interface ServiceParts {
  readonly files: Files;
  readonly platform: Pick<Platform, "usage" | "readAsset">;
  readonly clock: Clock;
  readonly hot: HotStore;
  readonly scheduler: Scheduler;
  readonly meters: Meters;
  readonly eventLoop: EventLoopMeter;
  readonly state: ServiceState;
  /** Where damaged bytes are kept, and which of them somebody has acknowledged. */
  readonly damagedDirectory: string;
  readonly passPhrases: PassPhrases;
  readonly broker: Pick<BrokerLink, "status" | "statusFor">;
  readonly friendsApps: readonly AppId[];
  readonly keys: Pick<KeyStore, "list">;
}

/** The services that endpoints answer from. Those that need the directory are asked once it is open. */
export function createServices(parts: ServiceParts): Services {
  const { files, platform, clock, hot, scheduler, meters, eventLoop, state, damagedDirectory } = parts;
  const { passPhrases } = parts;
  const { version } = manifest;
  const queries = { hot, clock, scheduler };
  const doctor = new Doctor();
  const bodies = createBodyBudget(INGEST_LIMITS);
  const messages = new MessageCounts();
  const countDamaged = () => countDamages(parts);
  const ingest: Ingest = (appId, batch) => state.opened().ingest(appId, batch);
  return {
    ...queries,
    version,
    readiness: () => state.readiness,
    countDamaged,
    ingest,
    takeMessage: createTakeMessage({
      ingest,
      keepRefused: (refused) => state.opened().quarantine.put(refused),
      doctor,
      counts: messages,
      scheduler,
      clock,
    }),
    quarantine: () => state.opened().quarantine,
    listKeys: () => parts.keys.list(),
    bodies,
    reports: meters.reports,
    doctor,
    mqttOf: (appId) => parts.broker.statusFor(appId),
    friendsFor: createFriendsFor({ apps: parts.friendsApps, passPhrases, ...queries }),
    decryptOf: (sender, address) => decryptOf(passPhrases, sender, address),
    current: createCurrentQueries(queries),
    history: createHistoryQueries({
      ...queries,
      archive: () => state.opened().archive,
      acknowledgedParts: () => readAcknowledgedParts(files, damagedDirectory),
      lateWindow: LATE_WINDOW,
    }),
    nearby: createNearby(queries),
    scrape: createScrape({
      version,
      meters,
      messages,
      eventLoop,
      hot,
      stores: () => state.directory,
      start: () => state.start,
      bodies,
      mqtt: () => parts.broker.status,
      usage: platform.usage,
      countDamaged,
      doctor,
      findings: createFindings({ ...queries, doctor }),
    }),
    answers: new AnswerBuffer(),
    readAsset: platform.readAsset,
  };
}

/** Damages that nobody has acknowledged: bytes that could not be saved, parts, and files that were. */
async function countDamages({ files, state, damagedDirectory }: ServiceParts): Promise<number> {
  const { damage, archive } = state.opened();
  const unsaved = damage.filter(({ savedAs }) => savedAs === null).length;
  const acknowledged = await readAcknowledgedParts(files, damagedDirectory);
  const parts = [...archive.damaged.keys()].filter((file) => !acknowledged.has(file)).length;
  return unsaved + parts + (await countUnacknowledged(files, damagedDirectory));
}
