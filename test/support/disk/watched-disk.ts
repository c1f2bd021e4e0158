import type { ArchiveEngine } from "../../../src/app/directory.ts";
import type { AppendFile, Files } from "../../../src/runtime/files.ts";

/** Runs before each operation, which waits for it and fails with its error. */
export type BeforeOperation = (operation: string, path: string) => Promise<void>;

/** A disk whose operations wait for `before`. */
export function watchedFiles(files: Files, before: BeforeOperation): Files {
  const watched = (operation: string, path: string, act: () => Promise<unknown>) =>
    before(operation, path).then(act);
  return new Proxy(files, {
    get(target, operation: keyof Files) {
      return (path: string, ...rest: never[]) =>
        watched(operation, path, async () => {
          const act = target[operation] as (...values: unknown[]) => Promise<unknown>;
          const result = await act(path, ...rest);
          return operation === "openAppend" ? watchedFile(result as AppendFile, path, before) : result;
        });
    },
  });
}

function watchedFile(file: AppendFile, path: string, before: BeforeOperation): AppendFile {
  return {
    append: (parts) => before("append", path).then(() => file.append(parts)),
    sync: () => before("sync", path).then(() => file.sync()),
    truncate: (sizeBytes) => before("truncate", path).then(() => file.truncate(sizeBytes)),
    close: () => before("close", path).finally(() => file.close()), // Otherwise the test leaks descriptors.
  };
}

/** A DuckDB whose statements wait for `before`. */
export function watchedEngine(engine: ArchiveEngine, before: BeforeOperation): ArchiveEngine {
  return {
    ...engine,
    async openDatabase(options) {
      const database = await engine.openDatabase(options);
      return {
        ...database,
        async connect() {
          const connection = await database.connect();
          const run: typeof connection.run = async (sql, values, signal) => {
            await before("run", sql);
            return connection.run(sql, values, signal);
          };
          return { ...connection, run };
        },
      };
    },
  };
}
