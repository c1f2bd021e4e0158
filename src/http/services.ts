import type { KeyRecord } from "../auth/key-file.ts";
import type { ClientMessage } from "../clients/client.ts";
import type { Address, Sender } from "../clients/sender.ts";
import type { Doctor } from "../doctor/doctor.ts";
import type { Meters } from "../metrics/meters.ts";
import type { MqttStatus } from "../metrics/mqtt-metrics.ts";
import type { Scrape } from "../metrics/scrape.ts";
import type { AppId } from "../model/ids.ts";
import type { Quarantine } from "../quarantine/quarantine.ts";
import type { FriendsFor } from "../service/clients/friends.ts";
import type { TakeMessage } from "../service/clients/take-message.ts";
import type { CurrentQueries } from "../service/current.ts";
import type { QueryDependencies } from "../service/find-device.ts";
import type { HistoryQueries } from "../service/history/history.ts";
import type { Ingest } from "../service/ingest.ts";
import type { Nearby } from "../service/nearby.ts";
import type { BodyBudget } from "./body/body-budget.ts";
import type { AnswerBuffer } from "./encode/answer-buffer.ts";

/**
 * All that endpoints answer from, in one object. A use case that only one endpoint has is made by that endpoint, from
 * the hot store, the clock and the scheduler; those that several share come made.
 */
export interface Services extends QueryDependencies {
  readonly version: string;
  readonly readiness: () => Readiness;
  /** Damages that nobody has acknowledged. */
  readonly countDamaged: () => Promise<number>;
  readonly ingest: Ingest;
  readonly takeMessage: TakeMessage;
  /** What clients sent and nobody could use. */
  readonly quarantine: () => Quarantine;
  /** All keys, revoked and expired ones too. */
  readonly listKeys: () => readonly KeyRecord[];
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
  readonly nearby: Nearby;
  readonly scrape: Scrape;
  /** What answers are written into. */
  readonly answers: AnswerBuffer;
  readonly readAsset: ReadAsset;
}

/** How far the service is: it starts, it serves, it stops. */
export type Readiness =
  | { readonly status: "starting"; readonly replayed: number; readonly total: number }
  | { readonly status: "ready" }
  | { readonly status: "stopping" };

/** Reads a file by its URL, or a file of an installed package as `import.meta.resolve` names it. */
export type ReadAsset = (specifier: string) => Promise<Uint8Array>;
