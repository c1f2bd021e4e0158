import type { OpenDirectory } from "../../../src/app/directory.ts";
import { type KeyStore, openKeyStore } from "../../../src/auth/key-store.ts";
import { directoryPaths } from "../../../src/directory/paths.ts";
import { systemClock as clock } from "../../../src/model/time/clock.ts";
import { createPlatform, type Platform } from "../../../src/runtime/platform.ts";
import { openBenchDirectory } from "./archived-directory.ts";

/** A directory for a bench's server, which no other process uses. */
export interface ServedDirectory {
  readonly directory: OpenDirectory;
  readonly keys: KeyStore;
  readonly platform: Platform;
  /** Listens, and prints the address for the parent process. */
  listen(fetch: (request: Request) => Response | Promise<Response>): Promise<void>;
}

export async function openServedDirectory(dataDir: string): Promise<ServedDirectory> {
  const platform = createPlatform();
  const { files, acquireLock, pid } = platform;
  const directory = await openBenchDirectory(dataDir, clock);
  const keys = await openKeyStore({
    files,
    path: directoryPaths(dataDir).keys,
    clock,
    acquireLock,
    process: { pid, command: "bench" },
  });
  return {
    directory,
    keys,
    platform,
    async listen(fetch) {
      process.on("SIGTERM", () => process.exit()); // Otherwise a profiler would write nothing.
      console.log((await platform.listen({ hostname: "127.0.0.1", port: 0, fetch })).url);
    },
  };
}
