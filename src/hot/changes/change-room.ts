import { SharedPool } from "../../lib/schedule/shared-pool.ts";

/** How many changes are remembered. */
export interface ChangeRoom {
  /** What rings may grow by, of all apps together. */
  readonly pool: Pick<SharedPool, "take" | "give">;
  /** Of one app; a power of two. */
  readonly changesMax: number;
  nowMs(): number;
}

/** A fleet that makes 2,000 changes a second may be away for half a minute and miss none. */
const CHANGES_MAX = 65_536;
/** 64 MiB, which an app comes to 2 MiB of. */
const ALL_CHANGES_MAX = 32 * CHANGES_MAX;

export function createChangeRoom(): ChangeRoom {
  return {
    pool: new SharedPool(ALL_CHANGES_MAX),
    changesMax: CHANGES_MAX,
    nowMs: () => performance.now(),
  };
}
