import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { violationsOf } from "./axe.ts";
import { turnTo } from "./color-scheme.ts";
import { layoutFaults } from "./layout.ts";

const LOOKS = [
  ["light", 1280],
  ["light", 390],
  ["dark", 390],
  ["dark", 1280],
] as const;

/** Expects no fault of accessibility or layout on the page as it is: in light and dark, on a desktop and on a phone. */
export async function expectAccessible(page: Page): Promise<void> {
  for (const [colorScheme, width] of LOOKS) {
    await page.setViewportSize({ width, height: 844 });
    await turnTo(page, colorScheme);
    expect([colorScheme, width, await violationsOf(page), await layoutFaults(page)]).toEqual([
      ...[colorScheme, width, [], []],
    ]);
  }
}
