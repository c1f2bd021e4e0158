import { expect, test } from "bun:test";
import { openKeyStore } from "../../../src/auth/key-store.ts";
import { type SharedFileState, watchFile } from "../../../src/directory/shared-file.ts";
import { UNBOUND } from "../../../src/model/binding.ts";
import type { AppId } from "../../../src/model/ids.ts";
import { systemClock } from "../../../src/model/time/clock.ts";
import { VirtualTime } from "../../support/stream/virtual-time.ts";
import { createMemoryKeyFiles, createMemoryLock } from "../auth/memory-key-files.ts";

test("watchFile() takes in changed keys and tells when the file stops and starts being usable", async () => {
  const files = createMemoryKeyFiles();
  const process = { pid: 1, command: "serve" };
  const open = () =>
    openKeyStore({ files, path: "keys.json", clock: systemClock, acquireLock: createMemoryLock(), process });
  const server = await open();

  let told: (state: SharedFileState) => void = () => {};
  const nextState = () => new Promise<SharedFileState>((resolve) => (told = resolve));
  const time = new VirtualTime();
  const watch = watchFile(
    server,
    5,
    (state) => told(state),
    () => {},
    time,
  );

  const usable = nextState();
  const created = await (await open()).create({
    appId: "default" as AppId,
    permissions: ["read"],
    view: null,
    tier: "free",
    label: "",
    ...UNBOUND,
    expiresMs: null,
  });
  if (!created.ok) throw new Error(created.error.kind);
  expect(await time.until(usable)).toBe("ok");
  expect(server.find(created.value.text).kind).toBe("known");

  const damaged = nextState();
  files.bytes = new Uint8Array([1, 2, 3]);
  expect(await time.until(damaged)).toEqual({ damaged: "it is not a JSON object" });
  expect(server.find(created.value.text).kind).toBe("unknown");

  watch.stop();
  expect(time.planned).toBe(0);
});

test("watchFile() that is stopped while it reads plans no other look, and tells nothing", async () => {
  const time = new VirtualTime();
  const read = Promise.withResolvers<void>();
  const store = { state: "missing" as SharedFileState, reload: () => read.promise };
  const told: SharedFileState[] = [];
  const tell = (state: SharedFileState) => told.push(state);
  const watch = watchFile(store, 5, tell, () => told.push(store.state), time);
  time.step();
  watch.stop();
  store.state = "ok";
  read.resolve();
  await time.until(read.promise);
  expect([told, time.planned]).toEqual([[], 0]);
});
