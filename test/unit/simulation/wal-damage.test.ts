// Goal: whatever happens to the bytes of a log, it opens, every frame that was not touched is there, and the next
// start finds nothing new. Method: a small log of three segments, cut at lengths and flipped at bytes that are drawn
// from its frames and heads, and always at the ends of those; all of them in the system tier.
import { expect, test } from "bun:test";
import { FRAME_HEADER_BYTES } from "../../../src/lib/frames/frame.ts";
import { SEGMENT_HEAD_BYTES } from "../../../src/wal/segment.ts";
import { createSimulatedFiles } from "../../support/disk/simulated-files.ts";
import { drawSome, randomRuns } from "../../support/random-runs.ts";
import { APP, appendNamed, namedBatch, openTestWal, segmentPaths } from "../wal/fixture.ts";

const SEGMENT_BYTES = SEGMENT_HEAD_BYTES + 768;

/** Positions in a segment: of its headers, of what lies between them, and of its frames. */
function positionsOf({ contents, placed }: ThreeSegments, path: string): number[] {
  const { length } = contents.get(path)!;
  const all = [...Array(length).keys()].filter((at) => at < 48 || at >= 4096 || at % 97 === 0);
  const edges = placed
    .filter((frame) => frame.path === path)
    .flatMap(({ start, end }) => [start - 1, start, start + 1, end - 1]);
  const chosen = new Set([0, 31, 32, ...edges, ...drawSome(all, randomRuns(all.length))]);
  return [...chosen].sort((a, b) => a - b);
}

/** Where each entry's frame lies. */
interface Placed {
  readonly entry: string;
  readonly path: string;
  readonly start: number;
  readonly end: number;
}

interface ThreeSegments {
  readonly contents: ReadonlyMap<string, Uint8Array>;
  readonly paths: readonly string[];
  readonly placed: readonly Placed[];
}

async function threeSegments(): Promise<ThreeSegments> {
  const files = createSimulatedFiles();
  const { wal } = await openTestWal(files, { segmentBytesMax: SEGMENT_BYTES });
  const placed: Placed[] = [];
  for (const [name, reports] of [
    ["a", 1],
    ["b", 3],
    ["c", 1],
    ["d", 1],
    ["e", 2],
    ["f", 1],
    ["g", 4],
  ] as const) {
    const appended = await wal.append(APP, namedBatch(name, reports));
    const path = (await segmentPaths(files)).at(-1)!;
    const end = files.contents().get(path)!.length;
    const before = placed.findLast((other) => other.path === path);
    placed.push({
      entry: `${appended.ok && appended.value} ${name}`,
      path,
      start: before?.end ?? SEGMENT_HEAD_BYTES,
      end,
    });
  }
  await wal.close();
  return { contents: files.contents(), paths: await segmentPaths(files), placed };
}

/** The log opens with exactly these entries, takes another, and opens again with no damage. */
async function expectRecovered(contents: ReadonlyMap<string, Uint8Array>, expected: readonly string[]) {
  const files = createSimulatedFiles(contents);
  const opened = await openTestWal(files, { segmentBytesMax: SEGMENT_BYTES });
  expect(opened.found).toEqual([...expected]);
  const repaired = files.contents();
  const second = await openTestWal(files.crash(), { segmentBytesMax: SEGMENT_BYTES });
  expect(second.found).toEqual([...expected]);
  expect(second.recovery).toMatchObject({ damage: [], tornTail: null });

  const again = createSimulatedFiles(repaired);
  const appended = await appendNamed((await openTestWal(again)).wal, ["new"]);
  const third = await openTestWal(again.crash());
  expect(third.found).toEqual([...expected, ...appended]);
  expect(third.recovery).toMatchObject({ damage: [], tornTail: null });
  return { ...opened.recovery, appendedSequence: Number.parseInt(appended[0]!, 10) };
}

test("openWal() recovers every whole frame of a log cut at any length", async () => {
  const segments = await threeSegments();
  const { contents, paths, placed } = segments;
  expect(paths.length).toBe(3);
  for (const path of paths) {
    const whole = contents.get(path)!;
    for (const length of [...positionsOf(segments, path), whole.length]) {
      const cut = new Map(contents).set(path, whole.slice(0, length));
      const left = placed.filter((frame) => frame.path !== path || frame.end <= length);
      const { damage, tornTail } = await expectRecovered(
        cut,
        left.map(({ entry }) => entry),
      );
      const end = Math.max(0, ...left.filter((frame) => frame.path === path).map((frame) => frame.end));
      const isNewest = path === paths.at(-1);
      const badBytes = length === SEGMENT_HEAD_BYTES || length === end ? 0 : length - Math.max(end, 0);
      if (length > SEGMENT_HEAD_BYTES && isNewest) {
        const from = Math.max(end, SEGMENT_HEAD_BYTES);
        expect(damage).toEqual([]);
        expect(tornTail?.bytes ?? 0).toBe(length - from);
      } else {
        expect(tornTail).toBeNull();
        expect(damage.length).toBe(badBytes > 0 || length === 0 ? 1 : 0);
      }
    }
  }
});

test("openWal() loses one frame at most to any flipped byte", async () => {
  const segments = await threeSegments();
  const { contents, paths, placed } = segments;
  for (const path of paths) {
    const whole = contents.get(path)!;
    for (const position of positionsOf(segments, path)) {
      const flipped = whole.slice();
      flipped[position]! ^= 1 << (position % 8);
      const lost = placed.find(
        (frame) => frame.path === path && position >= frame.start && position < frame.end,
      );
      const left = placed.filter((frame) => frame !== lost).map(({ entry }) => entry);
      const recovery = await expectRecovered(new Map(contents).set(path, flipped), left);

      // The last frame of all looks like a write cut short; its sequence is not given again all the same.
      const isTail = lost === placed.at(-1);
      expect(recovery.damage.length).toBe(isTail ? 0 : 1);
      const [range = recovery.tornTail] = recovery.damage;
      expect(range).toMatchObject({
        file: path,
        offset: lost?.start ?? 0,
        bytes: (lost?.end ?? SEGMENT_HEAD_BYTES) - (lost?.start ?? 0),
      });
      expect(recovery.appendedSequence).toBeGreaterThan(placed.length);
      expect(recovery.appendedSequence).toBeLessThanOrEqual(
        placed.length + Math.ceil(whole.length / FRAME_HEADER_BYTES) + 1,
      );
    }
  }
});
