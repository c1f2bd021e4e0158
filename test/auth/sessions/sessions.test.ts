import { expect, test } from "bun:test";
import type { KeyLookup } from "../../../src/auth/key-store.ts";
import { Sessions } from "../../../src/auth/sessions/sessions.ts";
import { Signer } from "../../../src/auth/sessions/signer.ts";
import { ok } from "../../../src/lib/result.ts";
import { openTestKeys, SPEC } from "../test-keys.ts";

test("useCode() uses up no code whose key isn't known yet, as of one that another process has just made", async () => {
  const { clock, store } = await openTestKeys();
  const created = await store.create(SPEC);
  if (!created.ok) throw new Error(created.error.kind);
  const { key } = created.value;
  let found: KeyLookup = { kind: "unknown" };
  const signer = Signer.random();
  const secret = { signer, obtain: async () => ok(signer) };
  const sessions = new Sessions({ secret, keys: { findById: () => found }, clock });
  const code = await sessions.createCode(key.id);
  if (!code.ok) throw new Error(code.error.kind);
  expect(await sessions.useCode(code.value)).toEqual(ok({ kind: "unknown" }));
  found = { kind: "known", key };
  expect(await sessions.useCode(code.value)).toEqual(ok({ kind: "known", key }));
  expect(await sessions.useCode(code.value)).toEqual({ ok: false, error: "used" });
});
