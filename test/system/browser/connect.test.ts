import { expect } from "bun:test";
import { describePage } from "./support/stage.ts";
import type { Visit } from "./support/visit.ts";

/*
 * Goal: the page of an empty server leads to a first report in three steps. Method: what the page says to type into the
 * app is typed into a request of the app's form.
 */

describePage("connecting a phone", (stage) => {
  stage.test(
    "OwnTracks and Overland report by what the page says, and it names them a moment later",
    async (visit, page) => {
      await visit.enter(stage.key);
      const empty = page.getByRole("region", { name: "No device has reported yet." });
      await empty.getByText("npm run demo").waitFor();

      await empty.getByText("OwnTracks").click();
      await empty.getByLabel("Device name").fill("ada-phone");
      await empty.getByRole("button", { name: "Create settings" }).click();
      await page.getByRole("img", { name: "The settings of OwnTracks as a QR code" }).waitFor();
      const link = (await page.getByRole("link", { name: "Open OwnTracks" }).getAttribute("href"))!;
      const inline = new URL(link).searchParams.get("inline")!;
      const config = JSON.parse(Buffer.from(inline, "base64").toString()) as Record<string, string>;
      const sent = {
        _type: "location",
        lat: 51.5,
        lon: -0.12,
        tst: Math.floor(Date.now() / 1000),
        acc: 12,
        batt: 81,
        vel: 36,
        tid: "ap",
      };
      await post(config.url!, sent, config);
      const askedBefore = askedForReports(visit);
      await page.getByText(/ada-phone reported .*51\.50, -0\.12/).waitFor();
      // It asks once a second: that which was under way may have come too early, the next one has it.
      expect(askedForReports(visit) - askedBefore).toBeLessThanOrEqual(2);
      await page.getByText(/Received: speed 81 mph, within 39 ft, battery 81 %/).waitFor();

      await page.getByRole("button", { name: "Connect another" }).click();
      await page.getByText("Overland").click();
      await page.getByLabel("Device name").fill("bob-phone");
      await page.getByRole("button", { name: "Create settings" }).click();
      const href = (await page.getByRole("link", { name: "Open Overland" }).getAttribute("href"))!;
      const setup = new URL(href).searchParams;
      const feature = {
        type: "Feature",
        geometry: { type: "Point", coordinates: [-0.13, 51.51] },
        properties: {
          timestamp: new Date().toISOString(),
          speed: 3,
          battery_level: 0.5,
          device_id: setup.get("device_id"),
        },
      };
      await post(setup.get("url")!, { locations: [feature] }, { token: setup.get("token") ?? "" });
      await page.getByText(/bob-phone reported .*51\.51, -0\.13/).waitFor();
      await page.getByText(/Received: speed 7 mph, .*battery 50 %/).waitFor();

      await page
        .getByRole("dialog", { name: "Connect a phone" })
        .getByRole("button", { name: "Close" })
        .click();
      for (const name of ["ada-phone", "bob-phone"]) await page.getByRole("option", { name }).waitFor();
    },
  );
});

/** How often the page has asked what a phone has sent. */
function askedForReports({ requests }: Visit): number {
  return requests.filter((request) => /^GET \/map\/keys\/[^/]+\/requests$/.test(request)).length;
}

/** As the app would send it, with what it was told. */
async function post(
  url: string,
  body: unknown,
  { username, password, token }: Record<string, string>,
): Promise<void> {
  const authorization = token ? `Bearer ${token}` : `Basic ${btoa(`${username}:${password}`)}`;
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", authorization },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(200);
}
