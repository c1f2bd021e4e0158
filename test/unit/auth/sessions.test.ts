import { expect, test } from "bun:test";
import { type KeyLookup, openKeyStore } from "../../../src/auth/key-store.ts";
import { SessionSecret, Signer } from "../../../src/auth/session-secret.ts";
import { encodeSession, parseSession, Sessions } from "../../../src/auth/sessions.ts";
import { ok } from "../../../src/lib/result.ts";
import { createManualClock } from "../../../src/model/time/clock.ts";
import * as fc from "../../support/fast-check.ts";
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

const NOW_MS = Date.UTC(2026, 2, 20, 12);
const signer = Signer.random();
const session = { keyId: "k_0Hq3aZ9k", untilMs: NOW_MS + 1000 };
const text = encodeSession(session, signer);

test("parseSession() reads what encodeSession() wrote, until it ends", () => {
  expect(parseSession(text, signer, NOW_MS)).toEqual({ ok: true, value: session });
  expect(parseSession(text, signer, session.untilMs - 1)).toEqual({ ok: true, value: session });
  expect(parseSession(text, signer, session.untilMs)).toEqual({ ok: false, error: "expired" });
});

test("parseSession() knows only what the same secret signed, for this purpose", () => {
  const copy = new Signer(signer.secret);
  expect(parseSession(text, copy, NOW_MS).ok).toBe(true);
  expect(parseSession(text, Signer.random(), NOW_MS)).toEqual({ ok: false, error: "unknown" });
  const signed = `v1.${session.keyId}.${session.untilMs}`;
  const forAnother = `${signed}.${signer.sign("cookie name", signed)}`;
  expect(parseSession(forAnother, signer, NOW_MS)).toEqual({ ok: false, error: "unknown" });
});

test("parseSession() takes no text that differs in a character, or is cut or longer", () => {
  const letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_.=%\0 ";
  for (let at = 0; at < text.length; at++) {
    for (const letter of letters) {
      const other = text.slice(0, at) + letter + text.slice(at + 1);
      if (other !== text) expect(parseSession(other, signer, NOW_MS).ok).toBe(false);
    }
    expect(parseSession(text.slice(0, at), signer, NOW_MS).ok).toBe(false);
    expect(parseSession(text.slice(at + 1), signer, NOW_MS).ok).toBe(false);
  }
  for (const more of ["", ".", "=", "A", " ", "\n"])
    if (more !== "") expect(parseSession(text + more, signer, NOW_MS).ok).toBe(false);
});

test("parseSession() takes no text that it didn't write", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.string({ unit: "binary" })), (other) => {
      expect(parseSession(other, signer, NOW_MS).ok).toBe(false);
      expect(parseSession(`v1.${session.keyId}.${session.untilMs}.${other}`, signer, NOW_MS).ok).toBe(false);
    }),
  );
});
