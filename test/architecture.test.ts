import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

/**
 * The picture in ARCHITECTURE.md, drawn from the import lines: each layer may import those after it. Layers in
 * one row do not import each other. `runtime` is a side door: anyone may take a shape or an error of its
 * interfaces, but what speaks to the machine is imported by `app`, `main.ts`, `cli` and `runtime` alone.
 */
const ROWS: readonly (readonly string[])[] = [
  ["main", "web"],
  ["cli"],
  ["app"],
  ["http"],
  ["cluster/init", "cluster/join", "import"],
  ["operator"],
  ["cluster"],
  ["service/mqtt"],
  ["service/metrics"],
  ["service"],
  ["service/doctor"],
  ["wal", "hot", "archive", "auth", "service/quarantine", "formats"],
  ["spatial", "geofences", "map", "directory", "clients", "archive/duckdb"],
  ["model/geo", "model/time"],
  ["model"],
  ["cluster/stream"],
  ["lib"],
];

/** What everybody may import of `runtime`: interfaces in our words, and what is built on them alone. */
const RUNTIME_INTERFACES = [
  "runtime/broker.ts",
  "runtime/helper/executable.ts",
  "runtime/files.ts",
  "runtime/helper/helper.ts",
  "runtime/helper/pulse.ts",
  "runtime/inputs.ts",
  "runtime/listen.ts",
  "runtime/lock.ts",
  "runtime/sqlite.ts",
  "runtime/post/post.ts",
  "runtime/usage.ts",
];

const FOLDER_FILES_MAX = 25;
const SUBFOLDER_FILES_MIN = 4;
const TOP_FOLDERS_MAX = 21;

/** Of comments; what is code the formatter breaks, but for long texts. */
const COMMENT_COLUMNS_MAX = 120;

const SOURCE = resolve(import.meta.dir, "../src");

function sourceFiles(): string[] {
  return readdirSync(SOURCE, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".ts"));
}

/** Those of a folder of the project, as paths from its root. */
function filesOf(folder: string): string[] {
  const paths = readdirSync(resolve(import.meta.dir, "..", folder), { recursive: true, encoding: "utf8" });
  return paths.filter((path) => path.endsWith(".ts")).map((path) => `${folder}/${path}`);
}

function importsOf(path: string): string[] {
  const text = readFileSync(join(SOURCE, path), "utf8");
  return [...text.matchAll(/(?:from|import\()\s*"(\.[^"]+)"/g)]
    .map(([, target]) => relative(SOURCE, resolve(SOURCE, path, "..", target!)))
    .filter((target) => !target.startsWith(".."));
}

const ROOMS = new Set(ROWS.flat());

/** The room of a file: its folder in `src`, or a folder within that one if it has a row of its own. */
function layerOf(path: string): string {
  const [folder, inner] = path.split("/");
  const room = `${folder}/${inner}`;
  return ROOMS.has(room) ? room : folder!.replace(/\.ts$/, "");
}

function rowOf(layer: string): number {
  return ROWS.findIndex((row) => row.includes(layer));
}

test("imports only point down", () => {
  const strays: string[] = [];
  for (const path of sourceFiles()) {
    const from = layerOf(path);
    for (const target of importsOf(path)) {
      const to = layerOf(target);
      if (to === from) continue;
      if (to === "runtime") {
        const speaksToMachine = !RUNTIME_INTERFACES.includes(target);
        if (speaksToMachine && rowOf(from) > rowOf("app")) strays.push(`${path} imports ${target}`);
      } else if (from === "runtime" ? rowOf(to) < rowOf("cluster/stream") : rowOf(to) <= rowOf(from)) {
        strays.push(`${path} imports ${target}`);
      }
    }
  }
  expect(strays).toEqual([]);
});

test("the map page imports its own modules alone, and by import maps what others wrote", () => {
  const strays = sourceFiles()
    .filter((path) => layerOf(path) === "web")
    .flatMap((path) => importsOf(path).filter((target) => layerOf(target) !== "web"));
  expect(strays).toEqual([]);
});

/** Groups of files that each import, in the end, themselves: Tarjan's strongly connected components. */
function importCircles(): string[][] {
  const circles: string[][] = [];
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  function visit(path: string): void {
    order.set(path, order.size);
    lowest.set(path, order.get(path)!);
    open.push(path);
    for (const target of importsOf(path)) {
      if (!order.has(target)) visit(target);
      if (open.includes(target)) lowest.set(path, Math.min(lowest.get(path)!, lowest.get(target)!));
    }
    if (lowest.get(path) !== order.get(path)) return;
    const circle = open.splice(open.indexOf(path));
    if (circle.length > 1) circles.push(circle.sort());
  }
  for (const path of sourceFiles()) if (!order.has(path)) visit(path);
  return circles;
}

test("no file imports itself by way of others, not even a type", () => {
  expect(importCircles()).toEqual([]);
});

test("no folder of src, test or bench holds more than 25 files", () => {
  const counts = new Map<string, number>();
  for (const path of ["src", "test", "bench"].flatMap(filesOf))
    counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
  expect([...counts].filter(([, count]) => count > FOLDER_FILES_MAX)).toEqual([]);
});

test("src has at most 21 folders at its top, and none within those holds fewer than 4 files", () => {
  const counts = new Map<string, number>();
  const paths = readdirSync(SOURCE, { recursive: true, encoding: "utf8" }).filter((path) =>
    /\.\w+$/.test(path),
  );
  for (const path of paths)
    for (let folder = dirname(path); folder !== "."; folder = dirname(folder))
      counts.set(folder, (counts.get(folder) ?? 0) + 1);
  const folders = [...counts];
  expect(folders.filter(([path]) => !path.includes("/")).length).toBeLessThanOrEqual(TOP_FOLDERS_MAX);
  expect(folders.filter(([path, count]) => path.includes("/") && count < SUBFOLDER_FILES_MIN)).toEqual([]);
});

test("comments keep to their columns", () => {
  const comment = /^\s*(\/\/|\/\*|\*( |\/|$))|[;,{([] \/\/ [^"`]*$/;
  const strays = ["src", "test", "bench"].flatMap(filesOf).flatMap((path) =>
    readFileSync(resolve(import.meta.dir, "..", path), "utf8")
      .split("\n")
      .flatMap((line, index) =>
        line.length > COMMENT_COLUMNS_MAX && comment.test(line) ? [`${path}:${index + 1}`] : [],
      ),
  );
  expect(strays).toEqual([]);
});

test("the first comment of a file is no remark on a line or a member of what it holds", () => {
  const strays = sourceFiles().filter((path) => {
    const text = readFileSync(join(SOURCE, path), "utf8");
    const first = /^.*?(\/\*|(?<![:"'`\w\\])\/\/)/m.exec(text)?.[0] ?? "";
    return first.length > 2;
  });
  expect(strays).toEqual([]);
});

test("every folder and file of src has its place in the picture", () => {
  const placed = new Set([...ROWS.flat(), "runtime"]);
  expect([...new Set(sourceFiles().map(layerOf))].filter((layer) => !placed.has(layer))).toEqual([]);
});

test("only the hot store looks into its rows", () => {
  const strays = sourceFiles().filter(
    (path) => layerOf(path) !== "hot" && importsOf(path).some((target) => target.startsWith("hot/records/")),
  );
  expect(strays).toEqual([]);
});

test("only runtime names Bun, Deno, the disk or MQTT, and only the cluster's stream names NATS", () => {
  const machine =
    /\b(Bun|Deno)\.[a-z]|"node:(fs|sqlite|net|tls|http)[^"]*"|(from |import\()"mqtt"|"bun:|"(bun|deno)"/;
  const nats = /(from |import\()"@nats-io\//;
  const strays = sourceFiles().filter((path) => {
    const text = readFileSync(join(SOURCE, path), "utf8");
    return (
      (!path.startsWith("runtime/") && machine.test(text)) ||
      (!path.startsWith("cluster/stream/") && nats.test(text))
    );
  });
  expect(strays).toEqual([]);
});
