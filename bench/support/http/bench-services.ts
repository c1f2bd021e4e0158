import { tmpdir } from "node:os";
import type { OpenDirectory } from "../../../src/app/directory.ts";
import { ServiceState } from "../../../src/app/service-state.ts";
import { createServices, type ServiceParts } from "../../../src/app/services.ts";
import type { KeyStore } from "../../../src/auth/key-store.ts";
import { UsedCodes } from "../../../src/auth/link-codes.ts";
import { createCopies } from "../../../src/cluster/join/copies.ts";
import type { Services } from "../../../src/http/services.ts";
import { Scheduler } from "../../../src/lib/schedule/scheduler.ts";
import { systemClock as clock } from "../../../src/model/time/clock.ts";
import { DEFAULT_RETENTION } from "../../../src/model/time/retention.ts";
import { createNodeFiles } from "../../../src/runtime/node-files.ts";
import { DELAY_BOUNDS_SECONDS, Durations } from "../../../src/service/metrics/meters.ts";
import { copyNoSqlite } from "../../../test/support/disk/memory-sqlite.ts";

/** The services of a server over a directory: with keys, but without map tiles and without a broker. */
export function createBenchServices(
  directory: OpenDirectory,
  keys: KeyStore,
  parts: Pick<ServiceParts, "platform" | "meters" | "doctor">,
): Services {
  const files = createNodeFiles();
  const state = new ServiceState();
  state.noteOpened(directory);
  return createServices({
    ...parts,
    version: "bench",
    files,
    clock,
    retention: DEFAULT_RETENTION,
    hot: directory.hot,
    scheduler: new Scheduler(),
    eventLoop: { delays: new Durations(DELAY_BOUNDS_SECONDS), takeLongestMs: () => 0 },
    state,
    copies: createCopies({
      files,
      dataDir: tmpdir(),
      copySqlite: copyNoSqlite,
      cluster: () => null,
      stallMs: 60_000,
    }),
    damagedDirectory: tmpdir(),
    secrets: {
      keys,
      sessionSecret: { signer: null, obtain: () => fail("benches ask with keys"), refresh: async () => {} },
      passPhrases: { boxKeys: () => [] },
      usedCodes: new UsedCodes(clock),
    },
    broker: { status: null, statusFor: () => null },
    baseMap: () => fail("benches ask for no map"),
  });
}

function fail(reason: string): never {
  throw new Error(reason);
}
