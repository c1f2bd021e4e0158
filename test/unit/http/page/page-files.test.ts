import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { pathFrom, readModuleGraph } from "../../../../src/http/page/packed-modules.ts";
import { readPageFiles } from "../../../../src/http/page/page-files.ts";
import { createStripTypes } from "../../../../src/runtime/strip-types.ts";
import { outcome } from "../../../support/rejection.ts";

const stripTypes = createStripTypes();
const readAsset = (specifier: string) => Bun.file(new URL(specifier)).bytes();

/** The page of a made-up src/web. */
async function pageOf(given: Readonly<Record<string, string>>) {
  const files: Readonly<Record<string, string>> = { "manifest.webmanifest": "{}", ...given };
  return readPageFiles({
    stripTypes,
    demoSpeed: null,
    async readAsset(specifier) {
      const path = /\/src\/web\/(.+)$/.exec(specifier)![1]!;
      if (files[path] === undefined) throw new Error(`${path} is asked for, and isn't there`);
      return new TextEncoder().encode(files[path]);
    },
  });
}

const HTML = `<link href="{app}/style/a.css"><!-- modules --><script src="{app}/page/main.ts">`;

async function textOf(page: Awaited<ReturnType<typeof pageOf>>, path: string) {
  const file = page.files.get(path);
  return file === undefined ? null : new TextDecoder().decode((await file.body.in(null)).bytes);
}

const htmlOf = async (page: Awaited<ReturnType<typeof pageOf>>) =>
  new TextDecoder().decode((await page.html.in(null)).bytes);

test("readPageFiles() finds the modules that others import, without their types, and nothing else", async () => {
  const page = await pageOf({
    "index.html": HTML,
    "style/a.css": "a{}",
    "page/main.ts": `import { b } from "../other/b.ts";\nimport type { C } from "../other/c.ts";\nexport const a: C = b;`,
    "other/b.ts": `import { html } from "lit-html";\nimport { d } from "./d.ts";\nexport const b = [d, html];`,
    "other/d.ts": "export const d: number = 1;",
    "other/e.ts": "never();",
  });
  expect([...page.files.keys()].sort()).toEqual(["other/b.ts", "other/d.ts", "page/main.ts", "style/a.css"]);
  expect(await textOf(page, "page/main.ts")).not.toContain("number");
});

test("readPageFiles() serves what is imported later, and has browsers ask for it then", async () => {
  const page = await pageOf({
    "index.html": HTML,
    "style/a.css": "",
    "page/main.ts": `import "../other/both.ts";\nexport const open = () => import("../other/late.ts");`,
    "other/both.ts": "export const both = 1;",
    "other/late.ts": `import "./both.ts";\nimport "./later.ts";`,
    "other/later.ts": "",
  });
  expect(page.files.has("other/later.ts")).toBeTrue();
  const main = await textOf(page, "page/main.ts");
  expect(main).toContain("both");
  expect(main).not.toContain("later");
});

test("readPageFiles() sends style sheets that follow one another as one, in their order", async () => {
  const link = (name: string) => `<link rel="stylesheet" href="{app}/style/${name}.css">`;
  const page = await pageOf({
    "index.html": `${link("a")}\n  ${link("b")}<p>${link("c")}`,
    "style/a.css": "a{}",
    "style/b.css": "b{}",
    "style/c.css": "c{}",
    "page/main.ts": "",
  });
  expect(await textOf(page, "style/a.css")).toBe("a{}\nb{}");
  expect(await textOf(page, "style/c.css")).toBe("c{}");
  expect(await textOf(page, "style/b.css")).toBeNull();
  expect((await htmlOf(page)).match(/\w+\.css/g)).toEqual(["a.css", "c.css"]);
});

test("readPageFiles() finds what the manifest names, and gives another version to another picture", async () => {
  const manifest = '{"icons":["{app}/style/icon.png","{app}/style/icon.svg"]}';
  const files = {
    ...{ "index.html": HTML, "style/a.css": "", "page/main.ts": "", "manifest.webmanifest": manifest },
    ...{ "style/icon.png": "one", "style/icon.svg": "<svg/>" },
  };
  const page = await pageOf(files);
  const app = `/map/app/${page.version}`;
  expect(new TextDecoder().decode((await page.manifest.in(null)).bytes)).toBe(
    `{"icons":["${app}/style/icon.png","${app}/style/icon.svg"]}`,
  );
  expect([page.files.get("style/icon.png")!.contentType, await textOf(page, "style/icon.png")]).toEqual([
    "image/png",
    "one",
  ]);
  expect(page.files.get("style/icon.svg")!.contentType).toBe("image/svg+xml");
  expect((await pageOf({ ...files, "style/icon.png": "two" })).version).not.toBe(page.version);
});

test("readPageFiles() has browsers ask at once for the packages that are needed at first", async () => {
  const html = await htmlOf(
    await pageOf({
      "index.html": HTML,
      "style/a.css": "",
      "page/main.ts": `import { html } from "lit-html";\nexport const plot = () => import("uplot").then(html);`,
    }),
  );
  expect(html).toMatch(/modulepreload" href="\/map\/packages\/lit-html@/);
  expect(html).not.toMatch(/modulepreload" href="\/map\/packages\/uplot@/);
});

test("a module of the page can't name a file outside of it", async () => {
  const files = { "index.html": HTML, "style/a.css": "", "page/main.ts": `import "../../../../secret.ts";` };
  expect(await outcome(pageOf(files))).toThrow("secret.ts is asked for");
});

test("readPageFiles() tells the page how fast a demo plays", async () => {
  const readAsset = async (specifier: string) =>
    new TextEncoder().encode(specifier.endsWith(".html") ? "<body>" : "");
  const htmlAt = async (demoSpeed: number | null) =>
    htmlOf(await readPageFiles({ stripTypes, readAsset, demoSpeed }));
  expect(await htmlAt(20)).toBe('<body data-demo-speed="20">');
  expect(await htmlAt(null)).toBe("<body>");
});

test("readPageFiles() gives another version to whatever is another", async () => {
  const files = { "index.html": HTML, "style/a.css": "a{}", "page/main.ts": "" };
  const { version } = await pageOf(files);
  expect((await pageOf(files)).version).toBe(version);
  for (const path of Object.keys(files)) {
    const changed = { ...files, [path]: `${files[path as keyof typeof files]} ` };
    expect(
      (await pageOf({ ...changed, "page/main.ts": path.endsWith(".ts") ? "f();" : "" })).version,
    ).not.toBe(version);
  }
});

/** Ways in which a text becomes markup or code. */
const UNSAFE =
  /\b(innerHTML|outerHTML|insertAdjacentHTML|setHTML\w*|unsafe\w+|srcdoc|eval|Function)\s*[(=]|document\.write/;

test("no module of the page makes markup or code of a text", async () => {
  const page = await readPageFiles({ stripTypes, readAsset, demoSpeed: null });
  const modules = [...page.files.keys()].filter((path) => path.endsWith(".ts"));
  expect(modules.length).toBeGreaterThan(80);
  for (const path of modules) expect(UNSAFE.exec((await textOf(page, path))!)?.[0], path).toBeUndefined();
});

test("the policy lets the page's own import map run, and nothing else that stands in the HTML", async () => {
  const page = await readPageFiles({ stripTypes, readAsset, demoSpeed: null });
  const html = await htmlOf(page);
  const scripts = [...html.matchAll(/<script([^>]*)>([\s\S]*?)<\/script>/g)];
  const inline = scripts.filter(([, attributes]) => !attributes!.includes("src="));
  expect(inline).toHaveLength(1);
  const sha256 = createHash("sha256").update(inline[0]![2]!).digest("base64");
  expect(page.policy).toContain(`script-src 'self' 'sha256-${sha256}';`);
  expect(page.policy).not.toContain("unsafe");
  expect(html).not.toMatch(/\sstyle=|\son\w+=/);
});

test("every late module of the page names in its path what it imports", async () => {
  const page = await readPageFiles({ stripTypes, readAsset, demoSpeed: null });
  const { texts } = await readModuleGraph("page/main.ts", async (path) =>
    stripTypes(
      new TextDecoder().decode(await readAsset(new URL(`../../../../src/web/${path}`, import.meta.url).href)),
    ),
  );
  const named: string[] = [];
  for (const [path, text] of texts)
    for (const [, late, target] of text.matchAll(
      /new Late(?:Module|Part)\([^"]*"([^"]+)",\s*(?:load:\s*)?\(\)\s*=>\s*import\("([^"]+)"\)/g,
    )) {
      expect(pathFrom(path, target!)).toBe(late!);
      named.push(late!);
    }
  expect(named.sort()).toEqual([
    "corrections/corrections.ts",
    "days/bar-chart.ts",
    "days/days.ts",
    "device/profile-editor.ts",
    "fences/drawing.ts",
    "fences/fences.ts",
    "import/imports.ts",
    "keys/making.ts",
    "lapse/lapse.ts",
    "map/create-map.ts",
    "plots/time-plot.ts",
    "settings/settings-dialog.ts",
  ]);
  for (const path of named) {
    const again = new TextDecoder().decode((await page.again(path, "?again=1")!.body.in(null)).bytes);
    expect([...again.matchAll(/from\s*"([^"]+)"/g)].map(([, target]) => target!)).not.toBeEmpty();
    for (const [, target] of again.matchAll(/(?:from|import)\s*"([^"]+)"/g))
      expect(target!.endsWith("?again=1") || target!.startsWith("lit-html"), `${path}: ${target}`).toBeTrue();
  }
  const stub = new TextDecoder().decode(
    (await page.again("api/api-error.ts", "?again=1")!.body.in(null)).bytes,
  );
  expect(stub).toContain('from "../page/main.ts"'); // The page that runs, and no second one.
  expect(page.again("page/main.ts", "?again=1")).toBeUndefined();
});
