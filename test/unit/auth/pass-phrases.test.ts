import { describe, expect, test } from "bun:test";
import {
  encodePassPhraseFile,
  PassPhrases,
  parsePassPhrase,
  parsePassPhraseFile,
  SAME_NAME_MAX,
} from "../../../src/auth/pass-phrases.ts";
import { keyOf } from "../../../src/clients/owntracks/encryption.ts";
import type { AppId } from "../../../src/model/ids.ts";
import { createManualClock } from "../../../src/model/time/clock.ts";
import * as fc from "../../support/fast-check.ts";
import { createMemoryKeyFiles, createMemoryLock } from "./memory-key-files.ts";

const FLEET = "fleet" as AppId;
const RIVAL = "rival" as AppId;

function createBench() {
  const files = createMemoryKeyFiles();
  const clock = createManualClock(1_700_000_000_000);
  const process = { pid: 1, command: "keys passphrase" };
  const acquireLock = createMemoryLock();
  const open = () => PassPhrases.open({ files, path: "data/pass-phrases.json", clock, acquireLock, process });
  return { files, open };
}

const keyId = (index: number) => `k_${String(index).padStart(8, "0")}`;
const phrase = (index: number, deviceId: string | null, text: string, appId = FLEET) => ({
  keyId: keyId(index),
  appId,
  deviceId,
  text,
});

describe("boxKeys()", () => {
  test("has of a key what was set for the device, for its name without a user, and for any device", async () => {
    const passPhrases = await createBench().open();
    for (const set of [
      phrase(1, null, "any"),
      phrase(1, "anna:pixel", "with user"),
      phrase(1, "pixel", "without"),
      phrase(1, "nokia", "another device"),
      phrase(2, "pixel", "another key"),
    ])
      expect(await passPhrases.set(set)).toEqual({ ok: true, value: undefined });
    const textsOf = (deviceId: string | null) =>
      passPhrases.boxKeys({ appId: FLEET, keyId: keyId(1), deviceId });
    expect(textsOf("anna:pixel")).toEqual(["with user", "without", "any"].map(keyOf));
    expect(textsOf("bea:pixel")).toEqual(["without", "any"].map(keyOf));
    expect(textsOf("pixel")).toEqual(["without", "any"].map(keyOf));
    expect(textsOf("nokia")).toEqual(["another device", "any"].map(keyOf));
    expect(textsOf(null)).toEqual([keyOf("any")]);
    expect(passPhrases.boxKeys({ appId: FLEET, keyId: keyId(3), deviceId: "pixel" })).toEqual([]);
  });

  test("has for a broker those of all keys of the app, and of no other app", async () => {
    const passPhrases = await createBench().open();
    await passPhrases.set(phrase(1, "pixel", "first"));
    await passPhrases.set(phrase(2, null, "second"));
    await passPhrases.set(phrase(3, "pixel", "another app", RIVAL));
    const byBroker = (appId: AppId) => passPhrases.boxKeys({ appId, keyId: null, deviceId: "anna:pixel" });
    expect(byBroker(FLEET)).toEqual(["first", "second"].map(keyOf));
    expect(byBroker(RIVAL)).toEqual([keyOf("another app")]);
    // An app that is called as a key is.
    expect(byBroker(keyId(2) as AppId)).toEqual([]);
  });
});

describe("set() and remove()", () => {
  test("put one in place of another, and take it out, for stores opened later too", async () => {
    const { open } = createBench();
    const passPhrases = await open();
    const server = await open();
    const encrypter = { appId: FLEET, keyId: keyId(1), deviceId: "pixel" };
    await passPhrases.set(phrase(1, "pixel", "old"));
    await passPhrases.set(phrase(1, "pixel", "new"));
    await server.reload();
    expect(server.boxKeys(encrypter)).toEqual([keyOf("new")]);
    expect(await passPhrases.remove({ keyId: keyId(1), deviceId: null })).toEqual({
      ok: false,
      error: { kind: "pass_phrase_not_found", keyId: keyId(1), deviceId: null },
    });
    expect((await passPhrases.remove({ keyId: keyId(1), deviceId: "pixel" })).ok).toBe(true);
    await server.reload();
    expect(server.boxKeys(encrypter)).toEqual([]);
  });

  test("keep to so many that a broker's message has to be tried with", async () => {
    const passPhrases = await createBench().open();
    for (let index = 0; index < SAME_NAME_MAX; index++)
      await passPhrases.set(phrase(index, null, `p${index}`));
    expect(await passPhrases.set(phrase(99, null, "one more"))).toEqual({
      ok: false,
      error: { kind: "too_many_pass_phrases", appId: FLEET, deviceId: null },
    });
    // Another in place of one, for a device, or in another app.
    for (const set of [phrase(0, null, "p"), phrase(99, "pixel", "p"), phrase(98, null, "p", RIVAL)])
      expect((await passPhrases.set(set)).ok).toBe(true);
    expect(
      passPhrases.boxKeys({ appId: FLEET, keyId: null, deviceId: "a:pixel" }).length,
    ).toBeLessThanOrEqual(3 * SAME_NAME_MAX);
  });

  test("leave a file alone that can't be read, and then nothing is opened", async () => {
    const { files, open } = createBench();
    const passPhrases = await open();
    await passPhrases.set(phrase(1, null, "secret"));
    files.bytes = new TextEncoder().encode('{"version":1,"passPhrases":[{"text":"secret"}]}');
    await passPhrases.reload();
    expect(passPhrases.state).toEqual({ damaged: "pass phrase number 1 has no valid keyId" });
    expect(passPhrases.boxKeys({ appId: FLEET, keyId: keyId(1), deviceId: null })).toEqual([]);
    expect(await passPhrases.set(phrase(1, null, "new"))).toMatchObject({ error: { kind: "file_damaged" } });
    expect(new TextDecoder().decode(files.bytes)).toContain('"secret"');
  });
});

describe("the file", () => {
  test("holds what was set", () => {
    const texts = fc
      .string({ unit: "grapheme", minLength: 1, maxLength: 30 })
      .filter((text) => parsePassPhrase(text) !== null);
    const one = fc.record({
      keyId: fc.nat(99_999_999).map(keyId),
      appId: fc.constantFrom(FLEET, RIVAL),
      deviceId: fc.option(fc.constantFrom("pixel", "anna:pixel", "ü")),
      text: texts,
    });
    fc.assert(
      fc.property(fc.array(one), (list) => {
        expect(parsePassPhraseFile(encodePassPhraseFile(list))).toEqual({ ok: true, value: list });
      }),
    );
  });

  test.each([
    ["", "it is not a JSON object"],
    ["[]", "it is not a JSON object"],
    ["{}", "its format version is missing"],
    [
      '{"version":2,"passPhrases":[]}',
      "it has format version 2 of a newer program, and this program reads version 1",
    ],
    ['{"version":1}', "its list of pass phrases is missing"],
    [fileWith({ appId: "a/b" }), "pass phrase number 1 has no valid appId"],
    [fileWith({ deviceId: ".." }), "pass phrase number 1 has no valid deviceId"],
    [fileWith({ deviceId: undefined }), "pass phrase number 1 has no valid deviceId"],
    [fileWith({ text: "" }), "pass phrase number 1 has no valid text"],
    [fileWith({ text: "hunter2\n" }), "pass phrase number 1 has no valid text"],
  ])("%p: %p", (text, error) => {
    expect(parsePassPhraseFile(new TextEncoder().encode(text))).toEqual({ ok: false, error });
  });

  function fileWith(wrong: object): string {
    return JSON.stringify({ version: 1, passPhrases: [{ ...phrase(1, "pixel", "hunter2"), ...wrong }] });
  }
});
