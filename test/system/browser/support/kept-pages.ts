import type { BrowserContextOptions, Page } from "playwright-core";
import { openChromium } from "./chromium.ts";

/*
 * Pages that one visit leaves behind and the next is made on: to open another, with a window of its own around it,
 * takes a browser as long as to load what it shows.
 */

export interface PageOptions extends BrowserContextOptions {
  readonly webgl?: boolean;
}

const kept = new Map<string, Page[]>();

/** A page that has seen nothing yet, or nothing that can be told any more. */
export async function takePage(options: PageOptions): Promise<Page> {
  const page = kept.get(JSON.stringify(options))?.pop();
  if (page !== undefined) return page;
  const { webgl, ...contextOptions } = options;
  const browser = await openChromium({ webgl });
  return (await browser.newContext(contextOptions)).newPage();
}

/** For the next visit with the same options: as it was when it was new, at its first size and without cookies. */
export async function keepPage(options: PageOptions, page: Page): Promise<void> {
  await page.unrouteAll();
  await page.mouse.move(0, 0);
  // The settings that the page remembers; a visit that went nowhere has no storage.
  await page.evaluate(() => location.protocol === "about:" || localStorage.clear());
  await page.goto("about:blank");
  const { colorScheme = null, reducedMotion = null } = options;
  await page.emulateMedia({ colorScheme, reducedMotion });
  if (options.viewport) await page.setViewportSize(options.viewport);
  await page.context().clearCookies();
  const key = JSON.stringify(options);
  kept.set(key, [...(kept.get(key) ?? []), page]);
}
