import type { ClientPoint, PointSink } from "../point.ts";
import type { RefusalReason } from "../refusal.ts";

/** What a part of a message tells: a position, something that need not be kept, or nothing that can be used. */
export type Found = ClientPoint | { readonly skipped: string } | { readonly refused: RefusalReason };

export const HEARTBEAT: Found = { skipped: "heartbeat" };
export const NO_FIX: Found = { skipped: "no fix" };
export const NO_POSITION: Found = { refused: "no_position" };
export const UNKNOWN_SHAPE: Found = { refused: "unknown_shape" };

/** `raw` is what the sink keeps where it can't be used: a message of this part alone, undefined for the whole. */
export function handOver(found: Found, raw: unknown, sink: PointSink): void {
  if ("skipped" in found) sink.skip(found.skipped);
  else if ("refused" in found) sink.refuse(found.refused, raw);
  else sink.add(found, raw);
}
