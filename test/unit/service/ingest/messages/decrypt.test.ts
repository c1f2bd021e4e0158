import { expect, test } from "bun:test";
import { PassPhrases } from "../../../../../src/auth/pass-phrases.ts";
import { BROKER_KEY_ID } from "../../../../../src/clients/identity.ts";
import { keyOf, sealBox } from "../../../../../src/clients/owntracks/encryption.ts";
import type { AppId } from "../../../../../src/model/ids.ts";
import { createManualClock } from "../../../../../src/model/time/clock.ts";
import { decryptOf } from "../../../../../src/service/ingest/messages/decrypt.ts";
import { createMemoryKeyFiles, createMemoryLock } from "../../../auth/memory-key-files.ts";

const APP = "fleet" as AppId;
const ANYWHERE = { device: null, user: null };
const KEY = { appId: APP, keyId: "k_00000001", deviceId: null };

const passPhrases = await PassPhrases.open({
  files: createMemoryKeyFiles(),
  path: "data/pass-phrases.json",
  clock: createManualClock(0),
  acquireLock: createMemoryLock(),
  process: { pid: 1, command: "test" },
});
for (const [keyId, deviceId, text] of [
  ["k_00000001", "pixel", "of pixel"],
  ["k_00000001", "truck", "of truck"],
  ["k_00000002", "pixel", "of another key"],
] as const)
  await passPhrases.set({ keyId, appId: APP, deviceId, text });

const TEXT = "clear";

/** What a sender's box comes out as, if it was made with this phrase. */
function opened(
  phrase: string,
  sender: { appId: AppId; keyId: string; deviceId: string | null },
  address: { device: string | null; user: string | null },
  claimed: string | null,
): string | null {
  const box = sealBox(keyOf(phrase), new TextEncoder().encode(TEXT));
  const steps = decryptOf(passPhrases, sender, address)(claimed, box);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value === null ? null : new TextDecoder().decode(value);
  }
}

test("a box is opened with the phrase of the key and the device that sent it", () => {
  expect(opened("of pixel", KEY, ANYWHERE, "anna:pixel")).toBe(TEXT);
  expect(opened("of truck", KEY, ANYWHERE, "anna:pixel")).toBeNull();
  expect(opened("of another key", KEY, ANYWHERE, "anna:pixel")).toBeNull();
  expect(opened("of pixel", KEY, ANYWHERE, null)).toBeNull();
});

test("whom the key is bound to counts before the URL, and the URL before what is claimed", () => {
  const truck = { device: "truck", user: null };
  expect(opened("of truck", KEY, truck, "pixel")).toBe(TEXT);
  expect(opened("of truck", { ...KEY, deviceId: "pixel" }, truck, "truck")).toBeNull();
  expect(opened("of pixel", { ...KEY, deviceId: "pixel" }, truck, "truck")).toBe(TEXT);
});

test("a broker's box is opened with the phrase of any key of its app", () => {
  const broker = { ...KEY, keyId: BROKER_KEY_ID };
  for (const phrase of ["of pixel", "of another key"])
    expect(opened(phrase, broker, ANYWHERE, "anna:pixel")).toBe(TEXT);
  expect(opened("of truck", broker, ANYWHERE, "anna:pixel")).toBeNull();
  expect(opened("of pixel", { ...broker, appId: "rival" as AppId }, ANYWHERE, "anna:pixel")).toBeNull();
});
