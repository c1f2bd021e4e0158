import { expect } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { get, store } from "../support/client.ts";
import { violationsOf } from "./support/axe.ts";
import { tabTo } from "./support/keys.ts";
import { drawnOver } from "./support/map.ts";
import { describePage, type Stage } from "./support/stage.ts";

/*
 * Goal: a file of another program comes in by drag and drop, or by the keyboard, and the user sees before and after
 * what it has. Method: files of real programs, moved to yesterday, since the server keeps a year.
 */

const SAMPLES = join(import.meta.dir, "../../data/samples");
const YESTERDAY = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);

interface SampleFile {
  readonly name: string;
  readonly text: string;
}

function sample(path: string): SampleFile {
  return { name: path.split("/").at(-1)!, text: readFileSync(join(SAMPLES, path), "utf8") };
}

function moved({ name, text }: SampleFile): SampleFile {
  return { name, text: text.replaceAll(/\d{4}-\d\d-\d\d(?=T)/g, YESTERDAY) };
}

const RIDE = moved(sample("gpx/strava-gpxtpx.gpx"));
const WALK = moved(sample("kml/gxtrack.kml"));
const LINES = moved(sample("geojson/linestring-coordtimes.geojson"));

describePage(
  "importing files",
  (stage) => {
    stage.test("three dropped files are previewed and imported one after another", async (visit, page) => {
      await visit.enter(stage.key, "/map?device=bus-1&zone=UTC");
      await page.getByRole("heading", { name: "bus-1" }).waitFor();
      await drag(page, "dragover", [RIDE]);
      await page.getByText("Drop to see what is in it").waitFor();
      await drag(page, "drop", [RIDE, WALK, LINES]);
      const dialog = page.getByRole("dialog", { name: "Import a file" });
      await dialog.getByText("file 1 of 3").waitFor();
      await dialog.getByRole("button", { name: "Import 42 positions" }).waitFor();
      expect(await dialog.getByRole("radio", { name: "One device" }).isChecked()).toBe(true);
      await visit.until("the line of the file", async () => {
        const [line] = (await drawnOver(page))["import-lines"] ?? [];
        return line?.geometry.coordinates.length === 42;
      });

      // By keys: a new device, which the server is asked about again.
      await dialog.getByRole("searchbox", { name: "Device to import into" }).fill("my ride");
      expect(await violationsOf(page)).toEqual([]);
      await page.keyboard.press("Enter");
      await dialog.getByText("which is new").waitFor();
      await dialog.getByRole("button", { name: "Import 42 positions", disabled: false }).waitFor();
      await tabTo(page, dialog.getByRole("button", { name: "Import 42 positions" }));
      await page.keyboard.press("Enter");
      await dialog.getByText("42 new positions of my ride.").waitFor();
      expect(await violationsOf(page)).toEqual([]);
      const next = dialog.getByRole("button", { name: "Next file" });
      await visit.until("the focus on what comes next", () =>
        next.evaluate((each) => each === document.activeElement),
      );
      await page.keyboard.press("Enter");

      await dialog.getByText("file 2 of 3").waitFor();
      await dialog.getByText("its outermost element is <kml>").waitFor();
      await dialog.getByRole("button", { name: "Import 7 positions" }).click();
      await dialog.getByText("7 new positions of my ride.").waitFor();
      await next.click();
      await dialog.getByText("file 3 of 3").waitFor();
      await dialog.getByRole("button", { name: /^Import \d positions/ }).click();
      await dialog.getByText(/^\d new positions of my ride\.$/).waitFor();
      await dialog.getByRole("button", { name: "Show the day" }).click();

      await page.getByRole("heading", { name: "my ride" }).waitFor();
      await visit.until("the line of the day", async () => {
        const drawn = await drawnOver(page);
        return drawn["day-lines"]!.length > 0 && drawn["import-lines"]!.length === 0;
      });
      const total = await countOf(stage, "my ride");
      expect(total).toBeGreaterThan(49);
      await page.getByText(`${total} reports`).waitFor();
    });

    stage.test(
      "on a phone by the menu: a file again, and files that the server leaves to the command",
      async (visit, page) => {
        await store(stage.client, [
          { device_id: "bus-2", timestamp: Date.now(), latitude: 37.7, longitude: -122.4 },
        ]);
        await visit.enter(stage.key, "/map?device=bus-2&zone=UTC");
        await page.getByRole("button", { name: "Menu" }).click();
        await page.getByRole("button", { name: "Import a file" }).click();
        const dialog = page.getByRole("dialog", { name: "Import a file" });
        const choose = async (...files: readonly SampleFile[]) => {
          const payload = files.map(({ name, text }) => ({ name, mimeType: "", buffer: Buffer.from(text) }));
          await dialog.getByLabel("Choose files").setInputFiles(payload);
        };
        expect(await violationsOf(page)).toEqual([]);
        await choose(RIDE);
        await dialog.getByRole("button", { name: "Import 42 positions" }).click();
        await dialog.getByText("42 new positions of bus-2.").waitFor();
        await dialog.getByRole("button", { name: "Another file" }).click();
        await choose(RIDE);
        await dialog.getByText("All of them are there already.").waitFor();
        await dialog.getByRole("button", { name: "Import 42 positions" }).click();
        await dialog.getByText("42 were there already.").waitFor();
        await dialog.getByRole("button", { name: "Another file" }).click();

        await longFile(page, choose);
        await dialog.getByRole("button", { name: "Another file" }).click();

        visit.expect(/400/);
        await choose(
          { name: "my table.csv", text: "latitude,longitude\n" },
          sample("tcx/sample.tcx"),
          sample("gpx/strava-gpxtpx.gpx"),
        );
        await dialog.getByText("It is not GPX, KML or GeoJSON.").waitFor();
        expect(await dialog.getByRole("textbox").inputValue()).toBe(
          `npm run --silent cli -- import 'my table.csv' --device bus-2 --url ${stage.server.url} --key KEY`,
        );
        expect(await violationsOf(page)).toEqual([]);
        await dialog.getByRole("button", { name: "Next file" }).click();
        await dialog.getByText("The file is not GPX, KML or GeoJSON: it begins with").waitFor();
        expect(await dialog.getByRole("textbox").inputValue()).toContain("import sample.tcx --device bus-2");
        await dialog.getByRole("button", { name: "Next file" }).click();
        await dialog.getByText("42 before the retention").waitFor();
        await dialog.getByText("Nothing in this file can be imported.").waitFor();
        const box = (await dialog.boundingBox())!;
        expect([box.x, box.width, box.y + box.height]).toEqual([0, 390, 844]);
        await page.keyboard.press("Escape");
        await dialog.waitFor({ state: "detached" });
        await page.keyboard.press("[");
        await page.getByText("42 reports").waitFor({ state: "attached" });
      },
      { viewport: { width: 390, height: 844 }, colorScheme: "dark" },
    );
  },
  {
    prepare: ({ client }) =>
      store(client, [{ device_id: "bus-1", timestamp: Date.now(), latitude: 37.7, longitude: -122.4 }]),
  },
);

/** A long file is packed for its way, and reads as it was. */
async function longFile(page: Page, choose: (file: SampleFile) => Promise<void>): Promise<void> {
  const points = Array.from({ length: 4000 }, (_, index) => {
    const time = new Date(Date.parse(YESTERDAY) + index * 1000).toISOString();
    return `<trkpt lat="${37 + index / 10_000}" lon="-122.4"><time>${time}</time></trkpt>`;
  });
  const text = `<gpx><trk><trkseg>${points.join("\n")}</trkseg></trk></gpx>`;
  const requested = page.waitForRequest((request) => request.url().includes("dry_run"));
  await choose({ name: "long.gpx", text });
  const request = await requested;
  expect(await request.headerValue("content-encoding")).toBe("gzip");
  await page.getByRole("button", { name: "Import 4,000 positions" }).waitFor();
}

/** Drags files over the page, or drops them. */
async function drag(page: Page, type: "dragover" | "drop", files: readonly SampleFile[]): Promise<void> {
  const dataTransfer = await page.evaluateHandle((all) => {
    const transfer = new DataTransfer();
    for (const { name, text } of all) transfer.items.add(new File([text], name));
    return transfer;
  }, files);
  await page.dispatchEvent("#page", type, { dataTransfer });
}

async function countOf({ client }: Stage, deviceId: string): Promise<number> {
  const path = `/api/v1/devices/${encodeURIComponent(deviceId)}/days?start_date=${YESTERDAY}&end_date=${YESTERDAY}`;
  const { days } = (await (await get(client, path)).json()) as {
    readonly days: readonly { readonly reports: number }[];
  };
  return days[0]!.reports;
}
