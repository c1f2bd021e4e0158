import type { CDPSession } from "playwright-core";
import { Visit } from "../../../test/system/browser/support/visit.ts";
import { hasProcessFigures, readProcessFigures } from "../../../test/system/soak/support/process-figures.ts";

/** Records when the expected number of dots is drawn, how often dots are drawn, and frames of the page. */
const COUNT = `{
  globalThis.framesSeen = 0;
  globalThis.mapFramesSeen = 0;
  const { drawArrays } = WebGL2RenderingContext.prototype;
  WebGL2RenderingContext.prototype.drawArrays = function (mode, first, count) {
    if (mode === this.POINTS) globalThis.mapFramesSeen++;
    if (mode === this.POINTS && count >= globalThis.dotsWanted) globalThis.dotsAtMs ??= performance.now();
    return drawArrays.call(this, mode, first, count);
  };
  const tick = () => { globalThis.framesSeen++; requestAnimationFrame(tick); };
  requestAnimationFrame(tick);
}`;

/** Browsers don't report shorter ones, and round to 8 ms. */
const PAINT_MS_MIN = 16;
/** Frames until the browser has reported a paint. */
const FRAMES_UNTIL_TOLD = 20;

/** Records the time from a key press until its effect is painted. */
const WATCH_KEYS = `{
  globalThis.paintsMs = [];
  new PerformanceObserver((list) => {
    for (const { name, duration } of list.getEntries()) if (name === "keydown") globalThis.paintsMs.push(duration);
  }).observe({ type: "event", durationThreshold: ${PAINT_MS_MIN} });
}`;

interface Noted {
  readonly dotsAtMs?: number;
  readonly framesSeen: number;
  readonly mapFramesSeen: number;
  readonly paintsMs: number[];
}

/** The network of a phone on a slow line. */
const SLOW_LINE = { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 200_000 };
const DOTS_MS_MAX = 60_000;

export interface WatchedOptions {
  /** The expected number of dots. */
  readonly dots?: number;
  readonly isFar?: boolean;
  readonly webgl?: boolean;
}

/** The main thread of a page since its start. */
export interface MainThread {
  /** Processor time, without waiting. */
  readonly processorMs: number;
  /** Wall-clock time in tasks. */
  readonly tasksMs: number;
  readonly frames: number;
  /** The frames in which the map drew dots. */
  readonly mapFrames: number;
}

/** A visit of the map page that measures the browser's work. */
export class WatchedPage {
  readonly visit: Visit;
  readonly session: CDPSession;

  private constructor(visit: Visit, session: CDPSession) {
    this.visit = visit;
    this.session = session;
  }

  static async open(
    { url, key }: { readonly url: string; readonly key: string },
    { dots = 1, isFar = false, webgl = true }: WatchedOptions = {},
  ): Promise<WatchedPage> {
    const visit = await Visit.open(url, { webgl, deviceScaleFactor: 1, reducedMotion: "no-preference" });
    await visit.context.addInitScript(`globalThis.dotsWanted = ${dots}; ${COUNT} ${WATCH_KEYS}`);
    const session = await visit.context.newCDPSession(visit.page);
    await session.send("Performance.enable");
    if (isFar) {
      await session.send("Network.enable");
      await session.send("Network.emulateNetworkConditions", SLOW_LINE);
    }
    await visit.enter(key);
    return new WatchedPage(visit, session);
  }

  /** The time from the start of the visit until the dots were drawn. */
  dotsAtMs(): Promise<number> {
    return this.visit.until("the dots", async () => (await this.#noted()).dotsAtMs ?? null, DOTS_MS_MAX);
  }

  firstPaintMs(): Promise<number> {
    return this.visit.page.evaluate(
      () => performance.getEntriesByName("first-contentful-paint")[0]!.startTime,
    );
  }

  async mainThread(): Promise<MainThread> {
    const { framesSeen, mapFramesSeen } = await this.#noted();
    return {
      processorMs: (await this.#metric("ThreadTime")) * 1000,
      tasksMs: (await this.#metric("TaskDuration")) * 1000,
      frames: framesSeen,
      mapFrames: mapFramesSeen,
    };
  }

  /** JavaScript's heap after garbage collection. */
  async heapBytes(): Promise<number> {
    await this.session.send("HeapProfiler.collectGarbage");
    return this.#metric("JSHeapUsedSize");
  }

  /** Resident memory of the page's process, with the browser's own code; null if unknown. */
  async residentBytes(): Promise<number | null> {
    if (!hasProcessFigures) return null;
    const browser = await this.visit.context.browser()!.newBrowserCDPSession();
    const { processInfo } = await browser.send("SystemInfo.getProcessInfo");
    await browser.detach();
    // One of several belongs to the page; the others are spare.
    const renderers = processInfo.filter(({ type }) => type === "renderer");
    return Math.max(...renderers.map(({ id }) => readProcessFigures(id).residentBytes));
  }

  /** Types a text, and returns the time until the effect of each key is painted. */
  async typeMs(text: string, pauseMs: number): Promise<number[]> {
    await this.visit.page.locator("#search").focus();
    const paints: number[] = [];
    for (const key of text) {
      const before = await this.#noted();
      await this.visit.page.keyboard.press(key);
      const paintMs = await this.visit.until(`the paint of "${key}"`, async () => {
        const { paintsMs, framesSeen } = await this.#noted();
        const isOver = framesSeen >= before.framesSeen + FRAMES_UNTIL_TOLD;
        return paintsMs[before.paintsMs.length] ?? (isOver ? PAINT_MS_MIN : null);
      });
      paints.push(paintMs);
      await Bun.sleep(pauseMs);
    }
    return paints;
  }

  close(): Promise<void> {
    return this.visit.close();
  }

  async #metric(name: string): Promise<number> {
    const { metrics } = await this.session.send("Performance.getMetrics");
    return metrics.find((each) => each.name === name)!.value;
  }

  #noted(): Promise<Noted> {
    return this.visit.page.evaluate(() => {
      const { dotsAtMs, framesSeen, mapFramesSeen, paintsMs } = globalThis as unknown as Noted;
      const noted = { framesSeen, mapFramesSeen, paintsMs };
      return dotsAtMs === undefined ? noted : { ...noted, dotsAtMs };
    });
  }
}
