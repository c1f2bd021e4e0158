import { dirname } from "node:path";
import { putDurably } from "../../../src/runtime/durable-names.ts";
import { type AppendFile, FileError, type Files } from "../../../src/runtime/files.ts";
import { createSimulatedInode, type SimulatedInode } from "./simulated-inode.ts";

export type FileOperation = keyof Files | keyof AppendFile;

/**
 * A disk in memory that forgets as real ones do: appended bytes last from the next `sync` of their file, names
 * from the next `syncDirectory`. `replace` is made of those steps, each of which can fail or be the last.
 */
export interface SimulatedFiles extends Files {
  /** Room for the bytes of all files. An append beyond it writes what fits, then fails with ENOSPC. */
  capacityBytes: number;
  /** Runs before each operation, which waits for it and fails with what it throws. */
  beforeOperation: ((operation: FileOperation, path: string) => void | Promise<void>) | null;
  /**
   * The next such operation does nothing and fails; a `sync` that fails, or a `syncDirectory` with EIO, loses what it
   * should have written, a failed `append` may have written a beginning.
   */
  failNext(operation: FileOperation, code: string, writtenBytes?: number): void;
  /**
   * The power fails: every operation from now on fails, and the result is the disk as it is found again.
   * With `random`, some of what was not synced has survived; without, none of it.
   */
  crash(random?: () => number): SimulatedFiles;
  /** All files as the program sees them, by path. */
  contents(): Map<string, Uint8Array>;
}

interface Names {
  readonly files: Map<string, SimulatedInode>;
  readonly directories: Set<string>;
}

/**
 * A change of names. It lasts from the next sync of any of its directories; where that sync fails nobody knows whether
 * it lasts, and no later sync brings it to the disk: the system takes it for written.
 */
interface NameChange {
  readonly directories: readonly string[];
  apply(files: Map<string, SimulatedInode>): void;
  state: "new" | "doubtful" | "durable";
}

interface Fault {
  readonly operation: FileOperation;
  readonly code: string;
  readonly writtenBytes: number;
}

/** A disk that holds these files already. */
export function createSimulatedFiles(contents: ReadonlyMap<string, Uint8Array> = new Map()): SimulatedFiles {
  const names: Names = { files: new Map(), directories: new Set(["/"]) };
  for (const [path, bytes] of contents) {
    addDirectories(names.directories, dirname(path));
    names.files.set(path, createSimulatedInode(bytes));
  }
  return simulatedFiles(names);
}

function isWithin(path: string, directory: string): boolean {
  return path === directory || path.startsWith(`${directory}/`);
}

/** Counts on through crashes, so that a leftover is never written to. */
let temporaryFiles = 0;

function addDirectories(directories: Set<string>, path: string): void {
  directories.add(path);
  if (dirname(path) !== path) addDirectories(directories, dirname(path));
}

function simulatedFiles({ files, directories }: Names): SimulatedFiles {
  const durableFiles = new Map(files);
  /** Since then, in order; the first is not durable. */
  let nameChanges: NameChange[] = [];
  let hasPower = true;
  const faults: Fault[] = [];

  /** Lets the operation happen at one instant, told what it is to fail with; after it the power may fail, or before. */
  async function perform<Result>(
    operation: FileOperation,
    path: string,
    act: (fault: Fault | null) => Result,
  ): Promise<Result> {
    if (!hasPower) throw new FileError(operation, path, "EIO");
    await disk.beforeOperation?.(operation, path);
    if (!hasPower) throw new FileError(operation, path, "EIO");
    const index = faults.findIndex((fault) => fault.operation === operation);
    return act(index < 0 ? null : faults.splice(index, 1)[0]!);
  }

  function performOrFail<Result>(operation: FileOperation, path: string, act: () => Result): Promise<Result> {
    return perform(operation, path, (fault) => {
      if (fault !== null) throw new FileError(operation, path, fault.code);
      return act();
    });
  }

  function find(operation: FileOperation, path: string): SimulatedInode {
    const inode = files.get(path);
    if (inode === undefined)
      throw new FileError(operation, path, directories.has(path) ? "EISDIR" : "ENOENT");
    return inode;
  }

  function change(directoriesOfIt: readonly string[], apply: NameChange["apply"]): void {
    nameChanges.push({ directories: directoriesOfIt, apply, state: "new" });
    apply(files);
  }

  /** What became of the names of a directory that were not synced before. */
  function settleNames(directory: string, state: NameChange["state"]): void {
    for (const each of nameChanges)
      if (each.state === "new" && each.directories.includes(directory)) each.state = state;
    const left = nameChanges.findIndex((each) => each.state !== "durable");
    const settled = left < 0 ? nameChanges : nameChanges.slice(0, left);
    for (const each of settled) each.apply(durableFiles);
    nameChanges = nameChanges.slice(settled.length);
  }

  /** Names of a directory change in order, so what survives of new ones is a beginning. */
  function survivingNames(random: (() => number) | undefined): NameChange[] {
    let left = nameChanges.filter(({ state }) => state === "new").length;
    left = random === undefined ? 0 : Math.floor(random() * (left + 1));
    return nameChanges.filter(({ state }) => {
      if (state === "new") return left-- > 0;
      return state === "durable" || (random !== undefined && random() < 0.5);
    });
  }

  function freeBytes(): number {
    let used = 0;
    for (const inode of new Set(files.values())) used += inode.size;
    return Math.max(0, disk.capacityBytes - used);
  }

  function open(path: string): SimulatedInode {
    const directory = dirname(path);
    if (!directories.has(directory)) throw new FileError("openAppend", path, "ENOENT");
    const inode = files.get(path) ?? createSimulatedInode();
    if (!files.has(path)) change([directory], (all) => all.set(path, inode));
    return inode;
  }

  function appendFile(path: string, inode: SimulatedInode): AppendFile {
    return {
      append: (parts) =>
        perform("append", path, (fault) => {
          let room = fault?.writtenBytes ?? Number.POSITIVE_INFINITY;
          for (const part of parts) {
            const fitting = part.subarray(0, Math.min(room, freeBytes()));
            inode.append(fitting);
            room -= fitting.length;
            if (fitting.length < part.length) throw new FileError("append", path, fault?.code ?? "ENOSPC");
          }
          if (fault !== null) throw new FileError("append", path, fault.code);
        }),
      sync: () =>
        perform("sync", path, (fault) => {
          if (fault === null) return inode.sync();
          inode.failSync();
          throw new FileError("sync", path, fault.code);
        }),
      truncate: (sizeBytes) => performOrFail("truncate", path, () => inode.truncate(sizeBytes)),
      close: () => performOrFail("close", path, () => {}),
    };
  }

  function isEmpty(directory: string): boolean {
    return ![...files.keys(), ...directories].some((path) => path.startsWith(`${directory}/`));
  }

  /** Directories last from the moment they are made; the names of the files in one change with a sync of its parent. */
  function renameDirectory(from: string, to: string): void {
    if (files.has(to)) throw new FileError("rename", from, "ENOTDIR");
    if (!isEmpty(to)) throw new FileError("rename", from, "ENOTEMPTY");
    for (const path of [...directories])
      if (isWithin(path, from)) directories.add(to + path.slice(from.length));
    change([dirname(from), dirname(to)], (all) => {
      for (const [path, inode] of [...all]) {
        if (!isWithin(path, from)) continue;
        all.delete(path);
        all.set(to + path.slice(from.length), inode);
      }
    });
    for (const path of [...directories]) if (isWithin(path, from)) directories.delete(path);
  }

  async function writeAndRename(path: string, bytes: Uint8Array): Promise<void> {
    const temporary = `${path}.${++temporaryFiles}.tmp`;
    try {
      const file = await disk.openAppend(temporary);
      await file.append([bytes]);
      await file.sync();
      await file.close();
      await disk.rename(temporary, path);
    } catch (error) {
      if (hasPower && files.has(temporary)) change([dirname(path)], (all) => all.delete(temporary));
      throw error;
    }
  }

  const disk: SimulatedFiles = {
    capacityBytes: Number.POSITIVE_INFINITY,
    beforeOperation: null,
    failNext: (operation, code, writtenBytes = 0) => void faults.push({ operation, code, writtenBytes }),
    contents: () => new Map([...files].map(([path, inode]) => [path, inode.read()])),
    crash(random) {
      hasPower = false;
      for (const name of survivingNames(random)) name.apply(durableFiles);
      const survivors = new Map<SimulatedInode, SimulatedInode>();
      for (const inode of durableFiles.values()) {
        survivors.set(inode, createSimulatedInode(inode.survivor(random ?? null)));
      }
      const left = new Map([...durableFiles].map(([path, inode]) => [path, survivors.get(inode)!]));
      const found = new Set(directories);
      // Those that were removed are back with their files.
      for (const path of left.keys()) addDirectories(found, dirname(path));
      return simulatedFiles({ files: left, directories: found });
    },
    read: (path) => performOrFail("read", path, () => find("read", path).read()),
    size: (path) => performOrFail("size", path, () => find("size", path).size),
    exists: (path) => performOrFail("exists", path, () => files.has(path) || directories.has(path)),
    list: (directory) =>
      performOrFail("list", directory, () => {
        const all = [...files.keys(), ...directories].filter(
          (path) => dirname(path) === directory && path !== "/",
        );
        return all.map((path) => path.slice(directory === "/" ? 1 : directory.length + 1)).sort();
      }),
    makeDirectory: (path) => performOrFail("makeDirectory", path, () => addDirectories(directories, path)),
    openAppend: (path) => performOrFail("openAppend", path, () => appendFile(path, open(path))),
    async replace(path, bytes) {
      await performOrFail("replace", path, () => {});
      await putDurably(
        () => writeAndRename(path, bytes),
        () => disk.syncDirectory(dirname(path)),
      );
    },
    rename: (from, to) =>
      performOrFail("rename", from, () => {
        if (directories.has(from)) return renameDirectory(from, to);
        const inode = find("rename", from);
        change([...new Set([dirname(from), dirname(to)])], (all) => {
          all.delete(from);
          all.set(to, inode);
        });
      }),
    link: (from, to) =>
      performOrFail("link", from, () => {
        const inode = find("link", from);
        if (files.has(to)) throw new FileError("link", from, "EEXIST");
        if (!directories.has(dirname(to))) throw new FileError("link", from, "ENOENT");
        change([dirname(to)], (all) => all.set(to, inode));
      }),
    remove: (path) =>
      performOrFail("remove", path, () => {
        find("remove", path);
        change([dirname(path)], (all) => all.delete(path));
      }),
    removeAll: (path) =>
      performOrFail("removeAll", path, () => {
        change([dirname(path)], (all) => {
          for (const each of [...all.keys()]) if (isWithin(each, path)) all.delete(each);
        });
        for (const each of [...directories]) if (isWithin(each, path)) directories.delete(each);
      }),
    syncDirectory: (path) =>
      perform("syncDirectory", path, (fault) => {
        if (fault === null) return settleNames(path, "durable");
        if (fault.code === "EIO") settleNames(path, "doubtful"); // Any other leaves all as it was.
        throw new FileError("syncDirectory", path, fault.code);
      }),
  };
  return disk;
}
