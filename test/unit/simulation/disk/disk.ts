import { crc32 } from "node:zlib";
import type { ArchiveEngine } from "../../../../src/app/directory.ts";
import { FileError } from "../../../../src/runtime/files.ts";
import {
  createMirroredDisk,
  type MirroredDisk,
  SIMULATED_DATA_DIR,
} from "../../../support/disk/mirrored-disk.ts";
import {
  createSimulatedFiles,
  type FileOperation,
  type SimulatedFiles,
} from "../../../support/disk/simulated-files.ts";
import { watchedEngine, watchedFiles } from "../../../support/disk/watched-disk.ts";
import type { SimulationEngine } from "../run/engine.ts";

/** What can go wrong, and what reports can come before: the disk's operations, and statements of DuckDB. */
export type RunOperation = FileOperation | "statement";

/** Something that goes wrong, so many operations of the disk from now. */
export type Fault = { readonly afterOperations: number } & (
  | { readonly kind: "power"; readonly survivors: (() => number) | undefined }
  /** The process dies, the machine does not: what was written is there, synced or not. */
  | { readonly kind: "kill" }
  /** The next operations of this name on such a path fail, so many; an append may have written a beginning. */
  | {
      readonly kind: "refusal";
      readonly times: number;
      readonly operation: RunOperation;
      readonly path: RegExp;
      readonly code: string;
      readonly writtenBytes: number;
    }
  /** There is room for so many bytes only, for so many operations. */
  | { readonly kind: "full"; readonly roomBytes: number; readonly operations: number }
  /** No file can be opened, for so many operations. */
  | { readonly kind: "descriptors"; readonly operations: number }
);

type Refusal = Extract<Fault, { kind: "refusal" }>;

/** The machine as a process finds it at its start. */
export interface Booted extends MirroredDisk {
  /** Whose statements are operations of the disk too. */
  readonly engine: ArchiveEngine;
}

/** The disk of a run, through all its crashes and restarts. */
export interface RunDisk {
  /** Whether the process is dead, of a power failure or otherwise: every operation fails until the next boot. */
  readonly isDead: boolean;
  /** Lets the machine start again: the disk as it is found. */
  boot(): Booted;
  /** The process dies now. */
  die(how: "kill" | "power", survivors?: () => number): void;
  arm(fault: Fault): void;
  /** Nothing goes wrong any more, but for files that can't be read. */
  disarm(): void;
  /** Does something before each operation from now on; null ends it. */
  watch(act: (() => void) | null): void;
  /** While it is paused nothing goes wrong, and operations don't count. */
  pause(isPaused: boolean): void;
  /** These can't be read until they are taken off. */
  readonly unreadable: Set<string>;
  /** Faults that took effect since the last boot. */
  readonly fired: readonly Fault[];
  /** All files as the program sees them. */
  contents(): Map<string, Uint8Array>;
  /** Replaces a file's bytes behind everybody's back, while no process runs. */
  damage(path: string, bytes: Uint8Array): void;
  readonly operations: number;
  /** Of all operations and their paths so far: the same for the same run. */
  readonly digest: number;
  close(): void;
}

/** What a process counts from its first operation to its last: of temporary files, and of DuckDB's and its folders. */
const COUNTED_NAMES = /\.\d+(?=\.tmp\b)|(?<=\/wherehouse-simulation-)\w+\/\d+/g;

/** So that what is said of a run is the same whatever runs the process simulated before it. */
export function withoutCounts(text: string): string {
  return text.replace(COUNTED_NAMES, "");
}

/** What takes a file descriptor: a directory is opened to be listed and to be synced. */
const OPENING: ReadonlySet<RunOperation> = new Set([
  "read",
  "openAppend",
  "overwrite",
  "list",
  "syncDirectory",
]);

export function createRunDisk(engine: SimulationEngine): RunDisk {
  let simulated = createSimulatedFiles();
  let found: SimulatedFiles | null = null;
  let mirror: string | null = null;
  let isDead = false;
  let isPaused = false;
  let operations = 0;
  let digest = 0;
  let armed: Fault[] = [];
  let watching: (() => void) | null = null;
  let fired: Fault[] = [];
  let refusals: { readonly fault: Refusal; left: number }[] = [];
  let fullUntil = 0;
  let descriptorsUntil = 0;
  const unreadable = new Set<string>();

  function usedBytes(): number {
    let used = 0;
    for (const bytes of simulated.contents().values()) used += bytes.length;
    return used;
  }

  function die(how: "kill" | "power", survivors?: () => number): void {
    if (isDead) return;
    isDead = true;
    if (how === "power") found = simulated.crash(survivors);
  }

  function begin(fault: Fault): void {
    switch (fault.kind) {
      case "power":
        die("power", fault.survivors);
        break;
      case "kill":
        die("kill");
        break;
      case "refusal":
        refusals.push({ fault, left: fault.times });
        return; // It takes effect with the operation that is refused.
      case "full":
        simulated.capacityBytes = usedBytes() + fault.roomBytes;
        fullUntil = operations + fault.operations;
        break;
      case "descriptors":
        descriptorsUntil = operations + fault.operations;
    }
    fired.push(fault);
  }

  /** What the operation is to fail with, or null. Throws where it must not even be begun. */
  function interfere(operation: RunOperation, path: string): Refusal | null {
    if (isDead) throw new FileError(operation, path, "EIO");
    if (unreadable.has(path) && operation === "read") throw new FileError(operation, path, "EIO");
    if (isPaused) return null;
    operations++;
    digest = crc32(`${operation} ${withoutCounts(path)}`, digest);
    if (operations === fullUntil) simulated.capacityBytes = Number.POSITIVE_INFINITY;
    watching?.();
    for (const fault of armed.filter(({ afterOperations }) => afterOperations <= operations)) {
      armed = armed.filter((each) => each !== fault);
      begin(fault);
    }
    if (isDead) throw new FileError(operation, path, "EIO");
    if (operations < descriptorsUntil && OPENING.has(operation))
      throw new FileError(operation, path, "EMFILE");
    const refusal = refusals.find(({ fault }) => fault.operation === operation && fault.path.test(path));
    if (refusal === undefined) return null;
    if (--refusal.left === 0) refusals = refusals.filter((each) => each !== refusal);
    if (!fired.includes(refusal.fault)) fired.push(refusal.fault);
    return refusal.fault;
  }

  function beforeOperation(operation: FileOperation, path: string): void {
    const refusal = interfere(operation, path);
    if (refusal !== null) simulated.failNext(operation, refusal.code, refusal.writtenBytes); // This very one.
  }

  /** Of the files that DuckDB shares with the service, by the names that the service knows them under. */
  async function beforeReal(operation: string, path: string): Promise<void> {
    const name = operation as FileOperation;
    const refusal = interfere(name, path.replace(mirror!, `${SIMULATED_DATA_DIR}/archive`));
    if (refusal !== null) throw new FileError(operation, path, refusal.code);
  }

  async function beforeStatement(): Promise<void> {
    const refusal = interfere("statement", "");
    if (refusal !== null) throw new Error("Out of Memory Error: failed to allocate data");
  }

  function disarm(): void {
    armed = [];
    watching = null;
    refusals = [];
    fullUntil = 0;
    descriptorsUntil = 0;
    simulated.capacityBytes = Number.POSITIVE_INFINITY;
  }

  return {
    get isDead() {
      return isDead;
    },
    boot() {
      simulated.beforeOperation = null;
      simulated = found ?? simulated;
      found = null;
      isDead = false;
      isPaused = false;
      fired = [];
      disarm();
      simulated.beforeOperation = beforeOperation;
      if (mirror !== null) engine.removeDirectory(mirror);
      mirror = engine.makeDirectory();
      const { files, archiveDisk } = createMirroredDisk(simulated, mirror);
      return {
        files,
        archiveDisk: { ...archiveDisk, files: watchedFiles(archiveDisk.files, beforeReal) },
        engine: watchedEngine(engine.archive, beforeStatement),
      };
    },
    die,
    arm: (fault) => void armed.push({ ...fault, afterOperations: operations + fault.afterOperations }),
    disarm,
    watch(act) {
      watching = act;
    },
    pause(paused) {
      isPaused = paused;
    },
    unreadable,
    get fired() {
      return fired;
    },
    contents: () => (found ?? simulated).contents(),
    damage(path, bytes) {
      found = createSimulatedFiles((found ?? simulated).contents().set(path, bytes));
    },
    get operations() {
      return operations;
    },
    get digest() {
      return digest;
    },
    close() {
      if (mirror !== null) engine.removeDirectory(mirror);
    },
  };
}
