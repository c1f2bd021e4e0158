import type { AppId } from "../model/ids.ts";

/** In place of the id of a key, for what a broker brings. */
export const BROKER_KEY_ID = "mqtt";

/** Who sends: a key, or a broker in an app's name. */
export interface Sender {
  readonly appId: AppId;
  /** `BROKER_KEY_ID` for a broker. */
  readonly keyId: string;
  /** The last characters of the key, which name a device that has no other name. */
  readonly lastFour: string;
  /** What the key is bound to: it reports as them, whatever its messages claim. */
  readonly deviceId: string | null;
  readonly userId: string | null;
  /** Whether it may ask for other devices too. */
  readonly mayRead: boolean;
}

/** Where the operator's URL says whose device it is: `/ingest/osmand/k/KEY/pixel7`, `?device_id=`, `?user_id=`. */
export interface Address {
  readonly device: string | null;
  readonly user: string | null;
}
