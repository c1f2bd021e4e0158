import { expect } from "bun:test";
import { store } from "../support/client.ts";
import { pause } from "../support/pause.ts";
import { describePage, type Stage } from "./support/stage.ts";
import type { Visit } from "./support/visit.ts";

/* Nobody's click goes astray while the list is told of other devices all the time, and nobody needs a pointer. */

const DEVICES = 200;
const UPDATES_PER_SECOND = 100;

function report(device: number) {
  const latitude = 51.4 + (device % 100) / 500;
  return { device_id: `van-${device}`, timestamp: Date.now(), latitude, longitude: -0.1 + device / 1000 };
}

describePage(
  "the list",
  (stage) => {
    stage.test("stays under a click while devices report, and needs no pointer", async (visit, page) => {
      await visit.enter(stage.key);
      await page.getByText("Live", { exact: true }).waitFor();
      await goByKeys(visit);
      await clickWhileReporting(stage, visit);
    });
  },
  {
    isPageAlone: true,
    prepare: ({ client }) =>
      store(
        client,
        Array.from({ length: DEVICES }, (_, device) => report(device)),
      ),
  },
);

/** A click chooses what was shown in its row while 100 updates a second arrive. */
async function clickWhileReporting({ client }: Stage, visit: Visit): Promise<void> {
  const { page } = visit;
  await page.getByLabel("Order").selectOption("newest");
  let isOver = false;
  let step = 0;
  const updating = (async () => {
    while (!isOver) {
      await store(client, [report(step % DEVICES)]);
      step++;
      await pause(1000 / UPDATES_PER_SECOND);
    }
  })();
  try {
    const rows = page.getByRole("listbox", { name: "Devices" }).getByRole("option");
    for (const row of [0, 5, 2, 8]) {
      const { x, y, height } = (await rows.nth(row).boundingBox())!;
      await page.mouse.move(x + 40, y + height / 2);
      const name = await rows.nth(row).locator(".name").textContent();
      const stepBefore = step; // Each update would put another device first.
      await visit.until("updates", async () => step > stepBefore + 30);
      await page.mouse.click(x + 40, y + height / 2);
      const chosen = page.locator("[role=option][aria-selected=true] .name");
      await visit.until("the chosen device", async () => (await chosen.textContent()) === name);
      await page.mouse.move(900, 400);
      const shown = rows.nth(row).locator(".name");
      await visit.until("an order that goes on", async () => (await shown.textContent()) !== name);
    }
  } finally {
    isOver = true;
    await updating;
  }
}

/** The keyboard searches, goes through the rows and chooses. */
async function goByKeys(visit: Visit): Promise<void> {
  const { page } = visit;
  /** The row that the keyboard is at; null where none is, undefined where it is named but isn't there. */
  const active = () =>
    page.evaluate(() => {
      const id = document.activeElement?.getAttribute("aria-activedescendant");
      return id ? document.getElementById(id)?.querySelector(".name")?.textContent : null;
    });
  await page.keyboard.press("/");
  await page.keyboard.type("VAN-1");
  const found = 1 + 10 + 100; // van-1, van-10 to van-19, van-100 to van-199.
  await visit.until("what is found", async () =>
    (await page.locator(".list-count").textContent())!.includes(`${found} of ${DEVICES}`),
  );
  await page.getByLabel("Order").selectOption("name");
  await page.getByRole("searchbox").focus();
  await page.keyboard.press("ArrowDown");
  await visit.until("the first row", async () => (await active()) === "van-1");
  await page.keyboard.press("End");
  await visit.until("the last row", async () => (await active()) === "van-199");
  await page.keyboard.press("ArrowUp");
  await visit.until("the row above", async () => (await active()) === "van-198");
  expect(await page.locator(".device-row").count()).toBeLessThanOrEqual(40);
  await page.getByRole("listbox").evaluate((rows) => {
    rows.scrollTop = 0;
  });
  await visit.until("no row that isn't drawn", async () => (await active()) === null);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "van-198" }).waitFor();
  // What was chosen in a field before shows what it is set to, also by a button.
  await page.getByRole("searchbox").fill("");
  const filter = page.getByLabel("Show", { exact: true });
  for (const label of ["Silent", "All", "Silent"]) await filter.selectOption({ label });
  await page.getByRole("button", { name: "Show all" }).click();
  await visit.until("all in the field", async () => (await filter.inputValue()) === "all");
}
