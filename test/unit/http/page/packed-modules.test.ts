import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { packModules, readdressed, readModuleGraph } from "../../../../src/http/page/packed-modules.ts";
import { createStripTypes } from "../../../../src/runtime/strip-types.ts";

const folder = mkdtempSync(join(tmpdir(), "packed-modules-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Packs modules, and has the runtime run what browsers would. */
async function runPacked(files: Readonly<Record<string, string>>, strip: (source: string) => string) {
  const graph = await readModuleGraph("page/main.ts", async (path) => strip(files[path]!));
  const root = mkdtempSync(join(folder, "page-"));
  for (const [path, text] of packModules("page/main.ts", graph)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return { graph, load: (path: string) => import(join(root, path)) };
}

const FILES = {
  "page/main.ts": `
/* Starts the page. */
import { Counter, twice as doubled } from "../parts/counter.ts";
// What comes next is a package.
import { join } from "node:path";
import "../parts/effect.ts";
/** Says "import { x } from './y'", and means nothing by it. */
const NOTE = "import { x } from elsewhere";
export const counter = new Counter(doubled(2));
export async function later(): Promise<unknown> {
  return (await import("../parts/late.ts")).counted(counter);
}
export const told = [NOTE, join("a", "b")];
`,
  "parts/counter.ts": `
import { step } from "./step.ts";
const told = 1;
export class Counter {
  value: number;
  constructor(value: number) { this.value = value + step() * told; }
}
export function twice(value: number): number { return value * 2; }
export async function* numbers() { yield 1; }
// The end.`,
  "parts/step.ts": "const told = 5;\nexport function step(): number { return told; }",
  "parts/effect.ts": "(globalThis as { packed?: number }).packed = 7;",
  "parts/late.ts": `
import { Counter } from "./counter.ts";
export const counted = (it: unknown) => (it instanceof Counter ? it.value : "another Counter");
`,
};

const STRIPPERS = {
  "without blanks": createStripTypes(),
  "with comments": (source: string) => source, // As on Deno; what runs it here takes types itself.
};

for (const [name, strip] of Object.entries(STRIPPERS))
  test(`packModules() makes one file of what is needed, and there is one of each class: ${name}`, async () => {
    const { graph, load } = await runPacked(FILES, strip);
    const { modules } = await load("page/main.ts");
    const main = modules["page/main.ts"];
    expect(main.counter.value).toBe(9);
    expect(main.told).toEqual(["import { x } from elsewhere", "a/b"]);
    expect((globalThis as { packed?: number }).packed).toBe(7);
    expect(await main.later()).toBe(9);
    expect(Object.keys(await load("parts/counter.ts"))).toEqual(["Counter", "numbers", "twice"]);
    expect(graph.texts.get("parts/late.ts")).toBe(packModules("page/main.ts", graph).get("parts/late.ts")!);
  });

test("texts that end in a word of an import name no module", async () => {
  const sources = [
    `const a = typed("from"); const b = "./x.ts";`,
    `const a = ["a file to import", "./x.ts", \`${"${"}shown("until from")}\`, "y"];`,
    `const a = "import"; const b = a + "import" + "./x.ts";`,
  ];
  for (const source of sources) {
    const graph = await readModuleGraph("page/main.ts", async () => source);
    expect([graph.needed, graph.packages, graph.texts.size]).toEqual([["page/main.ts"], [], 1]);
    expect(readdressed("page/main.ts", source, { query: "?1", running: new Set(), packages: {} })).toBe(
      source,
    );
  }
});

test("packModules() takes no export of what stands elsewhere", async () => {
  const files = {
    "page/main.ts": `export { step } from "../parts/step.ts";`,
    "parts/step.ts": "export const step = 1;",
  };
  const graph = await readModuleGraph("page/main.ts", async (path) => files[path as keyof typeof files]);
  expect(() => packModules("page/main.ts", graph)).toThrow("page/main.ts exports only in declarations");
});

test("every module of the page is packed with all that it exports", async () => {
  const root = join(import.meta.dir, "../../../../src/web");
  const strip = createStripTypes();
  const graph = await readModuleGraph("page/main.ts", async (path) =>
    strip(await Bun.file(join(root, path)).text()),
  );
  const packed = packModules("page/main.ts", graph);
  const transpiler = new Bun.Transpiler({ loader: "js" });
  for (const path of graph.needed.filter((each) => each !== "page/main.ts"))
    expect(transpiler.scan(packed.get(path)!).exports.sort()).toEqual(
      transpiler.scan(graph.texts.get(path)!).exports.sort(),
    );
  expect(transpiler.scan(packed.get("page/main.ts")!).exports).toEqual(["modules"]);
});

test("readdressed() gives what a module imports other addresses, except what the page already runs", () => {
  const text = `import { a } from "../page/main.ts";import{b}from"./b.ts";import "./c.ts";
import { html } from "lit-html";import plot from "uplot";const later = () => import("../parts/d.ts");`;
  const running = new Set(["page/main.ts", "lit-html"]);
  const packages = { uplot: "/packages/uplot.js", "lit-html": "/packages/lit.js" };
  expect(
    readdressed("plots/plot.ts", text, { query: "?again=2", running, packages }),
  ).toBe(`import { a } from "../page/main.ts";import{b}from"./b.ts?again=2";import "./c.ts?again=2";
import { html } from "lit-html";import plot from "/packages/uplot.js?again=2";const later = () => import("../parts/d.ts?again=2");`);
});
