import type { Page } from "playwright-core";
import { send } from "../../support/client.ts";
import type { Stage } from "../support/stage.ts";
import type { Visit } from "../support/visit.ts";

/* The card that `G` opens, and what the server has of the things that it lists. */

/** Opens a tab of the card, whose list is empty. */
export async function openTab(visit: Visit, { key }: Stage, name: "Alerts" | "Webhooks"): Promise<void> {
  const { page } = visit;
  await visit.enter(key, "/map?zone=UTC");
  await page.locator(".map-canvas canvas").waitFor();
  await page.keyboard.press("g");
  await page.getByRole("button", { name }).click();
  await page.getByText(`No ${name.toLowerCase()} yet.`).waitFor();
}

export const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

/** The geofences, alerts or webhooks that the server has. */
export async function storedItems<Item>(
  { client }: Stage,
  kind: "geofences" | "alerts" | "webhooks",
): Promise<readonly Item[]> {
  const answer = await send(client, "GET", `/api/v1/${kind}`);
  return (answer as Readonly<Record<string, unknown>>)[kind] as readonly Item[];
}
