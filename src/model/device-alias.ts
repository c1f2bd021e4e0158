import type { DeviceId, UserId } from "./ids.ts";

/**
 * Names a device that a correction assigned to a user alone as it shows: apart from its records as it reports them, as
 * if they were another device's. Corrections from then on are of what shows. No device has such an id, and no answer.
 */
export function stageOf(deviceId: DeviceId): DeviceId {
  return `${deviceId}${STAGE_END}` as DeviceId;
}

/** The device of a stage; other ids stay as they are. */
export function deviceOf(stage: DeviceId): DeviceId {
  return stage.endsWith(STAGE_END) ? (stage.slice(0, -STAGE_END.length) as DeviceId) : stage;
}

/** Ids of devices have no control characters. */
const STAGE_END = "\u0001";

/** A device whose records show as another's or another user's, because a correction assigned the whole device. */
export interface DeviceAlias {
  /** The device as it reports. */
  readonly deviceId: DeviceId;
  /** The device that its records show as, at the end of a chain of such corrections. */
  readonly shownId: DeviceId;
  /**
   * The devices from the next of the chain up to `shownId`, or its stage. What corrections hide of any of them is
   * hidden.
   */
  readonly via: readonly DeviceId[];
  /** The user that its records show as; null keeps that of each record. */
  readonly userId: UserId | null;
  /** The record with the lowest rank is shown of those of one instant. A device's own have rank 0. */
  readonly rank: number;
}
