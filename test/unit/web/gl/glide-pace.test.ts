import { expect, test } from "bun:test";
import { GLIDE_MS, GlidePace } from "../../../../src/web/gl/glide-pace.ts";

/** Draws frames of a glide that take so long each; returns when the last one came. */
function draw(pace: GlidePace, fromMs: number, tookMs: readonly number[]): number {
  let nowMs = fromMs;
  pace.frame(nowMs, true);
  for (const [index, ms] of tookMs.entries()) {
    nowMs += ms;
    pace.frame(nowMs, index < tookMs.length - 1);
  }
  return nowMs;
}

const AS_EVER = { matches: false };

test("dots leap for those who want no motion", () => {
  expect(new GlidePace(AS_EVER).glideMs(0)).toBe(GLIDE_MS);
  expect(new GlidePace({ matches: true }).glideMs(0)).toBe(0);
});

test("dots leap for a minute after six frames that took long together, over several glides", () => {
  const pace = new GlidePace(AS_EVER);
  draw(pace, 1000, [400, 50, 400]);
  expect(pace.glideMs(2000)).toBe(GLIDE_MS);
  const endMs = draw(pace, 2500, [50, 400, 50]);
  expect([pace.glideMs(endMs), pace.glideMs(endMs + 59_999)]).toEqual([0, 0]);
  expect([pace.isSlow(endMs), pace.isSlow(endMs + 60_000)]).toEqual([true, false]);
  expect(pace.glideMs(endMs + 60_000)).toBe(GLIDE_MS);
});

test("dots leap for twice as long each time that frames still take long, until they don't", () => {
  const pace = new GlidePace(AS_EVER);
  const slow = [400, 400, 400, 400, 400, 400];
  const first = draw(pace, 0, slow);
  const second = draw(pace, first + 60_000, slow);
  expect([pace.glideMs(second + 119_999), pace.glideMs(second + 120_000)]).toEqual([0, GLIDE_MS]);
  const third = draw(pace, second + 120_000, [16, 16, 16, 16, 16, 16]);
  const fourth = draw(pace, third + 1000, slow);
  expect([pace.glideMs(fourth + 59_999), pace.glideMs(fourth + 60_000)]).toEqual([0, GLIDE_MS]);
});

test("the time between two glides, and a page that nobody sees, count for nothing", () => {
  const pace = new GlidePace(AS_EVER);
  draw(pace, 1000, [400, 16, 16, 16, 400, 16]);
  for (let glide = 0; glide < 9; glide++) draw(pace, 10_000 + glide * 1000, [16, 16]);
  draw(pace, 30_000, [5000, 5000, 5000, 5000, 5000, 5000]);
  expect(pace.glideMs(60_000)).toBe(GLIDE_MS);
});

test("where frames take long, half of the time is left for the rest of the page", () => {
  const pace = new GlidePace(AS_EVER);
  draw(pace, 1000, [16, 16, 16, 16, 16, 16]);
  expect(pace.waitMs(1096)).toBe(0);
  const endMs = draw(pace, 2000, [400, 400, 400, 400, 400, 400]);
  expect([pace.waitMs(endMs), pace.waitMs(endMs + 700), pace.waitMs(endMs + 900)]).toEqual([800, 100, 0]);
  pace.frame(endMs + 900, false);
  expect(pace.waitMs(endMs + 901)).toBe(799);
  expect(pace.waitMs(endMs + 60_000)).toBe(0);
});
