import { describe, expect, test } from "bun:test";
import { Playback, RATES } from "../../../../src/web/history/playback.ts";
import * as fc from "../../../support/fast-check.ts";
import { trackOf } from "./tracks.ts";

/** An hour, with a silence of 20 minutes in the middle. */
const hour = () => trackOf([0, 600, 1200, 2400, 3000, 3600], { gaps: [3] });

describe("the clock", () => {
  test("stands at the end, and plays from the beginning", () => {
    const playback = new Playback(hour());
    expect([playback.clockMs, playback.isAtEnd, playback.isPlaying]).toEqual([3_600_000, true, false]);
    playback.play(500);
    expect([playback.clockMs, playback.isAtEnd, playback.isPlaying]).toEqual([0, false, true]);
  });

  test("runs as fast as it is told, and goes on from there at another rate", () => {
    const playback = new Playback(hour());
    playback.setRate(60, 0);
    playback.play(1000);
    playback.advance(3000);
    expect(playback.clockMs).toBe(120_000);
    playback.setRate(300, 4000);
    playback.advance(5000);
    expect(playback.clockMs).toBe(480_000);
  });

  test("stands while it is paused", () => {
    const playback = new Playback(hour());
    playback.play(0);
    playback.pause(1000);
    playback.advance(9000);
    expect([playback.clockMs, playback.isPlaying]).toEqual([30_000, false]);
    playback.play(10_000);
    playback.advance(11_000);
    expect(playback.clockMs).toBe(60_000);
  });

  test("jumps over silences, and over nothing else", () => {
    const playback = new Playback(hour());
    playback.seek(1_199_000, 0);
    playback.play(0);
    playback.setRate(1, 0);
    playback.advance(1000);
    expect(playback.clockMs).toBe(1_200_000);
    playback.advance(1001);
    expect(playback.clockMs).toBe(2_400_000);
  });

  test("can be put into a silence by hand", () => {
    const playback = new Playback(hour());
    playback.seek(1_500_000, 0);
    expect(playback.clockMs).toBe(1_500_000);
  });

  test("stops at the end", () => {
    const playback = new Playback(hour());
    playback.seek(3_590_000, 0);
    playback.play(0);
    playback.advance(60_000);
    expect([playback.clockMs, playback.isPlaying, playback.isAtEnd]).toEqual([3_600_000, false, true]);
  });

  test("plays a part to its end, and from there all the rest", () => {
    const playback = new Playback(hour());
    playback.setRate(60, 0);
    playback.playRange({ startMs: 600_000, endMs: 900_000 }, 0);
    playback.advance(4000);
    expect([playback.clockMs, playback.isPlaying]).toEqual([840_000, true]);
    playback.advance(9000);
    expect([playback.clockMs, playback.isPlaying]).toEqual([900_000, false]);
    playback.play(10_000);
    playback.advance(11_000);
    expect([playback.clockMs, playback.isPlaying]).toEqual([960_000, true]);
  });

  test("forgets the part once it is set by hand", () => {
    const playback = new Playback(hour());
    playback.playRange({ startMs: 0, endMs: 60_000 }, 0);
    playback.seek(30_000, 100);
    playback.advance(10_100);
    expect([playback.clockMs, playback.isPlaying]).toEqual([330_000, true]);
  });

  test("keeps within the track", () => {
    const playback = new Playback(hour());
    playback.seek(-5, 0);
    expect(playback.clockMs).toBe(0);
    playback.seek(9e9, 0);
    expect([playback.clockMs, playback.isAtEnd]).toEqual([3_600_000, true]);
  });

  test("stays at the end of a line that grows, and where it was otherwise", () => {
    const track = hour();
    const [atEnd, before] = [new Playback(track), new Playback(track)];
    before.seek(600_000, 0);
    track.append(3_700_000, 0, 0.005);
    expect([atEnd.clockMs, before.clockMs]).toEqual([3_700_000, 600_000]);
    const longer = trackOf([0, 600, 4000]);
    atEnd.goOnWith(longer, 0);
    before.goOnWith(longer, 0);
    expect([atEnd.clockMs, before.clockMs]).toEqual([4_000_000, 600_000]);
  });

  test("shows nothing where there is nothing", () => {
    const playback = new Playback(trackOf([]));
    playback.play(0);
    playback.seek(5, 0);
    expect([playback.clockMs, playback.isPlaying]).toEqual([null, false]);
  });

  test("comes to the same time in many steps and in few, where there is no silence", () => {
    const steps = fc.array(fc.integer({ min: 1, max: 500 }), { minLength: 1, maxLength: 50 });
    const property = fc.property(steps, fc.constantFrom(...RATES), (elapsed, rate) => {
      const playback = new Playback(trackOf([0, 10_000_000]));
      playback.setRate(rate, 0);
      playback.play(0);
      let nowMs = 0;
      for (const ms of elapsed) {
        nowMs += ms;
        playback.advance(nowMs);
      }
      expect(playback.clockMs).toBe(nowMs * rate);
    });
    fc.assert(property);
  });
});
