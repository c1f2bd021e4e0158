import { expect, test } from "bun:test";
import { viewsOf } from "../../../src/lib/frames/views.ts";
import type { AppId } from "../../../src/model/ids.ts";
import {
  decodeQuarantineEntry,
  ENTRY_IDS_MAX,
  encodeQuarantineEntry,
  PIECE_OVERHEAD_BYTES,
  type QuarantineEntry,
} from "../../../src/model/quarantine-entry.ts";
import * as fc from "../../support/fast-check.ts";

const ids = fc
  .uint8Array({ minLength: 16, maxLength: 16 })
  .map((bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(""));
const appIds = fc.stringMatching(/^[a-z][a-z0-9-]{0,30}$/).map((text) => text as AppId);
const pieces = fc
  .record({
    kind: fc.constant("refused_piece" as const),
    appId: appIds,
    id: ids,
    source: fc.stringMatching(/^[0-9a-f]{0,16}$/),
    number: fc.nat(),
    start: fc.nat(1_000_000),
    bytes: fc.uint8Array({ minLength: 1, maxLength: 100 }),
    rest: fc.nat(1_000_000),
  })
  .map(({ rest, ...piece }) => ({ ...piece, totalBytes: piece.start + piece.bytes.length + rest }));
const deletions = fc.record({
  kind: fc.constant("refused_deletion" as const),
  appId: appIds,
  messages: fc.array(fc.record({ id: ids, sequence: fc.maxSafeNat() }), { maxLength: 20 }),
});
const arrivals = fc.record({
  kind: fc.constant("refused_arrivals" as const),
  appId: appIds,
  arrivals: fc.array(
    fc.record({
      id: ids,
      count: fc.nat(),
      lastArrivedMs: fc.maxSafeNat(),
    }),
    { maxLength: 20 },
  ),
});
const entries: fc.Arbitrary<QuarantineEntry> = fc.oneof(pieces, deletions, arrivals);

function decoded(bytes: Uint8Array, start = 0): QuarantineEntry | null {
  return decodeQuarantineEntry(viewsOf(bytes), start, bytes.length);
}

test("encodeQuarantineEntry() and decodeQuarantineEntry() give every entry back, behind any headroom", () => {
  fc.assert(
    fc.property(entries, fc.constantFrom(0, 8, 24), (entry, headroom) => {
      const bytes = encodeQuarantineEntry(entry, headroom);
      expect(bytes.length % 8).toBe(0);
      expect(decoded(bytes, headroom)).toEqual(entry);
    }),
  );
});

test("decodeQuarantineEntry() takes bytes of another length, or of another change, for no entry", () => {
  fc.assert(
    fc.property(entries, (entry) => {
      const bytes = encodeQuarantineEntry(entry, 0);
      for (let end = 0; end < bytes.length; end += 8) expect(decoded(bytes.slice(0, end))).toBeNull();
      expect(decoded(Uint8Array.from([...bytes, ...new Uint8Array(8)]))).toBeNull();
      expect(decoded(bytes.with(1, 9))).toBeNull();
    }),
  );
});

test.each([
  ["an id that leads elsewhere", { id: "../../etc/passwd" }],
  ["a long source", { source: "x".repeat(65) }],
  ["an end behind the message's", { totalBytes: 2 }],
  ["more bytes than a message may have", { totalBytes: 2 ** 40 }],
  ["no piece", { bytes: new Uint8Array() }],
  ["a start before the beginning", { start: -1 }],
  ["another app id", { appId: ".." as AppId }],
])("decodeQuarantineEntry() refuses a piece with %s", (_, changes) => {
  const piece = {
    ...({ kind: "refused_piece", appId: "app" as AppId, id: "0123456789abcdef".repeat(2) } as const),
    source: "",
    ...{ number: 1, start: 0, totalBytes: 3, bytes: new Uint8Array([1, 2, 3]) },
  } as const;
  expect(decoded(encodeQuarantineEntry(piece, 0))).toEqual(piece);
  expect(decoded(encodeQuarantineEntry({ ...piece, ...changes }, 0))).toBeNull();
});

test("an entry has room for its piece, whatever else it says", () => {
  const piece = {
    ...({ kind: "refused_piece", appId: "a".repeat(64) as AppId, id: "f".repeat(32) } as const),
    source: "n".repeat(64),
    ...{ number: 2 ** 48, start: 2 ** 24, totalBytes: 2 ** 25, bytes: new Uint8Array(1) },
  } as const;
  expect(encodeQuarantineEntry(piece, 8).length).toBeLessThan(PIECE_OVERHEAD_BYTES);
  expect(ENTRY_IDS_MAX).toBeLessThanOrEqual(1024);
});
