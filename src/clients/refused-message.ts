import type { AppId } from "../model/ids.ts";
import type { ClientMessage, ClientName } from "./client.ts";
import type { RefusalReason } from "./point.ts";
import type { SpeedUnit } from "./reading/speed.ts";

/** How a message arrived, without its keys. */
export interface MessageSource {
  readonly method: string;
  /** The declared path, such as `/ingest/osmand/k/:key/:device`, or the broker's topic. */
  readonly path: string;
  readonly body: Uint8Array;
}

/** A message, or one point of it, that could not be used, with everything that a replay needs. */
export interface RefusedMessage {
  readonly appId: AppId;
  readonly keyId: string;
  readonly client: ClientName;
  readonly reason: RefusalReason;
  readonly arrivedMs: number;
  readonly method: string;
  readonly path: string;
  /** The probable sender, for people who read the list. */
  readonly deviceId: string | null;
  /** The device and user of the path and query. */
  readonly device: string | null;
  readonly user: string | null;
  readonly basicUser: string | null;
  readonly topic: string | null;
  readonly speedUnit: SpeedUnit | null;
  readonly headers: ClientMessage["headers"];
  /** Parameters as text, without keys. */
  readonly query: string;
  readonly body: Uint8Array;
  /** Whether the body is only the beginning of what was sent, so that it can't be replayed. */
  readonly isCut: boolean;
  /** The index of the point in the message, from 0; null for the whole message. */
  readonly index: number | null;
}
