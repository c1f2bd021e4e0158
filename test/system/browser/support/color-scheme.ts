import { errors, type Page } from "playwright-core";

const FOLLOWS_MS_MAX = 5000;

/**
 * Shows the page by day or by night, and waits until it has followed. After axe, a browser may pass over the change, so
 * it is told again; only the test's timeout limits that.
 */
export async function turnTo(page: Page, colorScheme: "light" | "dark"): Promise<void> {
  for (;;) {
    await page.emulateMedia({ colorScheme });
    try {
      return await page.locator(`html[data-theme=${colorScheme}]`).waitFor({ timeout: FOLLOWS_MS_MAX });
    } catch (error) {
      if (!(error instanceof errors.TimeoutError)) throw error;
      await page.emulateMedia({ colorScheme: null });
    }
  }
}
