import { join } from "node:path";
import { openDatabase } from "../../src/archive/database/duckdb.ts";
import { directoryPaths } from "../../src/directory/paths.ts";
import type { Files } from "../../src/runtime/files.ts";
import { createNodeFiles } from "../../src/runtime/node-files.ts";
import { createVerify, type DirectoryReport, type VerifyRequest } from "../../src/service/verify/verify.ts";
import type { Clock } from "../../src/time/clock.ts";
import { createMemoryLock } from "../auth/memory-key-files.ts";

const REQUEST: VerifyRequest = { acknowledge: false, quick: false };

/** Looks through a data directory on the machine's disk. */
export function verifyDirectory(
  dataDir: string,
  clock: Clock,
  request: Partial<VerifyRequest> = {},
  files: Files = createNodeFiles(),
  onProgress: (done: number, total: number) => void = () => {},
): Promise<DirectoryReport> {
  const paths = directoryPaths(dataDir);
  const readDirectory = createVerify({
    files,
    acquireLock: createMemoryLock(),
    clock,
    pid: 1,
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
