// Goal: nothing that a client sends passes for a frame, whatever happens to the bytes of the log. Method: batches carry
// whole frames of the format itself as numbers, as texts and as indexes, for an app that is not theirs; the log is then
// cut at every length and flipped at every byte.
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { createSaltedFrames, FRAME_HEADER_BYTES, FRAME_SALT_BYTES } from "../../../src/lib/frames/frame.ts";
import { createRandomSalt } from "../../../src/lib/frames/head.ts";
import { parseAppId } from "../../../src/model/ids.ts";
import { NUMBER_FIELDS, PROFILE_FIELDS, STATE_FIELDS } from "../../../src/model/location-fields.ts";
import type { ReportBatch } from "../../../src/model/report-batch.ts";
import { createEntryEncoder } from "../../../src/wal/entry/entry.ts";
import { encodeSegmentHead, SEGMENT_HEAD_BYTES, segmentName } from "../../../src/wal/segment.ts";
import { createSimulatedFiles } from "../../support/disk/simulated-files.ts";
import * as fc from "../../support/fast-check.ts";
import { APP, LOG, namedBatch, openTestWal, saltOf, segmentPaths } from "./fixture.ts";

// Its cases compute for seconds on a quiet machine, and wait for nothing.
setDefaultTimeout(60_000);

const VICTIM = parseAppId("victim")!;

/** A batch of another app that carries all fields. */
function forgedBatch(): ReportBatch {
  const batch = namedBatch("forged");
  return { ...batch, numbers: NUMBER_FIELDS.map(() => new Float64Array([1.5])) };
}

/** A whole frame with a salt that somebody guessed. */
function forgedFrame(salt: Uint8Array, sequence: number): Uint8Array {
  const frame = createEntryEncoder().encode(VICTIM, forgedBatch(), FRAME_HEADER_BYTES);
  createSaltedFrames(salt).stamp(frame, sequence);
  return frame;
}

/** A batch that carries the bytes, 8-aligned, in each of its columns in turn: more than any client can do. */
function carrying(bytes: Uint8Array): ReportBatch {
  const padded = new Uint8Array(Math.ceil(bytes.length / 8) * 8);
  padded.set(bytes);
  const doubles = new Float64Array(padded.buffer);
  const count = Math.max(doubles.length, padded.length);
  const column = () => {
    const values = new Float64Array(count).fill(1 / 3); // No short decimal, so that the column is doubles as they are.
    values.set(doubles);
    return values;
  };
  const indexes = new Uint32Array(count);
  indexes.set(padded); // Up to 255: one byte each.
  const texts = ["", ...Array.from({ length: 256 }, (_, i) => `${i}`), Buffer.from(bytes).toString("latin1")];
  return {
    count,
    texts,
    device: indexes,
    timestampMs: column(),
    numbers: NUMBER_FIELDS.map(column),
    profiles: new Uint32Array(256 * PROFILE_FIELDS.length),
    profile: indexes,
    states: new Uint32Array(256 * STATE_FIELDS.length),
    state: indexes,
  };
}

/** Everything of the format that somebody could know who does not know the salt. */
function forgeries(knownSalts: readonly Uint8Array[]): Uint8Array {
  const salts = [new Uint8Array(FRAME_SALT_BYTES), ...knownSalts];
  const frames = [3, 5000, 2 ** 50].flatMap((sequence) => salts.map((salt) => forgedFrame(salt, sequence)));
  return new Uint8Array(Buffer.concat([...frames, encodeSegmentHead(1, createRandomSalt()), frames[0]!]));
}

/** The sequences and apps that a log opens with. */
async function opened(contents: ReadonlyMap<string, Uint8Array>) {
  const found: string[] = [];
  const onEntry = ({ sequence, appId }: { sequence: number; appId: string }) =>
    found.push(`${sequence} ${appId}`);
  await openTestWal(createSimulatedFiles(contents), { onEntry });
  return found;
}

/** Numbers below `end`: all near the borders, and some of those between. */
function spots(borders: readonly number[], end: number): number[] {
  return Array.from({ length: end }, (_, at) => at).filter(
    (at) => at % 487 === 0 || borders.some((border) => Math.abs(at - border) < 40),
  );
}

describe("a log whose batches carry frames", () => {
  async function attackedLog() {
    const files = createSimulatedFiles();
    const first = await openTestWal(files);
    await first.wal.append(APP, namedBatch("before"));
    await first.wal.close();
    const [older] = await segmentPaths(files);
    const salt = saltOf(files.contents().get(older!)!);

    const { wal } = await openTestWal(files, { segmentBytesMax: 1e9 });
    const path = `${LOG}/${segmentName(2)}`;
    const ends = [SEGMENT_HEAD_BYTES];
    for (const batch of [namedBatch("a"), carrying(forgeries([salt])), namedBatch("b")]) {
      await wal.append(APP, batch);
      ends.push(files.contents().get(path)!.length);
    }
    return { contents: files.contents(), path, ends };
  }

  /** The entries whose frames pass. */
  const left = (passes: (frame: number) => boolean) => [
    "1 app",
    ...[0, 1, 2].filter(passes).map((frame) => `${frame + 2} app`),
  ];

  test("gives what it was given where it is cut at any length", async () => {
    const { contents, path, ends } = await attackedLog();
    const whole = contents.get(path)!;
    for (const length of spots(ends, whole.length)) {
      const cut = new Map(contents).set(path, whole.slice(0, length));
      expect(await opened(cut)).toEqual(left((frame) => ends[frame + 1]! <= length));
    }
  });

  test("loses the frame that a flipped bit is in and no other", async () => {
    const { contents, path, ends } = await attackedLog();
    const whole = contents.get(path)!;
    for (const position of spots(ends, whole.length)) {
      const flipped = new Map(contents).set(
        path,
        whole.with(position, whole[position]! ^ (1 << (position % 8))),
      );
      const isHit = (frame: number) => position >= ends[frame]! && position < ends[frame + 1]!;
      expect(await opened(flipped)).toEqual(left((frame) => !isHit(frame)));
    }
  });

  test("believes nothing in a segment that lost both headers", async () => {
    const { contents, path, ends } = await attackedLog();
    const lost = contents.get(path)!.slice().fill(0xee, 0, ends[1]!);
    expect(await opened(new Map(contents).set(path, lost))).toEqual(["1 app"]);
  });
});

test("openWal() takes no forged frame at any place, with whatever bytes before and behind it", async () => {
  const filler = fc.uint8Array({ maxLength: 64 });
  await fc.assert(
    fc.asyncProperty(filler, filler, fc.nat(), fc.nat(), async (before, behind, cut, flip) => {
      const files = createSimulatedFiles();
      const { wal } = await openTestWal(files, { segmentBytesMax: 1e9 });
      await wal.append(APP, carrying(new Uint8Array([...before, ...forgeries([]), ...behind])));
      await wal.append(APP, namedBatch("last"));
      const [path] = await segmentPaths(files);
      const whole = files.contents().get(path!)!;
      const frames = whole.length - SEGMENT_HEAD_BYTES;
      const cutBytes = SEGMENT_HEAD_BYTES + (cut % frames);
      const changed = whole.slice(0, cut % 3 === 0 ? cutBytes : whole.length);
      changed[SEGMENT_HEAD_BYTES + (flip % (changed.length - SEGMENT_HEAD_BYTES || 1))]! ^= 1 << (flip % 8);
      for (const entry of await opened(new Map([[path!, changed]])))
        expect(["1 app", "2 app"]).toContain(entry);
    }),
    { numRuns: 60 },
  );
});

test("openWal() reports a file that is named as no segment can be, and leaves it as it is", async () => {
  const files = createSimulatedFiles();
  const { wal } = await openTestWal(files);
  await wal.append(APP, namedBatch("a"));
  await wal.close();
  const [path] = await segmentPaths(files);
  const bytes = files.contents().get(path!)!;
  const misnamed = `${LOG}/${"9".repeat(20)}.wal`;
  const again = createSimulatedFiles(new Map(files.contents()).set(misnamed, bytes));
  const { recovery, found } = await openTestWal(again);
  expect(found).toEqual(["1 a"]);
  expect(recovery.damage).toEqual([{ file: misnamed, offset: 0, bytes: bytes.length, savedAs: null }]);
  expect(again.contents().get(misnamed)).toEqual(bytes);
});
