import type { AppId } from "../model/ids.ts";
import type { ClientMessage, ClientName } from "./client.ts";
import type { RefusalReason } from "./point.ts";
import type { SpeedUnit } from "./reading/speed.ts";

/** How a message came, as far as it may be kept: without keys. */
export interface MessageSource {
  /** `GET`, `POST`, or `MQTT`. */
  readonly method: string;
  /** As it is declared: `/ingest/osmand/k/:key/:device`; of a broker the topic. */
  readonly path: string;
  readonly body: Uint8Array;
}

/** A message, or one point of it, that could not be used, with all that it takes to try it again. */
export interface RefusedMessage {
  readonly appId: AppId;
  readonly keyId: string;
  /** The client of the path. */
  readonly client: ClientName;
  readonly reason: RefusalReason;
  readonly arrivedMs: number;
  readonly method: string;
  readonly path: string;
  /** Whose it seems to be; for those who look through the list. */
  readonly deviceId: string | null;
  /** What path and query said of device and user. */
  readonly device: string | null;
  readonly user: string | null;
  readonly basicUser: string | null;
  readonly topic: string | null;
  readonly speedUnit: SpeedUnit | null;
  readonly headers: ClientMessage["headers"];
  /** Parameters as text, without those that hold keys. */
  readonly query: string;
  readonly body: Uint8Array;
  /** Whether the body is only the beginning of what was sent; then it can't be tried again. */
  readonly isCut: boolean;
  /** Which of the message's points it is, from 0; null for the whole message. */
  readonly index: number | null;
}
