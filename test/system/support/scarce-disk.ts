import { spawnSync } from "node:child_process";
import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { closePlace, openPlace, type Place, type Runtime } from "../../support/server-process.ts";

/** A disk that a test can fill up and give room again while a process writes to it. */
export interface ScarceDisk {
  readonly place: Place;
  /** The runtime as it has to be started. */
  readonly runtime: Runtime;
  /** From now on nothing more fits; `pid` is the process that writes. */
  fill(pid: number): void;
  free(pid: number): void;
  close(): Promise<void>;
}

export interface ScarceDiskKind {
  readonly name: string;
  /** With room for so much, where it is a disk of its own. */
  open(runtime: Runtime, diskBytes?: number): ScarceDisk;
}

const DISK_BYTES = 32 * 1024 * 1024;
const FILLER_BYTES = 64 * 1024;

/** The ways that this machine has, the closest to a real disk first: a small one in memory needs root. */
export function scarceDiskKinds(): readonly ScarceDiskKind[] {
  const kinds: ScarceDiskKind[] = [];
  if (canMount()) kinds.push({ name: "a small disk", open: openSmallDisk });
  if (runs("prlimit", "--version") && runs("bash", "-c", "exit 0"))
    kinds.push({ name: "a file size limit", open: openLimitedDisk });
  return kinds;
}

function runs(program: string, ...args: string[]): boolean {
  return spawnSync(program, args, { stdio: "ignore" }).status === 0;
}

function canMount(): boolean {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return false;
  const disk = openSmallDiskOrNull(DISK_BYTES);
  if (disk === null) return false;
  unmount(disk.directory);
  rmSync(disk.directory, { recursive: true });
  return true;
}

function openSmallDiskOrNull(diskBytes: number): Place | null {
  const place = openPlace();
  const size = `size=${diskBytes}`;
  if (runs("mount", "-t", "tmpfs", "-o", size, "wherehouse-test", place.directory)) return place;
  rmSync(place.directory, { recursive: true });
  return null;
}

function openSmallDisk(runtime: Runtime, diskBytes = DISK_BYTES): ScarceDisk {
  const place = openSmallDiskOrNull(diskBytes);
  if (place === null) throw new Error("The small disk that could be mounted a moment ago can't be any more.");
  const filler = join(place.directory, "filler");
  return {
    place,
    runtime,
    fill: () => writeUntilFull(filler),
    free: () => rmSync(filler),
    async close() {
      unmount(place.directory); // Lazily: processes that still have files there are ended next.
      await closePlace(place);
    },
  };
}

function unmount(directory: string): void {
  runs("umount", "--lazy", directory);
}

/** Down to the last byte. */
function writeUntilFull(path: string): void {
  const file = openSync(path, "a");
  const piece = new Uint8Array(FILLER_BYTES);
  for (let bytes = FILLER_BYTES; bytes >= 1; ) {
    try {
      if (writeSync(file, piece, 0, bytes) < bytes) bytes >>= 1;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
      bytes >>= 1;
    }
  }
  closeSync(file);
}

/**
 * No file of the process may grow. The signal that comes with the error has to be ignored by whoever starts the
 * process: Bun ignores it by itself, Deno ends of it.
 */
function openLimitedDisk(runtime: Runtime): ScarceDisk {
  const place = openPlace();
  const limit = (pid: number, bytes: string) => {
    if (!runs("prlimit", "--pid", String(pid), `--fsize=${bytes}:`)) throw new Error("prlimit failed");
  };
  return {
    place,
    runtime: {
      name: runtime.name,
      command: (permissions) => [
        ...["bash", "-c", 'trap "" XFSZ; exec "$@"', "bash"],
        ...runtime.command(permissions),
      ],
    },
    fill: (pid) => limit(pid, "0"),
    free: (pid) => limit(pid, "unlimited"),
    close: () => closePlace(place),
  };
}
