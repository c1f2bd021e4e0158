import { expect, test } from "bun:test";
import { decodeStanding, describeStanding, encodeStanding } from "../../../src/archive/standing-file.ts";
import { createSaltedFrames, FRAME_HEADER_BYTES } from "../../../src/lib/frames/frame.ts";
import { createRandomSalt } from "../../../src/lib/frames/head.ts";
import { inTurns } from "../../../src/lib/schedule/steps.ts";
import { FormatVersionError } from "../../../src/lib/text/versioned-json.ts";
import type { AppId, DeviceId } from "../../../src/model/ids.ts";
import type { StandingEntry } from "../../../src/model/standing-entry.ts";
import { profileOf } from "../../reference/profiles.ts";
import { outcome } from "../../support/rejection.ts";

const ENTRIES = Array.from(
  { length: 300 },
  (_, index): StandingEntry => ({
    kind: "device_profile",
    appId: (index % 3 === 0 ? "other" : "app") as AppId,
    deviceId: `device ${index}` as DeviceId,
    profile: profileOf({ name: `Device ${index}` }),
  }),
);

async function encoded(entries = ENTRIES, sequence = 2 ** 40 + 7): Promise<Uint8Array> {
  return Uint8Array.from((await inTurns(encodeStanding(entries, sequence, createRandomSalt))).bytes);
}

async function decoded(bytes: Uint8Array) {
  const entries: StandingEntry[] = [];
  const file = await inTurns(decodeStanding(bytes, "f", (entry) => entries.push(entry)));
  return { entries, ...file };
}

test("encodeStanding() writes entries that decodeStanding() gives back in their order", async () => {
  const bytes = await encoded();
  const { entries, ...file } = await decoded(bytes);
  expect(entries).toEqual(ENTRIES);
  const apps = new Map([
    ["other", 100],
    ["app", 200],
  ]);
  expect(file as unknown).toEqual({ isWhole: true, sequence: 2 ** 40 + 7, rows: 300, apps });
  expect(describeStanding("standing/1.entries", bytes, file)).toMatchObject({
    bytes: bytes.length,
    rows: 300,
    sequence: 2 ** 40 + 7,
  });
  expect(await decoded(await encoded([]))).toMatchObject({ entries: [], isWhole: true, rows: 0 });
});

test("decodeStanding() gives every entry whose bytes are intact, and says that others are not", async () => {
  const bytes = await encoded(ENTRIES.slice(0, 5));
  for (let at = 0; at < bytes.length; at += at < 4200 ? 97 : 7) {
    const { entries, isWhole } = await decoded(bytes.with(at, bytes[at]! ^ 4)).catch((error) => {
      expect(error).toBeInstanceOf(FormatVersionError); // The version, which has a checksum that fits in no flip.
      return { entries: [], isWhole: false };
    });
    expect([at, isWhole]).toEqual([at, false]);
    expect(entries.length).toBeGreaterThanOrEqual(4);
    for (const entry of entries) expect(ENTRIES).toContainEqual(entry);
  }
});

test("a file has entries of the quarantine too, and one with entries of a kind that is not known is refused", async () => {
  const id = "0123456789abcdef".repeat(2);
  const arrivals = [{ id, count: 3, lastArrivedMs: 5.5 }];
  const entries: StandingEntry[] = [
    ENTRIES[0]!,
    { kind: "refused_arrivals", appId: "app" as AppId, arrivals },
    {
      ...{ kind: "refused_piece", appId: "app" as AppId, id, source: "node", number: 7, start: 2 },
      ...{ totalBytes: 9, bytes: new Uint8Array([1, 2, 3]) },
    },
  ];
  expect((await decoded(await encoded(entries))).entries).toEqual(entries);
  const salt = createRandomSalt();
  const head = (await inTurns(encodeStanding([], 1, () => salt))).bytes;
  const frame = new Uint8Array(FRAME_HEADER_BYTES + 8).fill(200, FRAME_HEADER_BYTES);
  createSaltedFrames(salt).stamp(frame, 1);
  expect(await outcome(decoded(Uint8Array.from([...head, ...frame])))).toThrow(FormatVersionError);
});
