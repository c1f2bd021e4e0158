import { expect, test } from "bun:test";
import { encodeSession, parseSession } from "../../../src/auth/session.ts";
import { Signer } from "../../../src/auth/signer.ts";
import * as fc from "../../support/fast-check.ts";

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
