import { type KeySpec, type KeyStore, openKeyStore } from "../../../src/auth/key-store.ts";
import type { AppId } from "../../../src/model/ids.ts";
import { createManualClock, type ManualClock } from "../../../src/model/time/clock.ts";
import { createMemoryKeyFiles, createMemoryLock } from "./memory-key-files.ts";

/** A key that may read all of an app. */
export const SPEC: KeySpec = {
  appId: "default" as AppId,
  permissions: ["read"],
  view: null,
  tier: "free",
  label: "",
  deviceId: null,
  userId: null,
  expiresMs: null,
};

export async function openTestKeys(): Promise<{ readonly clock: ManualClock; readonly store: KeyStore }> {
  const clock = createManualClock(1_700_000_000_000);
  const store = await openKeyStore({
    files: createMemoryKeyFiles(),
    path: "data/keys.json",
    clock,
    acquireLock: createMemoryLock(),
    process: { pid: 1, command: "test" },
  });
  return { clock, store };
}
