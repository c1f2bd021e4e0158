import type { Archive } from "../../src/archive/archive.ts";
import { createArchive } from "../../src/archive/archive.ts";
import { EMPTY_MANIFEST } from "../../src/archive/manifest.ts";
import { systemTimers } from "../../src/lib/schedule/timers.ts";
import type { SealSchedule } from "../../src/service/upkeep/seal/schedule.ts";
import { createSimulatedFiles } from "./disk/simulated-files.ts";

/** An archive without any sealed day. */
export function createEmptyArchive(): Archive {
  const unasked = async () => {
    throw new Error("an empty archive was asked");
  };
  return createArchive({
    files: createSimulatedFiles(),
    directory: "/data/archive",
    damagedDirectory: "/data/damaged",
    manifest: EMPTY_MANIFEST,
    isWritten: true,
    reader: { withSession: unasked, running: 0, waiting: 0, renew: () => {}, close: () => {} },
    timers: systemTimers,
    erasures: () => [],
  });
}

/** A schedule that never seals. */
export const NO_SEALS: Pick<
  SealSchedule,
  "noteReports" | "hasRoomFor" | "hasRoomToFollow" | "foldLate" | "state"
> = {
  noteReports: () => {},
  hasRoomFor: () => true,
  hasRoomToFollow: () => true,
  foldLate: async () => {},
  state: { lastMs: null, isLate: false },
};
