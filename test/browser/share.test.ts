import { expect } from "bun:test";
import { store } from "../runtime/support/client.ts";
import { shownPositions } from "./support/devices.ts";
import { describePage, type Stage } from "./support/stage.ts";
import { Visit } from "./support/visit.ts";

/*
 * Goal: a share link shows its devices and no other, as coarsely as was chosen, until its instant or until it is
 * revoked. Method: a link made in the dialog is opened by a second browser, which knows nothing else.
 */

const VAN = { latitude: 51.512_34, longitude: -0.123_45 };

function report(device_id: string, place: { readonly latitude: number; readonly longitude: number }) {
  return { device_id, timestamp: Date.now(), ...place };
}

describePage(
  "a share link",
  (stage) => {
    stage.test(
      "shows its devices alone, by the centers of cells, until it is revoked",
      async (visit, page) => {
        await visit.enter(stage.key, "/map?device=van-1");
        await page.getByRole("button", { name: "Share" }).click();
        const dialog = page.getByRole("dialog", { name: "Share" });
        await dialog.getByLabel("It shows positions from").selectOption("today on");
        await dialog.getByLabel("It shows them").selectOption("within 500 m");
        await dialog.getByRole("button", { name: "Make a link" }).click();
        const url = await dialog
          .getByRole("region", { name: "The new link" })
          .getByRole("textbox")
          .inputValue();
        await asGuest(stage, url, async (guest) => {
          await guest.page.getByRole("option", { name: "van-1" }).waitFor();
          await guest.page.getByText("You see 1 device").waitFor();
          const shown = await shownPositions(guest.page);
          expect(Object.keys(shown)).toEqual(["van-1"]);
          const { pathname, hash } = new URL(guest.page.url());
          expect([pathname, hash]).toEqual(["/map/s", ""]); // Where the map looks may stand there, the key not.
          expect(await guest.page.content()).not.toContain("van-2");
          const [, latitude, longitude] = shown["van-1"]!;
          expect([latitude, longitude]).not.toEqual([VAN.latitude, VAN.longitude]);
          expect(metersNorth(latitude - VAN.latitude)).toBeLessThanOrEqual(250);
          // Elsewhere in the same cell it is shown at the same place, a whole minute later.
          await store(stage.client, [
            report("van-1", { ...VAN, latitude: latitude + (latitude - VAN.latitude) / 2 }),
          ]);
          await store(stage.client, [report("van-2", { latitude: 51.6, longitude: 0 })]);
          await Bun.sleep(1500);
          const later = await shownPositions(guest.page);
          expect(Object.keys(later)).toEqual(["van-1"]);
          expect(later["van-1"]!.slice(1)).toEqual([latitude, longitude]);
          expect(later["van-1"]![0] % 60_000).toBe(0);
          guest.expect(/401/);
          await dialog.getByRole("button", { name: /^Revoke/ }).click();
          await guest.page.getByText("This link shows nothing now").waitFor();
          expect(await guest.page.content()).not.toContain("van-1");
        });
      },
    );

    stage.test(
      "is followed where the page is open, wiped from the address, and leaves one's own session",
      async (visit, page) => {
        await visit.enter(stage.key);
        const nowMs = Date.now();
        const terms = { not_before: nowMs - 60_000, expires: nowMs + 600_000 };
        const text = await makeLink(page, { device_ids: ["van-1"], ...terms });
        await asGuest(stage, `${stage.server.url}/map/s`, async (guest) => {
          await guest.page.getByText("Open the link again").waitFor();
          await guest.page.goto(`${stage.server.url}/map/s#${text}`);
          await guest.page.getByText("You see 1 device").waitFor();
          expect(guest.page.url()).toBe(`${stage.server.url}/map/s`);
        });
        // Who made one looks at it, here before its device has reported, and stays signed in.
        const early = await makeLink(page, { device_ids: ["van-9"], ...terms });
        await visit.goto(`/map/s#${early}`);
        await page.getByText("You see 1 device").waitFor();
        await page.getByText("There is no position to show yet.").waitFor();
        expect(await devicesKept(page)).toEqual({ map: ["van-1", "van-2"], share: [] });
        await visit.goto("/map");
        await page.getByRole("button", { name: "Connect" }).waitFor();
      },
    );

    stage.test("ends at its instant", async (visit) => {
      await visit.enter(stage.key);
      const nowMs = Date.now();
      const terms = { not_before: nowMs - 3_600_000, expires: nowMs + 8000 };
      const text = await makeLink(visit.page, { device_ids: ["van-1"], ...terms });
      await asGuest(stage, `${stage.server.url}/map/s#${text}`, async (guest) => {
        guest.expect(/401/);
        await guest.page.getByRole("option", { name: "van-1" }).waitFor();
        await guest.page.getByText("This link shows nothing now").waitFor();
        expect(await guest.page.content()).not.toContain("van-1");
      });
    });
  },
  {
    prepare: ({ client }) =>
      store(client, [report("van-1", VAN), report("van-2", { latitude: 51.6, longitude: 0 })]),
  },
);

/** The key of a share link, made as the dialog makes it. */
function makeLink(page: Visit["page"], terms: Readonly<Record<string, unknown>>): Promise<string> {
  return page.evaluate(
    async (asked) => {
      const response = await fetch("/map/keys", {
        method: "POST",
        headers: { "x-wherehouse-page": "1", "content-type": "application/json" },
        body: JSON.stringify({ kind: "share", ...asked }),
      });
      return ((await response.json()) as { readonly text: string }).text;
    },
    { precision_meters: null, label: "", ...terms },
  );
}

/**
 * The devices of each page, where a browser takes what it has kept without asking whether that is still good, as it
 * does on the way back through its history.
 */
function devicesKept(page: Visit["page"]): Promise<Readonly<Record<"map" | "share", readonly string[]>>> {
  return page.evaluate(async () => {
    const ask = async (from: string) => {
      const headers = { "x-wherehouse-page": from };
      const path = "/api/v1/locations/current/columns";
      const response = await fetch(path, { headers, cache: "force-cache" });
      return ((await response.json()) as { readonly device_id: readonly string[] }).device_id;
    };
    return { map: await ask("1"), share: await ask("share") };
  });
}

/** Somebody else's browser, for which nothing may go wrong either. */
async function asGuest(
  { server }: Stage,
  url: string,
  visitLink: (guest: Visit) => Promise<void>,
): Promise<void> {
  const guest = await Visit.open(server.url);
  try {
    await guest.page.goto(url);
    await visitLink(guest);
    expect(guest.faults).toEqual([]);
  } catch (error) {
    console.error(`What the guest saw: ${await guest.keepPicture("a guest of a share link")}`);
    throw error;
  } finally {
    await guest.close();
  }
}

function metersNorth(degrees: number): number {
  return Math.abs(degrees) * 111_195;
}
