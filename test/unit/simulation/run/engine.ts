import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ArchiveEngine } from "../../../../src/app/directory.ts";
import { type Connection, openDatabase } from "../../../../src/archive/duckdb/database.ts";

/**
 * One DuckDB for all runs, since opening one takes longer than most runs. Every start gets a directory of its own,
 * so that what DuckDB remembers of a file is never of another of its name. Rows are encoded in this thread: a worker
 * would answer at a moment that no seed decides.
 */
export interface SimulationEngine {
  readonly archive: ArchiveEngine;
  /** A new directory, where DuckDB may read and write. */
  makeDirectory(): string;
  removeDirectory(directory: string): void;
  /** Which records a part holds. Rejects where it is none. */
  recordsOf(part: Uint8Array): Promise<readonly PartRecord[]>;
  close(): void;
}

export interface PartRecord {
  readonly appId: string;
  readonly deviceId: string;
  readonly timestampMs: number;
}

const MEMORY = "/dev/shm";
const DUCKDB_BYTES_MAX = 512_000_000;

export async function openSimulationEngine(): Promise<SimulationEngine> {
  const root = mkdtempSync(join(existsSync(MEMORY) ? MEMORY : tmpdir(), "wherehouse-simulation-"));
  const database = await openDatabase({
    threads: 1,
    memoryBytes: DUCKDB_BYTES_MAX,
    directories: [root],
    spillDirectory: root,
    cachesFiles: false,
  });
  const removeRoot = () => rmSync(root, { recursive: true, force: true });
  process.once("exit", removeRoot);
  let connection: Connection | null = null;
  let directories = 0;
  return {
    archive: {
      openDatabase: async () => ({ connect: () => database.connect(), close() {} }),
    },
    makeDirectory() {
      const directory = join(root, String(++directories));
      mkdirSync(directory);
      return directory;
    },
    removeDirectory: (directory) => rmSync(directory, { recursive: true, force: true }),
    async recordsOf(part) {
      connection ??= await database.connect();
      const path = join(root, `${++directories}.parquet`);
      writeFileSync(path, part);
      const rows = await connection.run(
        "SELECT app_id, device_id, timestamp::DOUBLE FROM read_parquet($path) ORDER BY ALL",
        { path },
      );
      rmSync(path);
      const [apps, devices, times] = [rows.texts(0), rows.texts(1), rows.numbers(2)];
      return apps.map((appId, row) => ({
        appId: appId!,
        deviceId: devices[row]!,
        timestampMs: times[row]!,
      }));
    },
    close() {
      connection?.close();
      database.close();
      process.off("exit", removeRoot);
      removeRoot();
    },
  };
}
