import type { DeviceId, UserId } from "./ids.ts";

/** A device whose records answers show as another's, because a correction assigned the whole device. */
export interface DeviceAlias {
  /** The device as it reports. */
  readonly deviceId: DeviceId;
  /** The device that its records show as, at the end of a chain of such corrections. */
  readonly shownId: DeviceId;
  /** The devices from the next of the chain up to `shownId`. What corrections hide of any of them is hidden. */
  readonly via: readonly DeviceId[];
  /** The user that its records show as; null keeps that of each record. */
  readonly userId: UserId | null;
  /** The record with the lowest rank is shown of those of one instant. A device's own have rank 0. */
  readonly rank: number;
}
