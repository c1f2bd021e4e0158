import type { OpenDirectory } from "../../../src/app/open-directory.ts";
import { type KeyStore, openKeyStore } from "../../../src/auth/key-store.ts";
import { directoryPaths } from "../../../src/directory/paths.ts";
import { systemClock as clock } from "../../../src/model/time/clock.ts";
import { createPlatform, type Platform } from "../../../src/runtime/platform.ts";
import { openBenchDirectory } from "./archived-directory.ts";

/** A directory that a server of a bench answers from, which no other process has open. */
export interface ServedDirectory {
  readonly directory: OpenDirectory;
  readonly keys: KeyStore;
  readonly platform: Platform;
  /** Says the address, as whoever started this process waits for. */
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
      process.on("SIGTERM", () => process.exit()); // Else a profiler would write nothing.
      console.log((await platform.listen({ hostname: "127.0.0.1", port: 0, fetch })).url);
    },
  };
}
