import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import type { History } from "../../../../src/web/history/history.ts";
import { NO_ENDS } from "../../../../src/web/history/history.ts";
import { Player } from "../../../../src/web/history/player.ts";
import type { Head } from "../../../../src/web/history/track.ts";
import { type LocalDay, spanNamed } from "../../../../src/web/time/local-day.ts";
import { trackOf } from "./tracks.ts";

/** A browser's frames, which come when the test says. */
const frames = new Map<number, () => void>();
let frameCount = 0;
let nowMs = 0;
const { requestAnimationFrame, cancelAnimationFrame } = globalThis;
const { now } = performance;

beforeEach(() => {
  frames.clear();
  nowMs = 0;
  globalThis.requestAnimationFrame = (callback) => {
    frames.set(++frameCount, () => callback(nowMs));
    return frameCount;
  };
  globalThis.cancelAnimationFrame = (id) => frames.delete(id);
  performance.now = () => nowMs;
});

afterAll(() => {
  Object.assign(globalThis, { requestAnimationFrame, cancelAnimationFrame });
  performance.now = now;
});

function frameAt(ms: number): void {
  nowMs = ms;
  const due = [...frames.values()];
  frames.clear();
  for (const frame of due) frame();
}

/** Of positions 0.001° from each other, a minute apart. */
function historyOf({
  endMs = 1e6,
  span = "day" as "day" | "week",
  deviceId = "bus",
  minutes = [0, 1, 2, 3],
} = {}): History {
  return {
    ...{ deviceId, day: "2026-11-22" as LocalDay, zone: "UTC", span: spanNamed(span), isView: false },
    ...{ range: { startMs: 0, endMs }, reports: 4, isIncomplete: false, ends: NO_ENDS, stops: null },
    track: trackOf(minutes.map((minute) => minute * 60)),
  };
}

function create() {
  const heads: (Head | null)[] = [];
  const player = new Player({ setHead: (head) => heads.push(head) }, () => {});
  return { player, heads };
}

describe("a player", () => {
  test("moves the head as the clock goes, until the end", () => {
    const { player, heads } = create();
    player.use(historyOf());
    expect(heads.at(-1)).toMatchObject({ longitude: 0.003 });
    player.toggle();
    expect(heads.at(-1)).toMatchObject({ longitude: 0 });
    frameAt(1000);
    expect([player.playback?.clockMs, heads.at(-1)?.longitude]).toEqual([30_000, 0.0005]);
    frameAt(9000);
    expect([player.playback?.isPlaying, heads.at(-1)?.longitude, frames.size]).toEqual([false, 0.003, 0]);
  });

  test("stands still while it is paused", () => {
    const { player, heads } = create();
    player.use(historyOf());
    player.toggle();
    frameAt(1000);
    player.toggle();
    expect(frames.size).toBe(0);
    frameAt(5000);
    expect(heads.at(-1)?.longitude).toBe(0.0005);
  });

  test("has no head at the end of today, where the device's own dot is", () => {
    const { player, heads } = create();
    player.use(historyOf({ endMs: Date.now() + 1e6 }));
    expect(heads.at(-1)).toBeNull();
    player.seek(0);
    expect(heads.at(-1)).toMatchObject({ longitude: 0 });
  });

  test("plays no more than a day", () => {
    const { player, heads } = create();
    player.use(historyOf({ span: "week" }));
    player.toggle();
    expect([player.playback, heads.at(-1), frames.size]).toEqual([null, null, 0]);
  });

  test("goes on where it is while the same day is asked for again, and begins anew with another", () => {
    const { player } = create();
    player.use(historyOf());
    player.setRate(60);
    player.seek(60_000);
    player.use(historyOf({ minutes: [0, 1, 2, 3, 4] }));
    expect(player.playback?.clockMs).toBe(60_000);
    player.use(historyOf({ deviceId: "tram" }));
    expect([player.playback?.clockMs, player.playback?.rate]).toEqual([180_000, 60]);
  });

  test("goes to when the device was where somebody clicked, if it was", () => {
    const { player } = create();
    player.use(historyOf());
    player.seekNear({ latitude: 0.0001, longitude: 0.0011 }, 20);
    expect(player.playback?.clockMs).toBe(60_000);
    player.seekNear({ latitude: 0.01, longitude: 0.002 }, 20);
    expect(player.playback?.clockMs).toBe(60_000);
  });
});
