import { expect } from "bun:test";
import { store } from "../support/client.ts";
import { setProfile } from "./support/devices.ts";
import { pressInHeader } from "./support/header.ts";
import { layoutFaults } from "./support/layout.ts";
import { describePage } from "./support/stage.ts";
import type { Visit } from "./support/visit.ts";

/*
 * Goal: from a small phone to a large screen nothing is cut off and no control lies under another. Method: each state
 * of the page is looked at in windows of all widths.
 */

const PHONES = [360, 390, 768];
const SCREENS = [900, 1024, 1280, 1920, 2560];
const WIDTHS = [...PHONES, ...SCREENS];

/** How long a state may take to settle after the window has changed. */
const SETTLE_MS = 5000;

describePage(
  "every width",
  (stage) => {
    stage.test("holds the list, a device with its day, the tools and the menu", async (visit, page) => {
      await visit.goto("/map");
      await page.getByLabel("Key", { exact: true }).waitFor();
      await holdsIn(visit, "the sign-in form", WIDTHS);
      await visit.enter(stage.key);
      await page.locator('[data-id="van"]').waitFor();
      await holdsIn(visit, "the list", WIDTHS);

      await page.locator('[data-id="van"]').click();
      await page.locator("time-plot canvas").waitFor();
      await holdsIn(visit, "a device", SCREENS);
      for (const tab of ["Devices", "Device", "Day"]) {
        await page.setViewportSize({ width: 390, height: 844 });
        await page.getByRole("button", { name: tab, exact: true }).click();
        await holdsIn(visit, `the sheet of ${tab}`, PHONES);
      }
      await page.setViewportSize({ width: 1280, height: 800 });
      for (const name of ["Nearby", "Heatmap"]) {
        await page.getByRole("button", { name }).first().click();
        await page.getByRole("region", { name }).waitFor();
        await holdsIn(visit, name, WIDTHS);
        await page.keyboard.press("Escape");
      }
      await page.getByRole("button", { name: "Menu" }).click();
      await holdsIn(visit, "the menu", WIDTHS);
      await page.keyboard.press("Escape");
      await page.setViewportSize({ width: 1280, height: 800 });
      await pressInHeader(page, "Time lapse");
      await page.getByRole("dialog", { name: "Time lapse" }).waitFor();
      await holdsIn(visit, "the time lapse", WIDTHS);
    });

    stage.test(
      "holds the dialogs",
      async (visit, page) => {
        await visit.enter(stage.key, "/map?device=van");
        await page.getByText("reports", { exact: false }).first().waitFor();
        for (const open of ["Share", "Connect", "Statistics", "Calendar", "Edit device"]) {
          await page.setViewportSize({ width: 1280, height: 800 });
          await page.getByRole("button", { name: open }).first().click();
          await page.getByRole("dialog").waitFor();
          if (open === "Edit device") await page.getByRole("button", { name: "Save" }).waitFor();
          await holdsIn(visit, open, WIDTHS);
          await page.keyboard.press("Escape");
          await page.getByRole("dialog").waitFor({ state: "detached" });
        }
        for (const name of ["Settings", "Help"]) {
          await page.setViewportSize({ width: 1280, height: 800 });
          await pressInHeader(page, name);
          await page.getByRole("dialog").waitFor();
          await holdsIn(visit, name, WIDTHS);
          await page.keyboard.press("Escape");
          await page.getByRole("dialog").waitFor({ state: "detached" });
        }
      },
      { webgl: false },
    );

    stage.test("holds a selection, its move and its dialog", async (visit, page) => {
      await visit.enter(stage.key, "/map?device=van");
      await page.getByRole("button", { name: "Select", exact: true }).click();
      await holdsIn(visit, "a selection", SCREENS);
      await page.getByRole("button", { name: "Move…" }).click();
      await holdsIn(visit, "a move", WIDTHS);
      await page.setViewportSize({ width: 390, height: 844 });
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: "Hide…" }).waitFor();
      await holdsIn(visit, "a selection", PHONES);
      await page.setViewportSize({ width: 390, height: 844 });
      await page.getByRole("button", { name: "Hide…" }).click();
      await page.getByRole("dialog").waitFor();
      await holdsIn(visit, "what is asked before hiding", WIDTHS);
      await page.keyboard.press("Escape");
      await page.setViewportSize({ width: 390, height: 844 });
      await page.getByRole("button", { name: "More…" }).click();
      await page.getByLabel("What was wrong").selectOption("The device");
      await page.getByLabel("Give them to").fill("w");
      await page
        .getByRole("button", { name: "w".repeat(128) })
        .last()
        .waitFor();
      await holdsIn(visit, "more changes", WIDTHS);
    });

    stage.test("holds what a visitor of a share link sees, and the link's end", async (visit, page) => {
      await visit.signIn(stage.key);
      await visit.goto(`/map/s#${await shareLink(visit)}`);
      await page.getByRole("note").waitFor();
      await page.locator('.sheet[data-height="low"]').waitFor({ state: "attached" });
      await holdsIn(visit, "a visit", WIDTHS);
      await page.goto("about:blank");
      visit.expect(/status of 401/);
      await visit.goto("/map/s#wh_unknown");
      await page.getByRole("heading", { name: "This link does not work" }).waitFor();
      await holdsIn(visit, "the end of a link", WIDTHS);
    });
  },
  {
    isPageAlone: true,
    async prepare({ client }) {
      await setProfile(client, "van", {
        name: "W".repeat(128),
        color: "#d93025",
        icon: "van",
        tags: ["m".repeat(64)],
      });
      await store(client, [
        ...Array.from({ length: 60 }, (_, index) => ({
          ...{
            device_id: "van",
            timestamp: Date.now() - index * 60_000,
            speed: index % 20 < 10 ? 0 : 10 + index,
          },
          ...{
            latitude: 51.5 + (index % 20 < 10 ? 0 : index / 1e3),
            longitude: -0.1,
            altitude: 40 + index,
            battery_level: 80,
          },
        })),
        // The longest name that a device may have, without a place to break it.
        { device_id: "w".repeat(128), timestamp: Date.now(), latitude: 51.6, longitude: -0.2 },
      ]);
    },
  },
);

describePage(
  "every width of an empty server",
  (stage) => {
    stage.test(
      "holds the steps that connect a phone",
      async (visit, page) => {
        await visit.enter(stage.key);
        const empty = page.getByRole("region", { name: "No device has reported yet." });
        await empty.waitFor();
        await holdsIn(visit, "the first step", WIDTHS);
        await empty.getByLabel("Device name").fill("ada-phone");
        await empty.getByRole("button", { name: "Create settings" }).click();
        await page.getByRole("img", { name: "The settings of OwnTracks as a QR code" }).waitFor();
        await holdsIn(visit, "the settings of a phone", WIDTHS);
      },
      { webgl: false },
    );
  },
  { isPageAlone: true },
);

/** What stands behind the `#` of a link to the van. */
async function shareLink({ context, url }: Visit): Promise<string> {
  const nowMs = Date.now();
  const terms = { device_ids: ["van"], not_before: nowMs - 3_600_000, expires: nowMs + 600_000 };
  const response = await context.request.post(`${url}/map/keys`, {
    headers: { "x-wherehouse-page": "1" },
    data: { kind: "share", ...terms, precision_meters: null, label: "" },
  });
  return ((await response.json()) as { readonly text: string }).text;
}

async function holdsIn(visit: Visit, state: string, widths: readonly number[]): Promise<void> {
  const { page } = visit;
  for (const width of widths) {
    await page.setViewportSize({ width, height: width < 500 ? 844 : 800 });
    let faults: readonly string[] = [];
    const holds = async () => {
      faults = await layoutFaults(page);
      return faults.length === 0;
    };
    await visit.until("a layout that holds", holds, SETTLE_MS).catch(() => undefined); // The faults say more.
    expect([state, width, faults]).toEqual([state, width, []]);
  }
}
