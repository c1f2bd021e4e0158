import type { KeyStore } from "../auth/key-store.ts";
import type { MadeKeys } from "../auth/made-keys.ts";
import type { Sessions } from "../auth/sessions.ts";
import type { ClientMessage } from "../clients/client.ts";
import type { Address, Sender } from "../clients/identity.ts";
import type { Copies } from "../cluster/join/copies.ts";
import type { BaseMap } from "../map/base-map.ts";
import type { LoadPlaces } from "../map/read-places.ts";
import type { AppId } from "../model/ids.ts";
import type { Doctor } from "../service/doctor/doctor.ts";
import type { Exports } from "../service/export/exports.ts";
import type { AppliedSequences } from "../service/ingest/applied-sequences.ts";
import type { ExactIngest } from "../service/ingest/exact-ingest.ts";
import type { Ingest } from "../service/ingest/ingest.ts";
import type { FriendsFor } from "../service/ingest/messages/friends.ts";
import type { TakeMessage } from "../service/ingest/messages/take-message.ts";
import type { Meters } from "../service/metrics/meters.ts";
import type { Scrape } from "../service/metrics/scrape.ts";
import type { MqttStatus } from "../service/metrics/service-metrics.ts";
import type { Quarantine } from "../service/quarantine/quarantine.ts";
import type { CurrentQueries } from "../service/queries/current.ts";
import type { DeviceDays } from "../service/queries/days.ts";
import type { QueryDependencies } from "../service/queries/find-device.ts";
import type { HistoryQueries } from "../service/queries/history/history.ts";
import type { Nearby } from "../service/queries/nearby.ts";
import type { ReadPositions } from "../service/queries/positions.ts";
import type { ReadCoordinates } from "../service/queries/read-coordinates.ts";
import type { Versions } from "../service/queries/versions.ts";
import type { SealState } from "../service/upkeep/seal/schedule.ts";
import type { Viewers } from "./answer/viewers.ts";
import type { BodyBudget } from "./body/body-budget.ts";
import type { AnswerBuffer } from "./encode/answer-buffer.ts";

/**
 * All that endpoints answer from, in one object. A use case that only one endpoint has is made by that endpoint, from
 * the hot store, the clock and the scheduler; those that several share come made.
 */
export interface Services extends QueryDependencies {
  readonly version: string;
  readonly readiness: () => Readiness;
  /** Comes when the service begins to stop. */
  readonly stopping: AbortSignal;
  /** Damages that nobody has acknowledged. */
  readonly countDamaged: () => Promise<number>;
  /** Of a directory that is open. */
  readonly seals: () => SealState;
  readonly ingest: Ingest;
  /** The same for who counts exactly what is new. */
  readonly exactIngest: ExactIngest;
  readonly takeMessage: TakeMessage;
  /** What clients sent and nobody could use. */
  readonly quarantine: () => Quarantine;
  readonly keys: KeyStore;
  /** Who is signed in on the map page. */
  readonly sessions: Sessions;
  readonly madeKeys: MadeKeys;
  readonly bodies: BodyBudget;
  /** Where reports are counted by what became of them. */
  readonly reports: Meters["reports"];
  /** Told of all that is taken in, and asked what is wrong with its devices. */
  readonly doctor: Pick<Doctor, "note" | "lastRequests" | "examine">;
  readonly friendsFor: FriendsFor;
  /** Opens what the devices of a sender encrypt. */
  readonly decryptOf: (sender: Sender, address: Address) => ClientMessage["decrypt"];
  /** The connections to a broker that bring reports to this app; null where there are none. */
  readonly mqttOf: (appId: AppId) => MqttStatus | null;
  readonly current: CurrentQueries;
  readonly history: HistoryQueries;
  readonly readPositions: ReadPositions;
  readonly deviceDays: DeviceDays;
  readonly readCoordinates: ReadCoordinates;
  readonly exports: () => Exports;
  /** What another node copies of this one. */
  readonly copies: Copies;
  readonly nearby: Nearby;
  readonly viewers: Pick<Viewers, "open" | "stop">;
  readonly loadPlaces: LoadPlaces;
  readonly baseMap: () => Pick<BaseMap, "world" | "streets">;
  /** How far memory is in the log, and who waits for more. */
  readonly sequences: AppliedSequences;
  /** What entity tags are made from. */
  readonly versions: Versions;
  readonly scrape: Scrape;
  /** What answers are written into. */
  readonly answers: AnswerBuffer;
  readonly readAsset: ReadAsset;
  /** The JavaScript of a TypeScript module. */
  readonly stripTypes: (source: string) => string;
  /** How many times faster than recorded devices are shown; null where they are real. */
  readonly demoSpeed: number | null;
}

/**
 * How far the service is: it starts, it serves, it stops. A node that lags behind its cluster serves too, and says that
 * others are better asked.
 */
export type Readiness =
  | { readonly status: "starting"; readonly replayed: number; readonly total: number }
  | { readonly status: "ready"; readonly lagMs: number | null }
  | { readonly status: "lagging"; readonly lagMs: number }
  | { readonly status: "stopping" };

/** Reads a file by its URL, or a file of an installed package as `import.meta.resolve` names it. */
export type ReadAsset = (specifier: string) => Promise<Uint8Array>;
