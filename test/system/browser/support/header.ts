import type { Page } from "playwright-core";

/** Presses a button of the header, or of its menu. */
export async function pressInHeader(page: Page, name: string): Promise<void> {
  const menu = page.getByRole("button", { name: "Menu", exact: true });
  await menu.waitFor();
  const button = page.locator("header.bar").getByRole("button", { name, exact: true });
  if (!(await button.isVisible())) await menu.click();
  await button.click();
}

/** Chooses in a list of the header's menu. */
export async function chooseInMenu(page: Page, label: string, value: string): Promise<void> {
  await page.getByRole("button", { name: "Menu", exact: true }).click();
  await page.getByLabel(label).selectOption(value);
  await page.keyboard.press("Escape");
}
