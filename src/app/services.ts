import manifest from "../../package.json" with { type: "json" };
import { MadeKeys } from "../auth/made-keys.ts";
import type { PassPhrases } from "../auth/pass-phrases.ts";
import { Sessions, type SessionsDependencies } from "../auth/sessions.ts";
import type { Copies } from "../cluster/join/copies.ts";
import { readAcknowledgedParts } from "../directory/damaged-files.ts";
import type { HotStore } from "../hot/hot-store.ts";
import { Viewers } from "../http/answer/viewers.ts";
import { type BodyBudget, createBodyBudget } from "../http/body/body-budget.ts";
import { AnswerBuffer } from "../http/encode/answer-buffer.ts";
import type { Services } from "../http/services.ts";
import { createUploads, type Uploads } from "../import/upload/uploads.ts";
import { assert } from "../lib/assert.ts";
import type { Scheduler } from "../lib/schedule/scheduler.ts";
import { createPlacesLoader } from "../map/read-places.ts";
import type { AppId } from "../model/ids.ts";
import type { Clock } from "../model/time/clock.ts";
import type { Retention } from "../model/time/retention.ts";
import { countUnacknowledged } from "../operator/verify/verify.ts";
import type { Files } from "../runtime/files.ts";
import type { Platform } from "../runtime/platform.ts";
import { Doctor } from "../service/doctor/doctor.ts";
import type { ErasureStates } from "../service/erasures/states.ts";
import { createPreviewFence } from "../service/geofences/preview.ts";
import { createAppliedSequences } from "../service/ingest/applied-sequences.ts";
import { createCountKnown } from "../service/ingest/count-known.ts";
import type { ExactIngest } from "../service/ingest/exact-ingest.ts";
import { createFriendsFor } from "../service/ingest/messages/friends.ts";
import { createIngestMessage, decryptOf } from "../service/ingest/messages/ingest-message.ts";
import { MessageCounts } from "../service/ingest/messages/message-counts.ts";
import { createLive } from "../service/live/create-live.ts";
import { EventFeeds } from "../service/live/event-feeds.ts";
import { ViewerSlots } from "../service/live/viewer-slots.ts";
import type { Meters } from "../service/metrics/meters.ts";
import { createScrape, type ScrapeDependencies } from "../service/metrics/scrape.ts";
import { createCurrentQueries } from "../service/queries/current.ts";
import { createDeviceDays } from "../service/queries/days.ts";
import { createFindings } from "../service/queries/findings.ts";
import { createFindFleetTracks } from "../service/queries/fleet-tracks.ts";
import { createHistoryQueries } from "../service/queries/history/history.ts";
import type { ArchiveDependencies } from "../service/queries/history/read-archive.ts";
import type { HistoryDependencies, LateWindowSize } from "../service/queries/history/read-stretches.ts";
import { createNearby } from "../service/queries/nearby.ts";
import { createReadPositions } from "../service/queries/positions.ts";
import { createReadCoordinates } from "../service/queries/read-coordinates.ts";
import { createTracks } from "../service/queries/tracks-tile.ts";
import { createVersions } from "../service/queries/versions.ts";
import type { SealSchedule } from "../service/upkeep/seal/schedule.ts";
import type { Watcher } from "../service/watching/watcher.ts";
import type { OpenWebhooks } from "../service/webhooks/open-webhooks.ts";
import type { BrokerLink } from "./broker-link.ts";
import { DEFAULT_VIEWERS, INGEST_LIMITS, LATE_WINDOW } from "./config.ts";
import type { OpenDirectory } from "./directory.ts";
import type { Secrets } from "./secrets.ts";
import type { ServiceState } from "./service-state.ts";

/** What services are created from. The optional parts default to those of a server; tests and benches replace them. */
export interface ServiceParts {
  /** Defaults to the version of the package. */
  readonly version?: string;
  readonly files: Files;
  readonly platform: Pick<Platform, "usage" | "readAsset" | "stripTypes" | "startHelper">;
  readonly clock: Clock;
  readonly retention: Retention;
  readonly hot: HotStore;
  readonly scheduler: Scheduler;
  readonly meters: Meters;
  readonly eventLoop: ScrapeDependencies["eventLoop"];
  readonly state: Serving;
  readonly copies: Copies;
  /** Has the quarantined damaged bytes, and the list of those that an operator acknowledged. */
  readonly damagedDirectory: string;
  readonly secrets: ServedSecrets;
  readonly broker: Pick<BrokerLink, "status" | "statusFor">;
  readonly friendsApps?: readonly AppId[];
  readonly viewersMax?: number;
  /** Defaults to null: reports are real. */
  readonly demoSpeed?: number | null;
  readonly baseMap: Services["baseMap"];
  readonly bodies?: BodyBudget;
  readonly answers?: AnswerBuffer;
  readonly doctor?: Pick<Doctor, "note" | "lastRequests" | "examine" | "forget" | "deviceCount">;
  readonly lateWindow?: LateWindowSize;
}

/** The state of the service, and its directory once that is open. */
export interface Serving extends Pick<ServiceState, "readiness" | "stopping" | "start" | "cluster"> {
  readonly directory: ServedDirectory | null;
  /** The directory, for requests that have passed the readiness gate. */
  opened(): ServedDirectory;
}

/** The parts of a directory that a server uses. */
export interface ServedDirectory
  extends Pick<
    OpenDirectory,
    | "log"
    | "archive"
    | "ingest"
    | "exactIngest"
    | "editProfile"
    | "editWatches"
    | "webhooks"
    | "correct"
    | "erase"
    | "quarantine"
    | "erasures"
    | "exports"
    | "damage"
    | "eventStore"
    | "lead"
  > {
  readonly schedule: Pick<SealSchedule, "state">;
  readonly watcher: Pick<Watcher, "backlog" | "isFailing">;
  readonly eraser: ErasureStates;
}

/** The keys, the session secret, and the passphrases of phones. */
export interface ServedSecrets extends Pick<Secrets, "keys" | "usedCodes"> {
  readonly sessionSecret: SessionsDependencies["secret"];
  readonly passPhrases: Pick<PassPhrases, "boxKeys">;
}

/** Creates the services behind the endpoints. Those that need the directory are called only once it is open. */
export function createServices(parts: ServiceParts): Services {
  const { version = manifest.version, platform, clock, retention, hot, scheduler, meters, state } = parts;
  const { bodies = createBodyBudget(INGEST_LIMITS), answers = new AnswerBuffer() } = parts;
  const { doctor = new Doctor(), friendsApps: apps = [], viewersMax = DEFAULT_VIEWERS } = parts;
  const { keys, sessionSecret, passPhrases, usedCodes } = parts.secrets;
  const queries = { hot, clock, retention, scheduler };
  const archived = { ...queries, ...archiveOf(parts) };
  const messages = new MessageCounts();
  const slots = new ViewerSlots(viewersMax);
  const countDamaged = () => countDamages(parts);
  const opened = partsOf(state);
  const { ingest, exactIngest } = opened;
  return {
    ...queries,
    version,
    readiness: () => state.readiness,
    stopping: state.stopping,
    countDamaged,
    seals: () => state.opened().schedule.state,
    ...opened,
    uploads: createUploadsWith(parts, exactIngest, archived),
    ingestMessage: createIngestMessage({
      ingest,
      blocks: { blocked: (appId) => state.opened().erasures.blocked(appId) },
      quarantineRefused: (refused) => state.opened().quarantine.put(refused),
      doctor,
      counts: messages,
      scheduler,
      clock,
      retention,
    }),
    keys,
    madeKeys: new MadeKeys(keys),
    sessions: new Sessions({ secret: sessionSecret, keys, clock, usedCodes }),
    bodies,
    reports: meters.reports,
    doctor,
    mqttOf: (appId) => parts.broker.statusFor(appId),
    friendsFor: createFriendsFor({ apps, passPhrases, ...queries }),
    decryptOf: (sender, address) => decryptOf(passPhrases, sender, address),
    current: createCurrentQueries(queries),
    history: createHistoryQueries(archived),
    ...createPositionQueries(archived, state.stopping),
    copies: parts.copies,
    nearby: createNearby(queries),
    viewers: new Viewers({
      ...{ live: createLive(queries), feeds: new EventFeeds({ ...queries, events: opened.events }) },
      ...{ slots, counts: meters.viewers, answers, hot },
    }),
    loadPlaces: createPlacesLoader(platform.readAsset, scheduler),
    baseMap: parts.baseMap,
    sequences: createAppliedSequences(hot),
    versions: createVersions({ ...queries, archive: () => state.opened().archive }),
    scrape: createScrape({
      version,
      meters,
      messages,
      eventLoop: parts.eventLoop,
      hot,
      stores: () => state.directory,
      start: () => state.start,
      bodies,
      viewers: slots,
      mqtt: () => parts.broker.status,
      cluster: () => state.cluster,
      usage: platform.usage,
      countDamaged,
      doctor,
      findings: createFindings({ ...queries, doctor }),
    }),
    answers,
    readAsset: platform.readAsset,
    stripTypes: platform.stripTypes,
    demoSpeed: parts.demoSpeed ?? null,
  };
}

/** Parts of the directory, for once it is open. */
function partsOf(
  state: Serving,
): Pick<
  Services,
  | "ingest"
  | "exactIngest"
  | "editProfile"
  | "editWatches"
  | "correct"
  | "erase"
  | "erasures"
  | "quarantine"
  | "events"
  | "exports"
  | "webhooks"
> {
  return {
    ingest: (appId, batch) => state.opened().ingest(appId, batch),
    exactIngest: (client) => state.opened().exactIngest(client),
    editProfile: (...edit) => state.opened().editProfile(...edit),
    editWatches: {
      create: (...made) => state.opened().editWatches.create(...made),
      replace: (...replaced) => state.opened().editWatches.replace(...replaced),
      delete: (...deleted) => state.opened().editWatches.delete(...deleted),
      import: (...imported) => state.opened().editWatches.import(...imported),
    },
    correct: {
      create: (...made) => state.opened().correct.create(...made),
      preview: (...made) => state.opened().correct.preview(...made),
      undo: (...undone) => state.opened().correct.undo(...undone),
    },
    erase: {
      create: (...made) => state.opened().erase.create(...made),
      preview: (...made) => state.opened().erase.preview(...made),
    },
    erasures: () => state.opened().eraser,
    quarantine: () => state.opened().quarantine,
    events: () => state.opened().eventStore,
    exports: () => state.opened().exports,
    webhooks: () => webhooksOf(state.opened()),
  };
}

function webhooksOf({ webhooks }: ServedDirectory): Pick<OpenWebhooks, "edit" | "resend"> {
  assert(webhooks !== null, "a server has webhooks");
  return webhooks;
}

function createUploadsWith(
  { platform: { startHelper }, state: { stopping } }: ServiceParts,
  exactIngest: ExactIngest,
  archived: ArchiveDependencies,
): Uploads {
  return createUploads({ startHelper, exactIngest, countKnown: createCountKnown(archived), stopping });
}

/** What reads the positions of a device, or of an app. */
function createPositionQueries(archived: HistoryDependencies, stopping: AbortSignal) {
  const readPositions = createReadPositions(archived);
  const deviceDays = createDeviceDays({ ...archived, readPositions });
  const readCoordinates = createReadCoordinates(archived);
  const tracks = createTracks({ ...archived, readCoordinates, stopping });
  const findFleetTracks = createFindFleetTracks(archived);
  const previewFence = createPreviewFence(archived);
  return { readPositions, deviceDays, readCoordinates, tracks, findFleetTracks, previewFence };
}

function archiveOf({ files, state, damagedDirectory, lateWindow = LATE_WINDOW }: ServiceParts) {
  return {
    archive: () => state.opened().archive,
    acknowledgedParts: () => readAcknowledgedParts(files, damagedDirectory),
    lateWindow,
  };
}

/** Counts unacknowledged damage: bytes that could not be saved, parts, and files that were saved. */
async function countDamages({ files, state, damagedDirectory }: ServiceParts): Promise<number> {
  const { damage, archive } = state.opened();
  const unsaved = damage.filter(({ savedAs }) => savedAs === null).length;
  const acknowledged = await readAcknowledgedParts(files, damagedDirectory);
  const parts = [...archive.damaged.keys()].filter((file) => !acknowledged.has(file)).length;
  return unsaved + parts + (await countUnacknowledged(files, damagedDirectory));
}
