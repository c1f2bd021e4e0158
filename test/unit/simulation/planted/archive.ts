import type { ArchiveEngine } from "../../../../src/app/directory.ts";
import type { Archive } from "../../../../src/archive/archive.ts";
import type { Connection } from "../../../../src/archive/duckdb/database.ts";
import type { Manifest } from "../../../../src/archive/manifest.ts";
import type { HotStore } from "../../../../src/hot/hot-store.ts";
import type { Files } from "../../../../src/runtime/files.ts";
import { isPart, MANIFEST } from "../disk/flips.ts";
import { ARCHIVE_DIRECTORY, type Planted } from "../run/service.ts";
import { afterTurns, LATE_TURNS } from "./log.ts";

/* Disks that lie to seals, and stores and engines in the place of the real ones. */

export function withLateManifest(files: Files): Files {
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
export function plantUncheckedParts(): Planted {
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

export function withoutLateRows(hot: HotStore): HotStore {
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

/** The disk has the new manifest, memory the old one, and puts it in place no more. */
export function withForgottenSwap(files: Files): Files {
  let isForgotten = false;
  return {
    ...files,
    async replace(path, bytes) {
      if (path !== MANIFEST) return files.replace(path, bytes);
      if (isForgotten) {
        isForgotten = false;
        return;
      }
      const before = await files.read(path).catch(() => null);
      try {
        await files.replace(path, bytes);
      } catch (error) {
        const after = await files.read(path).catch(() => null);
        isForgotten = !Bun.deepEquals(before, after);
        throw error;
      }
    },
  };
}

/** What is due is as it was when the seal began, some operations before. */
export function plantEarlyPlan(): Planted {
  let store: HotStore | null = null;
  let early: ReturnType<HotStore["daysInMemory"]> | null = null;
  return {
    files: (files) => ({
      ...files,
      async list(path) {
        if (path === ARCHIVE_DIRECTORY) early = store?.daysInMemory() ?? null;
        return files.list(path);
      },
    }),
    hot(hot) {
      store = hot;
      const daysInMemory = () => {
        const days = early ?? hot.daysInMemory();
        early = null;
        return days;
      };
      return Object.create(hot, { daysInMemory: { value: daysInMemory } }) as HotStore;
    },
  };
}

export function withoutByteOrderMarks(engine: ArchiveEngine): ArchiveEngine {
  return {
    ...engine,
    async openDatabase(options) {
      const database = await engine.openDatabase(options);
      return { ...database, connect: async () => withoutMarks(await database.connect()) };
    },
  };
}

function withoutMarks(connection: Connection): Connection {
  return {
    ...connection,
    async run(sql, values, signal) {
      const rows = await connection.run(sql, values, signal);
      const texts = (column: number) =>
        rows.texts(column).map((text) => text?.replace(/^\uFEFF/, "") ?? null);
      return { ...rows, texts };
    },
  };
}

/** Once the manifest is swapped, a refusal is none of the kind that the seal puts up with. */
export function withGraveRefusals(files: Files): Files {
  let isSwapped = false;
  async function graveOnceSwapped<Result>(operation: Promise<Result>): Promise<Result> {
    try {
      return await operation;
    } catch (error) {
      throw isSwapped ? new Error("refused", { cause: error }) : error;
    }
  }
  return {
    ...files,
    async replace(path, bytes) {
      await files.replace(path, bytes);
      isSwapped = path === MANIFEST;
    },
    remove: (path) => graveOnceSwapped(files.remove(path)),
    rename: (from, to) => graveOnceSwapped(files.rename(from, to)),
    list: (path) => graveOnceSwapped(files.list(path)),
  };
}

export function plantWithoutExpiredDays(): Planted {
  const shown = new WeakMap<Manifest, Manifest>(); // One for each: answers tell by it whether anything has changed.
  return {
    archive(archive) {
      const { manifest } = archive;
      const without = shown.get(manifest) ?? { ...manifest, expired: new Map() };
      shown.set(manifest, without);
      return Object.create(archive, { manifest: { value: without } }) as Archive;
    },
  };
}
