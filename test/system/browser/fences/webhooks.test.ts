import { afterAll, expect } from "bun:test";
import type { Page } from "playwright-core";
import { store } from "../../support/client.ts";
import { Receiver } from "../../webhooks/receiver.ts";
import { makeAlert } from "../../webhooks/subscriber.ts";
import { violationsOf } from "../support/axe.ts";
import { tabTo } from "../support/keys.ts";
import { expectAccessible } from "../support/looks.ts";
import { describePage, type Stage } from "../support/stage.ts";
import { button, openTab, storedItems } from "./card.ts";

/*
 * Goal: a person makes a webhook on the page, sees what it was sent and what came of it, and sends it again. Method: a
 * real receiver, which checks each signature by the secret that the page has shown.
 */

interface StoredWebhook {
  readonly id: string;
  readonly state: string;
  readonly types?: readonly string[];
  readonly devices?: readonly string[];
  readonly watches?: readonly string[];
  readonly headers: readonly string[];
}

function storedWebhooks(stage: Stage): Promise<readonly StoredWebhook[]> {
  return storedItems(stage, "webhooks");
}

const secretField = (page: Page) => page.locator(".made input");

/** A report of the van, which makes an event of the alert about speed. */
function drive({ client }: Stage, timestamp: number, speed: number): Promise<unknown> {
  return store(client, [{ device_id: "van", timestamp, latitude: 51.5, longitude: -0.1, speed }]);
}

describePage(
  "webhooks",
  (stage) => {
    const receivers: Receiver[] = [];
    afterAll(() => {
      for (const receiver of receivers) receiver.close();
    });

    stage.test("one is made, tested, paused, resumed, changed and deleted", async (visit, page) => {
      visit.expect(/status of 400/); // Of an address that is refused.
      const receiver = await Receiver.open();
      receivers.push(receiver);
      await makeAlert(stage.client);
      await openTab(visit, stage, "Webhooks");
      await button(page, "New webhook").click();
      await page.getByLabel("Address").fill("https://user@example.com");
      await button(page, "Save").click();
      await page.locator("#fault-url").waitFor();
      await page.getByLabel("Address").fill(receiver.url);
      await page.getByRole("textbox", { name: "Name", exact: true }).fill("Depot");
      await page.getByLabel("Alert ended").uncheck();
      await page.getByLabel("Search for a device to add").fill("va");
      await page.keyboard.press("Enter");
      await button(page, "Remove van").waitFor();
      await page.getByLabel("Search for a geofence or alert to add").fill("fas");
      await button(page, "Fast").click();
      await button(page, "Remove Fast").waitFor();
      await page.getByText("Headers", { exact: true }).click();
      await button(page, "Add a header").click();
      await page.getByLabel("Name of header 1").fill("x-token");
      await page.getByLabel("Value of header 1").fill("secret");
      expect(await violationsOf(page)).toEqual([]);
      await button(page, "Save").click();
      await page.getByRole("heading", { name: "Depot" }).waitFor();
      receiver.secret = await secretField(page).inputValue();
      await page.getByText("Only of Fast.").waitFor();
      const [alert] = await storedItems<{ readonly id: string }>(stage, "alerts");
      expect(await storedWebhooks(stage)).toMatchObject([
        {
          ...{ state: "active", types: ["enter", "dwell", "exit", "alert_start"] },
          ...{ devices: ["van"], watches: [alert!.id], headers: ["x-token"] },
        },
      ]);

      await button(page, "Test").click();
      await page.getByText("Test delivered: 204").waitFor();
      const now = Date.now();
      await drive(stage, now - 2000, 5);
      await drive(stage, now - 1000, 30);
      await visit.until("the event", async () => receiver.received.length === 1);
      await button(page, "Refresh").click();
      await page.getByText("Delivered: 204", { exact: true }).waitFor();
      receiver.status = 400;
      await page.getByRole("button", { name: /^Send again: / }).click();
      await page.getByText("Refused: 400").waitFor();
      expect(receiver.forged).toBe(0);
      await expectAccessible(page);
      receiver.status = 204;
      await page.getByText("Send events again").click();
      await page.getByLabel("All that were made since").fill("2026-01-01T00:00");
      await page.locator("form").getByRole("button", { name: "Send again" }).click();
      await page.getByText("What was made since then is sent again.").waitFor();
      await visit.until("the event again", async () => receiver.received.length === 2);

      await button(page, "Pause").click();
      await page.getByText(/^\s*Paused since/).waitFor();
      expect((await storedWebhooks(stage))[0]!.state).toBe("paused");
      await button(page, "Resume").click();
      await page.getByText("Active", { exact: true }).waitFor();
      await button(page, "Edit").click();
      await button(page, "Remove van").click();
      await button(page, "Remove Fast").click();
      await page.getByLabel("Alert ended").check();
      await button(page, "Save").click();
      await page.getByText("Sends all events.").waitFor();
      expect(await secretField(page).count()).toBe(0);
      const [changed] = await storedWebhooks(stage);
      expect([changed!.headers, changed!.devices, changed!.watches, changed!.types]).toEqual([
        ["x-token"],
        undefined,
        undefined,
        undefined,
      ]);
      await page.locator("summary").getByText("Secret").click();
      await button(page, "Make another secret").click();
      await page.getByText("Copy the secret now").waitFor();
      expect(await secretField(page).inputValue()).not.toBe(receiver.secret);

      await button(page, "Edit").click();
      await button(page, "Delete…").click();
      await page.getByRole("dialog", { name: "Delete “Depot”?" }).waitFor();
      await button(page, "Delete").click();
      await page.getByText("No webhooks yet.").waitFor();
      expect(await storedWebhooks(stage)).toEqual([]);
    });

    stage.test("keys alone make one, and Esc leads back; the form is accessible", async (visit, page) => {
      await openTab(visit, stage, "Webhooks");
      await tabTo(page, button(page, "New webhook"));
      await page.keyboard.press("Enter");
      await tabTo(page, page.getByLabel("Address"));
      await page.keyboard.type("http://127.0.0.1:9/hook");
      await expectAccessible(page);
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "127.0.0.1:9" }).waitFor();
      await tabTo(page, button(page, "Test"));
      await page.keyboard.press("Enter");
      await page.getByText("Test failed: no answer").waitFor();
      expect(await violationsOf(page)).toEqual([]);
      await page.keyboard.press("Escape");
      await page.getByRole("heading", { name: "Webhooks" }).waitFor();
      expect(await violationsOf(page)).toEqual([]);
      await page.keyboard.press("Escape");
      await page.getByRole("heading", { name: "Webhooks" }).waitFor({ state: "detached" });
    });
  },
  {
    isPageAlone: true,
    args: () => ["--webhook-allow", "127.0.0.1"],
    prepare: (stage) => drive(stage, Date.now() - 60_000, 5),
  },
);
