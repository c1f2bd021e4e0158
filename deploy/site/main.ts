import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { ROOT } from "../release/assets.ts";
import { run } from "../release/run.ts";
import { apiLinks, apiPages } from "./api.ts";
import { FIRST_PAGE, plainTextOf, readPages, sidebarOf } from "./pages.ts";

/* Makes the documentation site out of the pages as they are, and of what the program says of itself. */

const USAGE = `Usage: npm run docs -- [options]

Makes the documentation site: files that any web server sends as they are.

  --out DIRECTORY  the folder, which is emptied before (dist/site)
  --base PATH      the path of the site on its server, such as /wherehouse/ (/)
`;

const HERE = import.meta.dir;
/** VitePress looks for its packages in the folders above the pages. */
const PAGES = join(HERE, "pages");

const { values } = parseArgs({
  options: {
    out: { type: "string", default: "dist/site" },
    base: { type: "string", default: "/" },
    help: { type: "boolean", default: false },
  },
});

if (values.help) process.stdout.write(USAGE);
else buildSite(resolve(values.out), values.base);

function buildSite(out: string, base: string): void {
  installPackages();
  rmSync(PAGES, { recursive: true, force: true });
  try {
    writePages();
    run("node", [join(HERE, "node_modules/vitepress/bin/vitepress.js"), "build", PAGES], {
      environment: { WHEREHOUSE_SITE_OUT: out, WHEREHOUSE_SITE_BASE: base },
    });
  } finally {
    rmSync(PAGES, { recursive: true, force: true });
  }
  process.stderr.write(`The site is in ${out}\n`);
}

function installPackages(): void {
  const lock = readFileSync(join(HERE, "package-lock.json"), "utf8");
  const stamp = join(HERE, "node_modules/.installed.json");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === lock) return;
  process.stderr.write("Installing the packages of the site ...\n");
  run("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: HERE });
  writeFileSync(stamp, lock);
}

function writePages(): void {
  const { texts, pictures, files } = readPages();
  for (const [path, text] of [...texts, ...apiPages()]) write(path, text);
  for (const path of pictures) copy(path, path);
  for (const path of files) copy(path, join("public", plainTextOf(path)));
  copy("src/web/style/icon.svg", "public/icon.svg");
  const contents = readFileSync(join(ROOT, FIRST_PAGE), "utf8");
  const sidebar = sidebarOf(contents, { text: "API reference", items: apiLinks() });
  write(".vitepress/sidebar.json", JSON.stringify(sidebar));
  for (const name of ["config.mjs", "anchor.ts"]) copy(join("deploy/site", name), join(".vitepress", name));
}

function write(path: string, text: string): void {
  const file = join(PAGES, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

function copy(path: string, name: string): void {
  cpSync(join(ROOT, path), join(PAGES, name));
}
