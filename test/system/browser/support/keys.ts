import type { Locator, Page } from "playwright-core";

/** More than the page has ever had places to stop at. */
const TABS_MAX = 200;

/** Moves the focus on, by the key for it, until the element has it: whoever has no pointer gets there. */
export async function tabTo(page: Page, element: Locator): Promise<void> {
  await element.waitFor();
  for (let step = 0; step < TABS_MAX; step++) {
    if (await element.evaluate((each) => each === document.activeElement)) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`Tab does not lead to ${element}`);
}
