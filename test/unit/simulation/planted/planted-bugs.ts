import { KNOWN_SALT } from "../reports/forgery.ts";
import type { RunKind } from "../run/plan.ts";
import type { Planted } from "../run/service.ts";
import {
  plantEarlyPlan,
  plantUncheckedParts,
  plantWithoutExpiredDays,
  withForgottenSwap,
  withGraveRefusals,
  withLateManifest,
  withoutByteOrderMarks,
  withoutLateRows,
} from "./archive.ts";
import { syncedLater, withAppends, withBelievedJumps, withReplace } from "./log.ts";

/** A bug to be found by simulated runs. */
export interface PlantedBug {
  readonly name: string;
  /** The runs that may find it. */
  readonly kind: RunKind;
  /** A new one for each run. */
  plant(): Planted;
  readonly forgesChecksums?: boolean;
  /** A run that finds it soon, or from which on one does. */
  readonly near?: number;
}

/*
 * Each is a disk that lies to the service, or a store in the place of the real one: the service then does what it
 * would do with a line too few, or with two in the wrong order.
 */
export const PLANTED_BUGS: readonly PlantedBug[] = [
  {
    name: "the log's sync is left out",
    kind: "log",
    near: 14,
    plant: () => ({
      files: (files) => withAppends(files, (file) => ({ ...file, sync: async () => {} })),
    }),
  },
  {
    name: "batches are acknowledged before the log's sync",
    kind: "log",
    near: 52,
    plant: () => ({ files: (files) => withAppends(files, syncedLater) }),
  },
  {
    name: "what a full disk left of a write is not cut back",
    kind: "log",
    near: 42,
    plant: () => ({
      files: (files) => withAppends(files, (file) => ({ ...file, truncate: async () => {} })),
    }),
  },
  {
    name: "a changed frame passes for a good one",
    kind: "log",
    near: 5,
    plant: () => ({}),
    forgesChecksums: true,
  },
  {
    name: "files are put in place before they are synced",
    kind: "log",
    near: 125,
    plant: () => ({
      files: (files) =>
        withReplace(files, async (file, rename, syncDirectory) => {
          await rename();
          await syncDirectory();
          await file.sync();
        }),
    }),
  },
  {
    name: "the names of files that are put in place are not synced",
    kind: "log",
    near: 6,
    plant: () => ({
      files: (files) =>
        withReplace(files, async (file, rename) => {
          await file.sync();
          await rename();
        }),
    }),
  },
  {
    name: "a frame that a client made is taken for the log's own",
    kind: "log",
    near: 56,
    plant: () => ({ createSalt: () => KNOWN_SALT }),
  },
  {
    name: "a jump of sequences is believed, and the segments after it are passed over",
    kind: "log",
    near: 35,
    plant: () => ({ files: withBelievedJumps }),
  },
  {
    name: "replaced parts are discarded and the log is trimmed before the manifest is on the disk",
    kind: "seals",
    near: 2,
    plant: () => ({ files: withLateManifest }),
  },
  { name: "the checksums of parts are not compared", kind: "seals", near: 68, plant: plantUncheckedParts },
  {
    name: "a seal drops late rows that it did not write",
    kind: "seals",
    near: 5,
    plant: () => ({ hot: withoutLateRows }),
  },
  {
    name: "a swap whose last sync fails is taken for one that never was",
    kind: "seals",
    near: 97,
    plant: () => ({ files: withForgottenSwap }),
  },
  {
    name: "a seal takes the log's sequence later than it looks for what is due",
    kind: "seals",
    near: 50,
    plant: plantEarlyPlan,
  },
  {
    name: "a mark of the byte order is dropped on the way out of DuckDB",
    kind: "seals",
    near: 5,
    plant: () => ({ engine: withoutByteOrderMarks }),
  },
  {
    name: "a seal that archived fails over a file that it could not remove",
    kind: "seals",
    near: 121,
    plant: () => ({ files: withGraveRefusals }),
  },
  {
    name: "answers lack the expired days when the clock is set back",
    kind: "seals",
    near: 14,
    plant: plantWithoutExpiredDays,
  },
];
