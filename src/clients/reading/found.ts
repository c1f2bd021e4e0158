import type { Claim, ClientPoint, PointSink } from "../point.ts";
import type { RefusalReason } from "../refusal.ts";

/** What a part of a message tells: a position, something that need not be kept, or nothing that can be used. */
export type Found =
  | ClientPoint
  | { readonly skipped: string }
  /** `from` says whose it is, as far as what came with it does. */
  | { readonly refused: RefusalReason; readonly from?: Claim };

export const HEARTBEAT: Found = { skipped: "heartbeat" };
export const NO_FIX: Found = { skipped: "no fix" };
export const UNKNOWN_SHAPE: Found = { refused: "unknown_shape" };

/** A part of a message that names its device, but no position. */
export function noPosition({ device, user, isDeviceUnreadable }: Claim): Found {
  return {
    refused: "no_position",
    from: { device, user, ...(isDeviceUnreadable && { isDeviceUnreadable }) },
  };
}

/** `raw` is what the sink keeps where it can't be used: a message of this part alone, undefined for the whole. */
export function handOver(found: Found, raw: unknown, sink: PointSink): void {
  if ("skipped" in found) sink.skip(found.skipped);
  else if ("refused" in found) sink.refuse(found.refused, raw, found.from);
  else sink.add(found, raw);
}
