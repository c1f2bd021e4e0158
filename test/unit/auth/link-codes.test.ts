import { expect, test } from "bun:test";
import type { KeySpec } from "../../../src/auth/key-store.ts";
import {
  createLinkCode,
  keyForLink,
  LINK_CODE_MS,
  parseLinkCode,
  UsedCodes,
} from "../../../src/auth/link-codes.ts";
import { Signer } from "../../../src/auth/session-secret.ts";
import type { DeviceId } from "../../../src/model/ids.ts";
import { createManualClock } from "../../../src/model/time/clock.ts";
import { openTestKeys, SPEC } from "./test-keys.ts";

const NOW_MS = Date.UTC(2026, 2, 20, 12);
const KEY_ID = "k_0Hq3aZ9k";
const signer = Signer.random();

function codeOf(text: string) {
  const code = parseLinkCode(text, signer);
  if (!code.ok) throw new Error(code.error);
  return code.value;
}

test("parseLinkCode() reads what createLinkCode() made, which is another each time", () => {
  const texts = [createLinkCode(KEY_ID, NOW_MS, signer), createLinkCode(KEY_ID, NOW_MS, signer)];
  const [first, second] = texts.map(codeOf);
  expect(first).toEqual({ keyId: KEY_ID, madeMs: NOW_MS, nonce: expect.stringMatching(/^[\w-]{16}$/) });
  expect(second!.nonce).not.toBe(first!.nonce);
  expect(parseLinkCode(texts[0]!, Signer.random()).ok).toBe(false);
});

test("parseLinkCode() takes no code that differs in a character, or was signed as something else", () => {
  const text = createLinkCode(KEY_ID, NOW_MS, signer);
  for (let at = 0; at < text.length; at++) {
    for (const letter of "0Az-_.% ") {
      const other = text.slice(0, at) + letter + text.slice(at + 1);
      if (other !== text) expect(parseLinkCode(other, signer).ok).toBe(false);
    }
    expect(parseLinkCode(text.slice(0, at), signer).ok).toBe(false);
  }
  const signed = text.slice(0, text.lastIndexOf("."));
  expect(parseLinkCode(`${signed}.${signer.sign("session", signed)}`, signer).ok).toBe(false);
  expect(parseLinkCode(`${signed}.${signer.sign("code", signed)}`, signer).ok).toBe(true);
});

test("UsedCodes lets a code be used once, for ten minutes, and none of before the start or of the future", async () => {
  const clock = createManualClock(NOW_MS);
  const used = new UsedCodes(clock);
  const made = (madeMs: number) => codeOf(createLinkCode(KEY_ID, madeMs, signer));
  const old = { ok: false, error: "old" } as const;
  expect(await used.use(made(NOW_MS - 1))).toEqual(old);
  expect(await used.use(made(NOW_MS + 1))).toEqual(old);
  const [first, second, third] = [made(NOW_MS), made(NOW_MS), made(NOW_MS)];
  expect((await used.use(first)).ok).toBe(true);
  expect(await used.use(first)).toEqual({ ok: false, error: "used" });
  clock.advance(LINK_CODE_MS - 1);
  expect((await used.use(second)).ok).toBe(true);
  expect(await used.use(first)).toEqual({ ok: false, error: "used" });
  clock.advance(1);
  expect(await used.use(third)).toEqual(old);
  clock.set(NOW_MS); // Set back, time makes no code good again.
  expect(await used.use(second)).toEqual({ ok: false, error: "used" });
});

test("UsedCodes remembers ten thousand", async () => {
  const used = new UsedCodes(createManualClock(NOW_MS));
  const codes = Array.from({ length: 10_001 }, (_, n) => ({
    keyId: KEY_ID,
    madeMs: NOW_MS,
    nonce: String(n),
  }));
  for (const code of codes) expect((await used.use(code)).ok).toBe(true);
  expect(await used.use(codes[1]!)).toEqual({ ok: false, error: "used" });
  expect((await used.use(codes[0]!)).ok).toBe(true);
});

test("keyForLink() is the first key that lives, may read and is bound to nobody", async () => {
  const { clock, store } = await openTestKeys();
  const create = async (spec: Partial<KeySpec>) => {
    const created = await store.create({ ...SPEC, ...spec });
    if (!created.ok) throw new Error(created.error.kind);
    return created.value.key;
  };
  expect(keyForLink(store)).toBeNull();
  await create({ permissions: ["write"] });
  await create({ permissions: ["operate"] });
  await create({ deviceId: "pixel7" });
  await create({ userId: "anna" });
  const expiresMs = clock.nowMs() + 1000;
  const view = { deviceIds: ["bus" as DeviceId], notBeforeMs: 0, precisionMeters: null };
  await create({ permissions: ["view"], view, expiresMs });
  expect(keyForLink(store)).toBeNull();
  const first = await create({ expiresMs });
  const second = await create({ permissions: ["read", "write"] });
  const third = await create({});
  expect(keyForLink(store)).toEqual(first);
  clock.advance(1000);
  expect(keyForLink(store)).toEqual(second);
  await store.revoke(second.id);
  expect(keyForLink(store)).toEqual(third);
});
