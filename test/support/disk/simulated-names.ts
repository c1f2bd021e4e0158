import { dirname } from "node:path";
import { FileError } from "../../../src/runtime/files.ts";
import { createSimulatedInode, type SimulatedInode } from "./simulated-inode.ts";
import type { FileOperation } from "./simulated-operations.ts";

/**
 * A change of names. It is durable after the next sync of any of its directories. If that sync fails, the change may be
 * lost, and no later sync writes it, since the system considers it written.
 */
interface NameChange {
  readonly directories: readonly string[];
  apply(files: Map<string, SimulatedInode>): void;
  state: "new" | "doubtful" | "durable";
}

/** The names of a simulated disk: those that the program sees, and those after a power failure. */
export class SimulatedNames {
  readonly files: Map<string, SimulatedInode>;
  /** Directories are durable immediately. */
  readonly directories = new Set<string>(["/"]);
  readonly #durable: Map<string, SimulatedInode>;
  /** Changes since the last durable one, in order. */
  #changes: NameChange[] = [];

  /** The files are durable; their directories are created. */
  constructor(files: Iterable<readonly [string, SimulatedInode]>, directories: Iterable<string> = []) {
    this.files = new Map(files);
    this.#durable = new Map(this.files);
    for (const path of directories) this.addDirectories(path);
    for (const path of this.files.keys()) this.addDirectories(dirname(path));
  }

  find(operation: FileOperation, path: string): SimulatedInode {
    const inode = this.files.get(path);
    if (inode === undefined)
      throw new FileError(operation, path, this.directories.has(path) ? "EISDIR" : "ENOENT");
    return inode;
  }

  /** Finds or creates the file for an append. */
  findOrAdd(path: string): SimulatedInode {
    const directory = dirname(path);
    if (!this.directories.has(directory)) throw new FileError("openAppend", path, "ENOENT");
    const inode = this.files.get(path) ?? createSimulatedInode();
    if (!this.files.has(path)) this.#change([directory], (all) => all.set(path, inode));
    return inode;
  }

  /** The size of all files; a file with several names counts once. */
  usedBytes(): number {
    let used = 0;
    for (const inode of new Set(this.files.values())) used += inode.size;
    return used;
  }

  addDirectories(path: string): void {
    this.directories.add(path);
    if (dirname(path) !== path) this.addDirectories(dirname(path));
  }

  #change(directories: readonly string[], apply: NameChange["apply"]): void {
    this.#changes.push({ directories, apply, state: "new" });
    apply(this.files);
  }

  /** Sets the outcome of a directory's unsynced changes. */
  resolveChanges(directory: string, state: NameChange["state"]): void {
    for (const each of this.#changes)
      if (each.state === "new" && each.directories.includes(directory)) each.state = state;
    const left = this.#changes.findIndex((each) => each.state !== "durable");
    const settled = left < 0 ? this.#changes : this.#changes.slice(0, left);
    for (const each of settled) each.apply(this.#durable);
    this.#changes = this.#changes.slice(settled.length);
  }

  /** Returns the names after a power failure; with `random`, some unsynced changes survive. */
  afterPowerFailure(random: (() => number) | undefined): SimulatedNames {
    for (const change of this.#survivingChanges(random)) change.apply(this.#durable);
    const survivors = new Map<SimulatedInode, SimulatedInode>();
    for (const inode of this.#durable.values())
      survivors.set(inode, createSimulatedInode(inode.survivor(random ?? null)));
    const left = [...this.#durable].map(([path, inode]) => [path, survivors.get(inode)!] as const);
    return new SimulatedNames(left, this.directories); // Removed names are back with their files.
  }

  /** Changes of a directory are applied in order, so a prefix survives. */
  #survivingChanges(random: (() => number) | undefined): NameChange[] {
    let left = this.#changes.filter(({ state }) => state === "new").length;
    left = random === undefined ? 0 : Math.floor(random() * (left + 1));
    return this.#changes.filter(({ state }) => {
      if (state === "new") return left-- > 0;
      return state === "durable" || (random !== undefined && random() < 0.5);
    });
  }

  list(directory: string): string[] {
    const all = [...this.files.keys(), ...this.directories].filter(
      (path) => dirname(path) === directory && path !== "/",
    );
    return all.map((path) => path.slice(directory === "/" ? 1 : directory.length + 1)).sort();
  }

  rename(from: string, to: string): void {
    if (this.directories.has(from)) this.#renameDirectory(from, to);
    else this.#renameFile(from, to);
  }

  #renameFile(from: string, to: string): void {
    const inode = this.find("rename", from);
    this.#change([...new Set([dirname(from), dirname(to)])], (all) => {
      all.delete(from);
      all.set(to, inode);
    });
  }

  link(from: string, to: string): void {
    const inode = this.find("link", from);
    if (this.files.has(to)) throw new FileError("link", from, "EEXIST");
    if (!this.directories.has(dirname(to))) throw new FileError("link", from, "ENOENT");
    this.#change([dirname(to)], (all) => all.set(to, inode));
  }

  remove(path: string): void {
    this.find("remove", path);
    this.drop(path);
  }

  /** Removes a name of a file or directory. */
  drop(path: string): void {
    this.#change([dirname(path)], (all) => all.delete(path));
  }

  /** Renames all files of a directory in one change, with a sync of its parent. */
  #renameDirectory(from: string, to: string): void {
    if (this.files.has(to)) throw new FileError("rename", from, "ENOTDIR");
    if (!this.#isEmpty(to)) throw new FileError("rename", from, "ENOTEMPTY");
    for (const path of [...this.directories])
      if (isWithin(path, from)) this.directories.add(to + path.slice(from.length));
    this.#change([dirname(from), dirname(to)], (all) => {
      for (const [path, inode] of [...all]) {
        if (!isWithin(path, from)) continue;
        all.delete(path);
        all.set(to + path.slice(from.length), inode);
      }
    });
    this.#removeDirectories(from);
  }

  removeAll(path: string): void {
    const isMissing = ![...this.files.keys()].some((each) => isWithin(each, path));
    this.#removeDirectories(path);
    if (isMissing) return; // A sync writes nothing then.
    this.#change([dirname(path)], (all) => {
      for (const each of [...all.keys()]) if (isWithin(each, path)) all.delete(each);
    });
  }

  #isEmpty(directory: string): boolean {
    return ![...this.files.keys(), ...this.directories].some((path) => path.startsWith(`${directory}/`));
  }

  #removeDirectories(within: string): void {
    for (const path of [...this.directories]) if (isWithin(path, within)) this.directories.delete(path);
  }
}

function isWithin(path: string, directory: string): boolean {
  return path === directory || path.startsWith(`${directory}/`);
}
