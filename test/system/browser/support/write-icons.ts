import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { closeChromium, openChromium } from "./chromium.ts";

/* Draws the PNG icons of src/web/style from its icon.svg: `bun test/system/browser/support/write-icons.ts`. */

const FOLDER = join(import.meta.dir, "../../../../src/web/style");

/** Systems cut a maskable icon to their own shape: it is square, and what matters is within four fifths of it. */
const ICONS = [
  { name: "icon-192.png", pixels: 192, isMaskable: false },
  { name: "icon-512.png", pixels: 512, isMaskable: false },
  { name: "icon-maskable.png", pixels: 512, isMaskable: true },
];

const svg = readFileSync(join(FOLDER, "icon.svg"), "utf8");
const square = svg.replace('rx="7"', "").replace('viewBox="0 0 32 32"', 'viewBox="-4 -4 40 40"');

for (const { name, pixels, isMaskable } of ICONS) {
  const context = await (await openChromium()).newContext({ viewport: { width: pixels, height: pixels } });
  const page = await context.newPage();
  const ground = isMaskable ? "#0b5fad" : "transparent";
  await page.setContent(`<style>body{margin:0;background:${ground}}svg{display:block;width:100vw}</style>
    ${isMaskable ? square : svg}`);
  writeFileSync(join(FOLDER, name), await page.screenshot({ omitBackground: true }));
  await context.close();
}
await closeChromium();
