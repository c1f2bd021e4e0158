import { expect, test } from "bun:test";
import { type KeyLookup, openKeyStore } from "../../../src/auth/key-store.ts";
import { SessionSecret } from "../../../src/auth/session-secret.ts";
import { Sessions } from "../../../src/auth/sessions.ts";
import { Signer } from "../../../src/auth/signer.ts";
import { ok } from "../../../src/lib/result.ts";
import { createManualClock } from "../../../src/model/time/clock.ts";
import { createMemoryKeyFiles, createMemoryLock } from "./memory-key-files.ts";
import { openTestKeys, SPEC } from "./test-keys.ts";

test("useCode() uses up no code whose key isn't known yet, as of one that another process has just made", async () => {
  const { clock, store } = await openTestKeys();
  const created = await store.create(SPEC);
  if (!created.ok) throw new Error(created.error.kind);
  const { key } = created.value;
  let found: KeyLookup = { kind: "unknown" };
  const signer = Signer.random();
  const refresh = async () => {};
  const secret = { signer, obtain: async () => ok(signer), refresh };
  const sessions = new Sessions({ secret, keys: { findById: () => found, refresh }, clock });
  const code = await sessions.createCode(key.id);
  if (!code.ok) throw new Error(code.error.kind);
  expect(await sessions.useCode(code.value)).toEqual(ok({ kind: "unknown" }));
  found = { kind: "known", key };
  expect(await sessions.useCode(code.value)).toEqual(ok({ kind: "known", key }));
  expect(await sessions.useCode(code.value)).toEqual({ ok: false, error: "used" });
});

/** What a process opens of a data directory. */
async function openProcess(files: ReturnType<typeof openDirectory>) {
  const clock = createManualClock(1_700_000_000_000);
  const dependencies = (name: keyof typeof files) => ({
    files: files[name],
    path: `data/${name}`,
    clock,
    acquireLock: createMemoryLock(),
    process: { pid: 1, command: "test" },
  });
  const secret = await SessionSecret.open(dependencies("secret"));
  const keys = await openKeyStore(dependencies("keys"));
  return { secret, keys, sessions: new Sessions({ secret, keys, clock }) };
}

const openDirectory = () => ({ secret: createMemoryKeyFiles(), keys: createMemoryKeyFiles() });

test("useCode() takes at once the code of a key and a secret that another process has just made", async () => {
  const files = openDirectory();
  const server = await openProcess(files);
  const command = await openProcess(files);
  const created = await command.keys.create(SPEC);
  if (!created.ok) throw new Error(created.error.kind);
  const code = await command.sessions.createCode(created.value.key.id);
  if (!code.ok) throw new Error(code.error.kind);
  const used = await server.sessions.useCode(code.value);
  expect(used).toEqual(ok({ kind: "known", key: created.value.key }));
});

test("useCode() reads no file for a text that is no code, and one at a time for codes that nobody signed", async () => {
  const files = openDirectory();
  const { sessions } = await openProcess(files);
  const other = await openProcess(openDirectory());
  const code = await other.sessions.createCode("k_00000000");
  if (!code.ok) throw new Error(code.error.kind);
  let reads = 0;
  const { read } = files.secret;
  files.secret.read = (path) => {
    reads++;
    return read(path);
  };
  for (const text of ["", "c1", `${code.value}x`])
    expect(await sessions.useCode(text)).toEqual({ ok: false, error: "unknown" });
  expect(reads).toBe(0);
  const answers = await Promise.all(Array.from({ length: 100 }, () => sessions.useCode(code.value)));
  expect(new Set(answers.map((answer) => answer.ok))).toEqual(new Set([false]));
  expect(reads).toBe(1);
});
