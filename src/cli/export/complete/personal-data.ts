import type { KeyRecord } from "../../../auth/key-file.ts";
import type { Result } from "../../../lib/result.ts";
import type { AppId, DeviceId } from "../../../model/ids.ts";

/** What an app stores about devices and users besides records, in the words of the API. */
export interface PersonalData {
  findApp(): Promise<Result<AppId, DataFault>>;
  /** Whether a device has records, as answers show them or as they were reported. */
  hasRecords(deviceId: DeviceId, originals: boolean): Promise<Result<boolean, DataFault>>;
  /** Null if the device has none. */
  findProfile(deviceId: DeviceId): Promise<Result<Members | null, DataFault>>;
  /** All corrections of the app, active and undone, with their notes. */
  listCorrections(): Promise<Result<readonly ListedCorrection[], DataFault>>;
  /** The quarantine of the app, without bodies. */
  listRefused(): Promise<Result<readonly RefusedSummary[], DataFault>>;
  /** A message of the quarantine with its body; null if it is gone or can't be read. */
  findRefused(id: string): Promise<Result<Members | null, DataFault>>;
  /** How much of a message's body `findRefused` returns. */
  readonly bodyBytesMax: number;
  /** All keys of the directory. */
  listKeys(): Promise<Result<readonly KeyRecord[], DataFault>>;
}

export type Members = Readonly<Record<string, unknown>>;

export interface ListedCorrection {
  readonly device_id: string;
  /** The device or user that shows the records instead, if there is one. */
  readonly to_device_id?: string | undefined;
  readonly to_user_id?: string | undefined;
  readonly state?: "active" | "undone";
}

export interface RefusedSummary {
  readonly id: string;
  readonly key_id?: string | undefined;
  readonly device_id?: string | undefined;
  readonly body_bytes: number;
}

/** A sentence. If it is `withheld`, the caller may not read that part, and the rest can be exported without it. */
export interface DataFault {
  readonly kind: "withheld" | "failed";
  readonly sentence: string;
}

export function failed(sentence: string): DataFault {
  return { kind: "failed", sentence };
}

export function withheld(sentence: string): DataFault {
  return { kind: "withheld", sentence };
}
