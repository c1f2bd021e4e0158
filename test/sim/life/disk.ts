import { crc32 } from "node:zlib";
import { FileError } from "../../../src/runtime/files.ts";
import { createMirroredDisk, type MirroredDisk } from "../../support/mirrored-disk.ts";
import {
  createSimulatedFiles,
  type FileOperation,
  type SimulatedFiles,
} from "../../support/simulated-files.ts";
import type { LifeEngine } from "./engine.ts";

/** Something that goes wrong, so many operations of the disk from now. */
export type Fault = { readonly afterOperations: number } & (
  | { readonly kind: "power"; readonly survivors: (() => number) | undefined }
  /** The process dies, the machine does not: what was written is there, synced or not. */
  | { readonly kind: "kill" }
  /** The next operation of this name fails; an append may have written a beginning. */
  | {
      readonly kind: "refusal";
      readonly operation: FileOperation;
      readonly code: string;
      readonly writtenBytes: number;
    }
  /** There is room for so many bytes only, for so many operations. */
  | { readonly kind: "full"; readonly roomBytes: number; readonly operations: number }
  /** No file can be opened, for so many operations. */
  | { readonly kind: "descriptors"; readonly operations: number }
);

/** The disk of a life, through all its crashes and restarts. */
export interface LifeDisk {
  /** Whether the process is dead, of a power failure or otherwise: every operation fails until the next boot. */
  readonly isDead: boolean;
  /** Lets the machine start again: the disk as it is found. */
  boot(): MirroredDisk;
  /** The process dies now. */
  die(how: "kill" | "power", survivors?: () => number): void;
  arm(fault: Fault): void;
  /** Nothing goes wrong any more, but for files that can't be read. */
  disarm(): void;
  /** Does something before an operation so many from now. */
  at(afterOperations: number, act: () => void): void;
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
  /** Of all operations and their paths so far: the same for the same life. */
  readonly digest: number;
  close(): void;
}

const OPENING: ReadonlySet<FileOperation> = new Set(["read", "openAppend", "list"]);

export function createLifeDisk(engine: LifeEngine): LifeDisk {
  let simulated = createSimulatedFiles();
  let found: SimulatedFiles | null = null;
  let mirror: string | null = null;
  let isDead = false;
  let isPaused = false;
  let operations = 0;
  let digest = 0;
  let armed: Fault[] = [];
  let acts: { readonly at: number; readonly act: () => void }[] = [];
  let fired: Fault[] = [];
  let refusals: Extract<Fault, { kind: "refusal" }>[] = [];
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

  function fire(fault: Fault): void {
    fired.push(fault);
    switch (fault.kind) {
      case "power":
        die("power", fault.survivors);
        return;
      case "kill":
        die("kill");
        return;
      case "refusal":
        refusals.push(fault);
        return;
      case "full":
        simulated.capacityBytes = usedBytes() + fault.roomBytes;
        fullUntil = operations + fault.operations;
        return;
      case "descriptors":
        descriptorsUntil = operations + fault.operations;
    }
  }

  function beforeOperation(operation: FileOperation, path: string): void {
    if (isDead) throw new FileError(operation, path, "EIO");
    if (unreadable.has(path) && operation === "read") throw new FileError(operation, path, "EIO");
    if (isPaused) return;
    operations++;
    digest = crc32(`${operation} ${path.replace(/\.\d+\.tmp$/, ".tmp")}`, digest);
    if (operations === fullUntil) simulated.capacityBytes = Number.POSITIVE_INFINITY;
    const due = acts.filter(({ at }) => at <= operations);
    acts = acts.filter((each) => !due.includes(each));
    for (const { act } of due) act();
    for (const fault of armed.filter(({ afterOperations }) => afterOperations <= operations)) {
      armed = armed.filter((each) => each !== fault);
      fire(fault);
    }
    if (isDead) throw new FileError(operation, path, "EIO");
    if (operations < descriptorsUntil && OPENING.has(operation))
      throw new FileError(operation, path, "EMFILE");
    const refusal = refusals.find((each) => each.operation === operation);
    if (refusal !== undefined) {
      refusals = refusals.filter((each) => each !== refusal);
      simulated.failNext(operation, refusal.code, refusal.writtenBytes); // This very one.
    }
  }

  function disarm(): void {
    armed = [];
    acts = [];
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
      return createMirroredDisk(simulated, mirror);
    },
    die,
    arm: (fault) => void armed.push({ ...fault, afterOperations: operations + fault.afterOperations }),
    disarm,
    at: (afterOperations, act) => void acts.push({ at: operations + afterOperations, act }),
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
