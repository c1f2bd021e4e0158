import { randomUUID } from "node:crypto";
import { readFileSync, type Stats, statSync } from "node:fs";
import { readdir, stat, statfs, unlink } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { codeOf } from "./node-error.ts";
import { createFile } from "./owner.ts";

/** What a server needs of this machine, as this process sees it. */
export interface Machine {
  /** How many files this process may have open; null if the system does not say. */
  readonly descriptorsMax: number | null;
  readonly folder: Folder;
}

/** A data directory, or the nearest folder above it that exists. */
export interface Folder {
  readonly path: string;
  readonly freeBytes: number;
  /** Whether its files are in the machine's memory instead of on a disk. */
  readonly isInMemory: boolean;
  /** The system's code for why a file can't be written and synced there; null if it can. */
  readonly writeErrorCode: string | null;
  /** Whether users outside of its group have any permission on it. False for a folder above the data directory. */
  readonly isOpenToAll: boolean;
  /** When the newest of its entries changed; null if it has none, and for a folder above the data directory. */
  readonly newestMs: number | null;
}

export async function readMachine(dataDir: string): Promise<Machine> {
  return { descriptorsMax: readDescriptorsMax(), folder: await readFolder(resolve(dataDir)) };
}

function readDescriptorsMax(): number | null {
  try {
    const limits = readFileSync("/proc/self/limits", "utf8");
    const soft = /^Max open files +(\w+)/m.exec(limits)?.[1];
    return soft === "unlimited" ? Number.POSITIVE_INFINITY : Number(soft);
  } catch {
    return null; // The system is not Linux, or the runtime is Deno, which does not let programs read this file.
  }
}

/** The types of tmpfs and ramfs on Linux. */
const MEMORY_TYPES: readonly number[] = [0x01021994, 0x858458f6];
const OTHERS_MODE = 0o007;

async function readFolder(dataDir: string): Promise<Folder> {
  const path = nearestFolder(dataDir);
  const { bavail, bsize, type } = await statfs(path);
  return {
    path,
    freeBytes: bavail * bsize,
    isInMemory: MEMORY_TYPES.includes(type),
    writeErrorCode: await tryToWrite(path),
    isOpenToAll: path === dataDir && (statSync(path).mode & OTHERS_MODE) !== 0,
    newestMs: path === dataDir ? await newestOf(path) : null,
  };
}

function nearestFolder(path: string): string {
  const isThere = statSync(path, { throwIfNoEntry: false }) !== undefined;
  return isThere || dirname(path) === path ? path : nearestFolder(dirname(path));
}

/** Writes a file, syncs it and removes it. */
async function tryToWrite(folder: string): Promise<string | null> {
  const path = join(folder, `.wherehouse-${randomUUID()}`);
  try {
    const handle = await createFile(path, "wx");
    try {
      await handle.write("x");
      await handle.sync();
    } finally {
      await handle.close();
      await unlink(path);
    }
    return null;
  } catch (error) {
    return codeOf(error);
  }
}

async function newestOf(folder: string): Promise<number | null> {
  const names = await readdir(folder).catch(() => []);
  const stats = await Promise.all(names.map((name) => stat(join(folder, name)).catch(() => null)));
  const times = stats.filter((each): each is Stats => each !== null).map(({ mtimeMs }) => mtimeMs);
  return times.length === 0 ? null : Math.max(...times);
}
