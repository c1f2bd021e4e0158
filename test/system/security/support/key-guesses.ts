import { openKeyStore } from "../../../../src/auth/key-store.ts";
import { UNBOUND } from "../../../../src/model/binding.ts";
import type { AppId } from "../../../../src/model/ids.ts";
import { createManualClock } from "../../../../src/model/time/clock.ts";
import { createMemoryKeyFiles, createMemoryLock } from "../../../unit/auth/memory-key-files.ts";

/** A store of keys in memory, and the texts of its keys. */
export async function createKeys(count: number) {
  const store = await openKeyStore({
    files: createMemoryKeyFiles(),
    path: "/data/keys.json",
    clock: createManualClock(0),
    acquireLock: createMemoryLock(),
    process: { pid: 1, command: "test" },
  });
  const texts: string[] = [];
  for (let i = 0; i < count; i++) {
    const created = await store.create({
      appId: "fleet" as AppId,
      permissions: ["read"],
      view: null,
      tier: "unlimited",
      label: "",
      ...UNBOUND,
      expiresMs: null,
    });
    if (created.ok) texts.push(created.value.text);
  }
  return { store, texts };
}
