import type { ManualClock } from "../../../src/model/time/clock.ts";
import { answerBytes } from "../../support/answers/answer-bytes.ts";
import { type ArchiveApp, createArchiveApp } from "../../support/archive-app.ts";
import { createMirroredDisk, SIMULATED_DATA_DIR } from "../../support/disk/mirrored-disk.ts";
import {
  createSimulatedFiles,
  type FileOperation,
  type SimulatedFiles,
} from "../../support/disk/simulated-files.ts";
import type { Report } from "../../support/reports/batches.ts";

/* A seal that runs again and again from one disk; each time something fails at another of its operations. */

export const DAY_MS = 86_400_000;
const FIRST_DAY_MS = Date.UTC(2026, 0, 15);
export const START_MS = FIRST_DAY_MS + DAY_MS / 2;

/** The time of an hour of a day; day 0 is that of the start. */
export function at(day: number, hour: number): number {
  return FIRST_DAY_MS + day * DAY_MS + hour * 3_600_000;
}

export function dateOf(day: number): string {
  return new Date(at(day, 0)).toISOString().slice(0, 10);
}

export function report(device_id: string, timestamp: number, more: Report = {}): Report {
  return { device_id, timestamp, latitude: 42 + (timestamp % 97) / 100, longitude: -71, ...more };
}

export async function openOn(disk: SimulatedFiles, clock: ManualClock): Promise<ArchiveApp> {
  return createArchiveApp({ clock, dataDir: SIMULATED_DATA_DIR, disk: createMirroredDisk(disk) });
}

export async function answersOf(app: ArchiveApp, paths: readonly string[]): Promise<string[]> {
  const answers: string[] = [];
  for (const path of paths) answers.push(`${path}\n${await answerBytes(app, path)}`);
  return answers;
}

export interface DiskOperation {
  readonly operation: FileOperation;
  readonly path: string;
}

/** The operations of a disk while some work runs. */
export async function operationsOf(
  disk: SimulatedFiles,
  work: () => Promise<void>,
): Promise<readonly DiskOperation[]> {
  const operations: DiskOperation[] = [];
  disk.beforeOperation = (operation, path) => void operations.push({ operation, path });
  await work();
  disk.beforeOperation = null;
  return operations;
}

/** Where the faults are. */
export interface SealFaults {
  readonly clock: ManualClock;
  /** The disk before the seal. */
  readonly before: ReadonlyMap<string, Uint8Array>;
}

/**
 * What is on the disk after the power failed before an operation of the seal. With `random`, some of what was not
 * synced survives. Null if the seal has fewer operations.
 */
export async function failPower(
  { clock, before }: SealFaults,
  index: number,
  random?: () => number,
): Promise<SimulatedFiles | null> {
  const disk = createSimulatedFiles(before);
  const app = await openOn(disk, clock);
  let count = 0;
  let crashed: SimulatedFiles | null = null;
  disk.beforeOperation = () => {
    if (count++ === index) crashed = disk.crash(random);
  };
  await app.seal().catch(() => undefined);
  await app.close().catch(() => undefined);
  return crashed;
}

/** The disk and the app after the disk refused one operation of the seal. */
export async function refuseOnce(
  { clock, before }: SealFaults,
  index: number,
  code: string,
): Promise<{ readonly disk: SimulatedFiles; readonly app: ArchiveApp }> {
  const disk = createSimulatedFiles(before);
  const app = await openOn(disk, clock);
  let count = 0;
  disk.beforeOperation = (operation) => {
    if (count++ === index) disk.failNext(operation, code);
  };
  await app.seal().catch(() => undefined);
  disk.beforeOperation = null;
  return { disk, app };
}

/** The files in the folders of the archive that match, and those that its manifest names. */
export function archivedFiles(
  { directory }: ArchiveApp,
  disk: SimulatedFiles,
  folders: RegExp,
): { readonly inFolders: readonly string[]; readonly named: readonly string[] } {
  const { days, latest, expired } = directory.archive.manifest;
  const ofDays = [...days.values(), ...expired.values()].flatMap(({ parts }) => parts);
  const named = [...ofDays, ...(latest ?? [])].map(({ file }) => file);
  const inFolders = [...disk.contents().keys()]
    .filter((path) => path.startsWith(ARCHIVE) && folders.test(path.slice(ARCHIVE.length)))
    .map((path) => path.slice(ARCHIVE.length));
  return { inFolders: inFolders.sort(), named: named.sort() };
}

const ARCHIVE = `${SIMULATED_DATA_DIR}/archive/`;
