import { expect, test } from "bun:test";
import { SessionSecret } from "../../../src/auth/session-secret.ts";
import { systemClock } from "../../../src/model/time/clock.ts";
import { createMemoryKeyFiles, createMemoryLock } from "./memory-key-files.ts";

function createBench() {
  const files = createMemoryKeyFiles();
  const acquireLock = createMemoryLock();
  const process = { pid: 1, command: "serve" };
  const path = "data/session-secret";
  const open = () => SessionSecret.open({ files, path, clock: systemClock, acquireLock, process });
  return { files, open };
}

async function obtained(secret: SessionSecret) {
  const signer = await secret.obtain();
  if (!signer.ok) throw new Error(signer.error.kind);
  return signer.value;
}

test("obtain() makes 32 random bytes where there are none, which all processes share", async () => {
  const { files, open } = createBench();
  const [server, command] = [await open(), await open()];
  expect([server.state, server.signer]).toEqual(["missing", null]);
  const [first, second] = await Promise.all([obtained(server), obtained(command)]);
  expect(files.bytes).toHaveLength(32);
  expect(first.secret).toEqual(second.secret);
  expect(Buffer.from(first.secret).equals(files.bytes!)).toBe(true);
  expect((await open()).signer!.cookieName).toBe(first.cookieName);
  expect((await obtained((await createBench().open())!)).cookieName).not.toBe(first.cookieName);
});

test("reload() loses the secret with its file, and obtain() makes another", async () => {
  const { files, open } = createBench();
  const secret = await open();
  const before = await obtained(secret);
  files.bytes = null;
  await secret.reload();
  expect([secret.state, secret.signer]).toEqual(["missing", null]);
  expect((await obtained(secret)).secret).not.toEqual(before.secret);
});

test.each([0, 31, 33])("a file of %d bytes is left as it is, and signs nothing", async (length) => {
  const { files, open } = createBench();
  const bytes = new Uint8Array(length);
  files.bytes = bytes;
  const secret = await open();
  expect([secret.state, secret.signer]).toEqual([{ damaged: "it must have 32 bytes" }, null]);
  expect(await secret.obtain()).toMatchObject({ ok: false, error: { kind: "file_damaged" } });
  expect(files.bytes).toBe(bytes);
});
