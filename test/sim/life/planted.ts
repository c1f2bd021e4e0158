import { dirname } from "node:path";
import type { HotStore } from "../../../src/hot/hot-store.ts";
import type { AppendFile, Files } from "../../../src/runtime/files.ts";
import { isPart, MANIFEST } from "./flips.ts";
import { isSegment } from "./log-frames.ts";
import type { LifeKind } from "./plan.ts";
import type { Planted } from "./service.ts";

/** A bug to be found by lives. */
export interface PlantedBug {
  readonly name: string;
  /** The lives that may find it. */
  readonly kind: LifeKind;
  /** A new one for each life. */
  plant(): Planted;
  readonly forgesChecksums?: boolean;
}

/*
 * Each is a disk that lies to the service, or a store in the place of the real one: the service then does what it
 * would do with a line too few, or with two in the wrong order.
 */
export const PLANTED_BUGS: readonly PlantedBug[] = [
  {
    name: "the log's sync is left out",
    kind: "log",
    plant: () => ({
      files: (files) => withAppends(files, (file) => ({ ...file, sync: async () => {} })),
    }),
  },
  {
    name: "batches are acknowledged before the log's sync",
    kind: "log",
    plant: () => ({ files: (files) => withAppends(files, syncedLater) }),
  },
  {
    name: "what a full disk left of a write is not cut back",
    kind: "log",
    plant: () => ({
      files: (files) => withAppends(files, (file) => ({ ...file, truncate: async () => {} })),
    }),
  },
  {
    name: "a changed frame passes for a good one",
    kind: "log",
    plant: () => ({}),
    forgesChecksums: true,
  },
  {
    name: "files are put in place before they are synced",
    kind: "log",
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
    plant: () => ({
      files: (files) =>
        withReplace(files, async (file, rename) => {
          await file.sync();
          await rename();
        }),
    }),
  },
  {
    name: "replaced parts are discarded and the log is trimmed before the manifest is on the disk",
    kind: "seals",
    plant: () => ({ files: withLateManifest }),
  },
  { name: "the checksums of parts are not compared", kind: "seals", plant: plantUncheckedParts },
  {
    name: "a seal drops late rows that it did not write",
    kind: "seals",
    plant: () => ({ hot: withoutLateRows }),
  },
];

/** Replaces the files of the log's segments. */
function withAppends(files: Files, replace: (file: AppendFile) => AppendFile): Files {
  return {
    ...files,
    async openAppend(path) {
      const file = await files.openAppend(path);
      return isSegment(path) ? replace(file) : file;
    },
  };
}

/** So many turns of the microtask queue are a few operations of the simulated disk. */
const LATE_TURNS = 60;

function syncedLater(file: AppendFile): AppendFile {
  let syncing: Promise<void> = Promise.resolve();
  return {
    ...file,
    async sync() {
      await syncing; // Of the group before.
      syncing = afterTurns(LATE_TURNS).then(file.sync);
      syncing.catch(() => undefined);
    },
    async close() {
      await syncing;
      await file.close();
    },
  };
}

async function afterTurns(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await undefined;
}

/** Takes `replace` apart, for its steps to be done in another order. */
function withReplace(
  files: Files,
  finish: (
    file: AppendFile,
    rename: () => Promise<void>,
    syncDirectory: () => Promise<void>,
  ) => Promise<void>,
): Files {
  return {
    ...files,
    async replace(path, bytes) {
      const temporary = `${path}.1.tmp`;
      const file = await files.openAppend(temporary);
      await file.append([bytes]);
      await finish(
        file,
        () => files.rename(temporary, path),
        () => files.syncDirectory(dirname(path)),
      );
      await file.close();
    },
  };
}

function withLateManifest(files: Files): Files {
  let replacing: Promise<void> = Promise.resolve();
  return {
    ...files,
    async replace(path, bytes) {
      if (path !== MANIFEST) return files.replace(path, bytes);
      await replacing;
      replacing = afterTurns(LATE_TURNS).then(() => files.replace(path, bytes));
      replacing.catch(() => undefined);
    },
  };
}

/** Whoever reads a part gets what was written, whatever has become of it. */
function plantUncheckedParts(): Planted {
  const written = new Map<string, Uint8Array>();
  return {
    files: (files) => ({
      ...files,
      async replace(path, bytes) {
        if (isPart(path)) written.set(path, bytes);
        await files.replace(path, bytes);
      },
      async read(path) {
        const bytes = await files.read(path);
        return written.get(path) ?? bytes;
      },
    }),
  };
}

function withoutLateRows(hot: HotStore): HotStore {
  const seal: HotStore["seal"] = (days) => {
    const inMemory = hot.daysInMemory();
    const sealing = hot.seal(days);
    const rows = sealing.rows.bind(sealing);
    const isSealed = (day: number) => inMemory.some((each) => each.day === day && each.isSealed);
    sealing.rows = (day) => (isSealed(day) ? [] : rows(day));
    return sealing;
  };
  return Object.create(hot, { seal: { value: seal } }) as HotStore;
}
