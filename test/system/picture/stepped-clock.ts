import type { Page } from "playwright-core";

/*
 * A page's clock that moves only when told to. A picture is taken slower than the page moves, and the page shows less
 * motion if its frames take long; by this clock each frame takes the same time. Reports keep the real time.
 */

interface SteppedWindow extends Window {
  stepClock(ms: number): void;
}

/** Must be called before the page is opened. */
export async function useSteppedClock(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const draw = requestAnimationFrame.bind(window);
    let nowMs = performance.now();
    performance.now = () => nowMs;
    window.requestAnimationFrame = (callback) => draw(() => callback(nowMs));
    (window as unknown as SteppedWindow).stepClock = (ms) => {
      nowMs += ms;
    };
  });
}

/** Moves the clock by as many frames, and waits until each is drawn. */
export async function step(page: Page, ms: number, frames = 1): Promise<void> {
  for (let frame = 0; frame < frames; frame++)
    await page.evaluate(async (stepMs) => {
      (window as unknown as SteppedWindow).stepClock(stepMs);
      for (let drawn = 0; drawn < 2; drawn++) await new Promise((resolve) => requestAnimationFrame(resolve));
    }, ms);
}
