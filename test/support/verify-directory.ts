import { join } from "node:path";
import { openDatabase } from "../../src/archive/duckdb/database.ts";
import { directoryPaths } from "../../src/directory/paths.ts";
import { Settings } from "../../src/directory/settings.ts";
import type { Clock } from "../../src/model/time/clock.ts";
import { DEFAULT_RETENTION } from "../../src/model/time/retention.ts";
import { createVerify, type DirectoryReport, type VerifyRequest } from "../../src/operator/verify/verify.ts";
import type { Files } from "../../src/runtime/files.ts";
import { createNodeFiles } from "../../src/runtime/node-files.ts";
import { openNodeSqlite } from "../../src/runtime/node-sqlite.ts";
import { createMemoryLock } from "../unit/auth/memory-key-files.ts";

const PROCESS = { pid: 1, command: "verify" };
const REQUEST: VerifyRequest = { acknowledge: false, quick: false };

/** Verifies a data directory on the real disk. */
export async function verifyDirectory(
  dataDir: string,
  clock: Clock,
  request: Partial<VerifyRequest> = {},
  files: Files = createNodeFiles(),
  onProgress: (done: number, total: number) => void = () => {},
): Promise<DirectoryReport> {
  const paths = directoryPaths(dataDir);
  const acquireLock = createMemoryLock();
  const readDirectory = createVerify({
    files,
    openSqlite: openNodeSqlite,
    acquireLock,
    clock,
    settings: await Settings.open(
      { files, path: paths.settings, clock, acquireLock, process: PROCESS },
      async () => DEFAULT_RETENTION,
    ),
    pid: PROCESS.pid,
    paths,
    openDatabase: () =>
      openDatabase({
        threads: 1,
        memoryBytes: 256_000_000,
        directories: [paths.archive],
        spillDirectory: join(paths.archive, "scratch"),
        cachesFiles: false,
      }),
    onProgress,
  });
  return readDirectory({ ...REQUEST, ...request });
}
