import type { KeyStore } from "../auth/key-store.ts";
import type { MadeKeys } from "../auth/made-keys.ts";
import type { Sessions } from "../auth/sessions.ts";
import type { ClientMessage } from "../clients/client.ts";
import type { Address, Sender } from "../clients/identity.ts";
import type { Copies } from "../cluster/join/copies.ts";
import type { Uploads } from "../import/upload/uploads.ts";
import type { BaseMap } from "../map/base-map.ts";
import type { LoadPlaces } from "../map/read-places.ts";
import type { AppId } from "../model/ids.ts";
import type { Correct } from "../service/corrections/correct.ts";
import type { Doctor } from "../service/doctor/doctor.ts";
import type { Erase } from "../service/erasures/erase.ts";
import type { ErasureStates } from "../service/erasures/states.ts";
import type { Exports } from "../service/export/exports.ts";
import type { EditWatches } from "../service/geofences/edit-watches.ts";
import type { PreviewFence } from "../service/geofences/preview.ts";
import type { AppliedSequences } from "../service/ingest/applied-sequences.ts";
import type { EditProfile } from "../service/ingest/edit-profile.ts";
import type { ExactIngest } from "../service/ingest/exact-ingest.ts";
import type { Ingest } from "../service/ingest/ingest.ts";
import type { FriendsFor } from "../service/ingest/messages/friends.ts";
import type { IngestMessage } from "../service/ingest/messages/ingest-message.ts";
import type { Meters } from "../service/metrics/meters.ts";
import type { Scrape } from "../service/metrics/scrape.ts";
import type { MqttStatus } from "../service/metrics/service-metrics.ts";
import type { Quarantine } from "../service/quarantine/quarantine.ts";
import type { CurrentQueries } from "../service/queries/current.ts";
import type { DeviceDays } from "../service/queries/days.ts";
import type { QueryDependencies } from "../service/queries/find-device.ts";
import type { FindFleetTracks } from "../service/queries/fleet-tracks.ts";
import type { HistoryQueries } from "../service/queries/history/history.ts";
import type { Nearby } from "../service/queries/nearby.ts";
import type { ReadPositions } from "../service/queries/positions.ts";
import type { ReadCoordinates } from "../service/queries/read-coordinates.ts";
import type { Tracks } from "../service/queries/tracks-tile.ts";
import type { Versions } from "../service/queries/versions.ts";
import type { SealState } from "../service/upkeep/seal/schedule.ts";
import type { EventStore } from "../service/watching/event-store.ts";
import type { OpenWebhooks } from "../service/webhooks/open-webhooks.ts";
import type { Viewers } from "./answer/viewers.ts";
import type { BodyBudget } from "./body/body-budget.ts";
import type { AnswerBuffer } from "./encode/answer-buffer.ts";

/**
 * Everything that endpoints need, in one object. A use case of a single endpoint is created by that endpoint from the
 * hot store, the clock and the scheduler; shared ones are here.
 */
export interface Services extends QueryDependencies {
  readonly version: string;
  readonly readiness: () => Readiness;
  /** Aborted when the service begins to stop. */
  readonly stopping: AbortSignal;
  /** Counts damages that no operator has acknowledged. */
  readonly countDamaged: () => Promise<number>;
  /** Fails unless the directory is open. */
  readonly seals: () => SealState;
  readonly ingest: Ingest;
  /** Like `ingest`, but counts exactly which records are new. */
  readonly exactIngest: ExactIngest;
  readonly editProfile: EditProfile;
  readonly editWatches: EditWatches;
  readonly correct: Correct;
  readonly erase: Erase;
  readonly erasures: () => ErasureStates;
  /** Imports files that clients send whole. */
  readonly uploads: Uploads;
  readonly ingestMessage: IngestMessage;
  readonly quarantine: () => Quarantine;
  readonly webhooks: () => Pick<OpenWebhooks, "edit" | "resend">;
  readonly keys: KeyStore;
  readonly sessions: Sessions;
  readonly madeKeys: MadeKeys;
  readonly bodies: BodyBudget;
  /** Counts reports by result. */
  readonly reports: Meters["reports"];
  /** Observes all reports and diagnoses problems of their devices. */
  readonly doctor: Pick<Doctor, "note" | "lastRequests" | "examine" | "forget">;
  readonly friendsFor: FriendsFor;
  readonly decryptOf: (sender: Sender, address: Address) => ClientMessage["decrypt"];
  /** The broker connections that bring reports to this app; null if there are none. */
  readonly mqttOf: (appId: AppId) => MqttStatus | null;
  readonly current: CurrentQueries;
  readonly history: HistoryQueries;
  readonly readPositions: ReadPositions;
  readonly deviceDays: DeviceDays;
  readonly findFleetTracks: FindFleetTracks;
  readonly previewFence: PreviewFence;
  /** Events of geofences and alerts. Fails unless the directory is open. */
  readonly events: () => EventStore;
  readonly readCoordinates: ReadCoordinates;
  readonly tracks: Tracks;
  readonly exports: () => Exports;
  readonly copies: Copies;
  readonly nearby: Nearby;
  readonly viewers: Pick<Viewers, "open" | "openEvents" | "openBoth" | "stop">;
  readonly loadPlaces: LoadPlaces;
  readonly baseMap: () => Pick<BaseMap, "world" | "streets">;
  /** How far memory is in the log, and the requests that wait for more. */
  readonly sequences: AppliedSequences;
  readonly versions: Versions;
  readonly scrape: Scrape;
  /** The buffer in which answers are written. */
  readonly answers: AnswerBuffer;
  readonly readAsset: ReadAsset;
  readonly stripTypes: (source: string) => string;
  /** The demo's time factor; null if devices are real. */
  readonly demoSpeed: number | null;
}

/**
 * The service starts, serves, and stops. A node that lags behind its cluster serves, but other nodes have newer data.
 */
export type Readiness =
  | { readonly status: "starting"; readonly replayed: number; readonly total: number }
  | { readonly status: "ready"; readonly lagMs: number | null }
  | { readonly status: "lagging"; readonly lagMs: number }
  | { readonly status: "stopping" };

/** Reads a file by its URL, or a file of an installed package as `import.meta.resolve` names it. */
export type ReadAsset = (specifier: string) => Promise<Uint8Array>;
