import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import manifest from "../../../package.json" with { type: "json" };
import { createKeyText } from "../../../src/auth/api-key.ts";
import { parseCommand } from "../../../src/cli/parse-command.ts";
import { ALL_FIELDS, createChunk, rowBytes } from "../../../src/hot/records/chunk.ts";
import { WRITTEN_PARTS, withWrittenPart } from "./written-parts.ts";

/* The pages for people: their links lead somewhere, their contents are complete, their lines fit. */

const ROOT = join(import.meta.dir, "../../..");
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

const DOCS = readdirSync(join(ROOT, "docs"))
  .filter((name) => name.endsWith(".md"))
  .map((name) => `docs/${name}`);
const INTERNALS = readdirSync(join(ROOT, "docs/internals")).map((name) => `docs/internals/${name}`);
const FOLDERS = [
  "bench/README.md",
  "deploy/README.md",
  "deploy/cluster/README.md",
  "deploy/home-assistant/README.md",
  "deploy/npm/README.md",
  "examples/README.md",
];
const USER_PAGES = ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", ...FOLDERS, ...DOCS, ...INTERNALS];
const PAGES = [...USER_PAGES, "SECURITY.md", "CHANGELOG.md"];

/** Headings below the title, outside of blocks of code. */
function headingsOf(page: string): string[] {
  const prose = read(page).replaceAll(/^```.*?^```$/gms, "");
  return [...prose.matchAll(/^##+ (.*)$/gm)].map(([, heading]) => heading!);
}

/** The anchor that a heading gets where Markdown is shown. */
function anchorOf(heading: string): string {
  const words = heading.toLowerCase().replaceAll(/[^\p{L}\p{N} _-]/gu, "");
  return words.replaceAll(" ", "-");
}

describe.each(PAGES)("%s", (page) => {
  test("links to files and headings that are there", () => {
    const dead: string[] = [];
    for (const [, target = ""] of read(page).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^https?:/.test(target)) continue;
      const [path = "", anchor] = target.split("#");
      const file = path === "" ? page : join(dirname(page), path);
      if (!existsSync(join(ROOT, file))) dead.push(target);
      else if (anchor !== undefined && !headingsOf(file).map(anchorOf).includes(anchor)) dead.push(target);
    }
    expect(dead).toEqual([]);
  });
});

test.each([...USER_PAGES, "bench/README.md"])(
  "%s keeps to lines of 120 columns, but for tables, pictures and output",
  (page) => {
    const prose = read(page).replaceAll(/^```(?:console|json)?\n.*?^```$/gms, "");
    const lines = prose.split("\n").filter((line) => !/^(\| |!\[)/.test(line));
    expect(lines.filter((line) => line.length > 120)).toEqual([]);
  },
);

test.each(USER_PAGES)(
  "%s starts no runtime by npx: the packages' own wait for install scripts, which don't run",
  (page) => {
    expect(read(page)).not.toMatch(/\bnpx (?:--?\S+ )*(?:bun|deno)\b/);
  },
);

test("files of a release have the version of package.json", () => {
  const named = USER_PAGES.flatMap((page) => [
    ...read(page).matchAll(/\bwherehouse(?:-client)?[-_:](\d+\.\d+\.\d+)/g),
  ]).map(([, version]) => version!);
  expect(named.length).toBeGreaterThan(4);
  expect(named.filter((version) => version !== manifest.version)).toEqual([]);
});

test.each(USER_PAGES)("%s runs no script that package.json does not have", (page) => {
  const named = [...read(page).matchAll(/\b(?:npm|bun) run (?:--silent )?([a-z-]+)/g)].map(
    ([, name]) => name!,
  );
  expect(named.filter((name) => !Object.hasOwn(manifest.scripts, name))).toEqual([]);
});

test("CONTRIBUTING.md names files and folders that are there", () => {
  const paths = [
    ...read("CONTRIBUTING.md").matchAll(/(?:^|[`\s])(?:\.\/)?((?:src|test|bench|docs|examples)\/[\w./-]*)/g),
  ];
  expect(paths.map(([, path]) => path!).filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

test.each(["ARCHITECTURE.md", ...INTERNALS])("%s names files of src that are there", (page) => {
  const prose = read(page).replaceAll(/^```.*?^```$/gms, "");
  const paths = [...prose.matchAll(/`(?:src\/)?([a-z][\w-]*(?:\/[\w-]+)*\.ts)`/g)].map(([, path]) => path!);
  const strays = paths.filter(
    (path) => !existsSync(join(ROOT, "src", path)) && !existsSync(join(ROOT, path)),
  );
  // A file that stands alone is one of a folder that the sentence names.
  expect(strays.filter((path) => path.includes("/"))).toEqual([]);
});

test("ARCHITECTURE.md has at most 5,000 words, and docs/internals 9,000", () => {
  const words = (page: string) => read(page).split(/\s+/).length;
  expect(words("ARCHITECTURE.md")).toBeLessThanOrEqual(5000);
  expect(INTERNALS.map(words).reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(9000);
});

test.each([
  ["README.md", 450],
  ["SECURITY.md", 2200],
  ["bench/README.md", 2500],
  ["CONTRIBUTING.md", 1400],
  ["docs/performance.md", 620],
  ["docs/tuning.md", 460],
  ["docs/deploy.md", 920],
  ["docs/comparison.md", 500],
  ["docs/executable.md", 250],
  ["docs/monitor.md", 850],
  ["docs/backup.md", 650],
  ["docs/upgrade.md", 305],
  ["docs/troubleshooting.md", 1080],
  ["docs/keys.md", 1000],
  ["docs/retention.md", 300],
  ["docs/map.md", 500],
  ["docs/streets.md", 500],
  ["deploy/README.md", 250],
  ["CHANGELOG.md", 680],
])("%s has at most %d words", (page, count) => {
  expect(read(page).trim().split(/\s+/).length).toBeLessThanOrEqual(count);
});

test("docs/performance.md has no figure that bench/README.md does not have", () => {
  const answers = [...read("docs/performance.md").matchAll(/^\| .*\? \| (.*) \|$/gm)].map(
    ([, answer]) => answer!,
  );
  expect(answers.length).toBeGreaterThan(5);
  const figures = answers.flatMap((answer) => answer.match(/\d[\d.,]*/g) ?? []);
  expect(figures.filter((figure) => !read("bench/README.md").includes(figure))).toEqual([]);
});

test("docs/README.md lists every page and its headings, in their order", () => {
  const contents = read("docs/README.md");
  for (const page of DOCS.filter((path) => path !== "docs/README.md")) {
    const name = page.replace("docs/", "");
    expect(contents).toContain(`](${name})`);
    const listed = [...contents.matchAll(/\[([^\]]+)\]\(([\w-]+\.md)#[^)]*\)/g)]
      .filter(([, , file]) => file === name)
      .map(([, heading]) => heading!);
    if (listed.length > 0) expect(listed).toEqual(headingsOf(page));
  }
});

test.each(PAGES)(
  "%s indents what lies below a numbered item as far as its text, so that the list goes on",
  (page) => {
    let indent = "";
    const astray: string[] = [];
    for (const line of read(page)
      .replaceAll(/^```.*?^```$/gms, "")
      .split("\n")) {
      const marker = /^\d+\. /.exec(line)?.[0];
      if (marker !== undefined) indent = " ".repeat(marker.length);
      else if (/^\S|^$/.test(line)) indent = "";
      else if (indent !== "" && !line.startsWith(indent)) astray.push(line);
    }
    expect(astray).toEqual([]);
  },
);

test("ARCHITECTURE.md says once what a word means", () => {
  const words = [...read("ARCHITECTURE.md").matchAll(/^\| (\*\*.*?) \|/gm)].map(([, word]) => word!);
  expect(words.length).toBeGreaterThan(20);
  expect(words.filter((word, index) => words.indexOf(word) !== index)).toEqual([]);
});

test("docs/performance.md says what a device of one report a minute takes, by what a record takes", () => {
  const page = read("docs/performance.md");
  const [least, most] = /\| (\d+) to (\d+) bytes:/.exec(page)!.slice(1).map(Number);
  const megabytes = (bytes: number, days: number) => ((bytes * days * 24 * 60) / 1e6).toFixed(1);
  // Memory has the last seven days and what there is of today.
  expect(page).toContain(`takes ${megabytes(least!, 7)} to ${megabytes(most!, 8)} MB of memory`);
});

test.each([...WRITTEN_PARTS])("$page is as $source has it: else npm run format writes it", (part) => {
  const content = read(part.page);
  expect(content).toBe(withWrittenPart(content, part));
});

/** Every command line of this program that the page has the reader type, in blocks and in sentences. */
function commandsIn(page: string): string[] {
  const text = read(page);
  const blocks = [...text.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) =>
    block!.replaceAll(/\\\n\s*/g, ""),
  );
  const typed = [
    ...blocks.join("").matchAll(/^(?:wherehouse|bun src\/main\.ts|npm run --silent cli --) (.*)$/gm),
  ];
  const named = [...text.replaceAll(/^```.*?^```$/gms, "").matchAll(/`wherehouse\s([^`]+)`/g)];
  return [...typed, ...named].map(([, words]) => words!.replace(/ [<>|].*/, "").replaceAll("\n", " "));
}

const TYPED_IN = PAGES.filter((page) => commandsIn(page).length > 0);

test.each(TYPED_IN)("%s types commands that the program has", (page) => {
  const key = createKeyText();
  const faults = commandsIn(page).flatMap((line) => {
    const words = line.replace("--key KEY", `--key ${key}`).split(/ +/);
    const parsed = parseCommand(words, { WHEREHOUSE_KEY: key });
    return parsed.ok ? [] : [`${line}: ${parsed.error.message}`];
  });
  expect(faults).toEqual([]);
});

test.each(["docs/troubleshooting.md", "docs/upgrade.md"])(
  "%s quotes messages that the program has",
  (page) => {
    const sources = readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .map((name) => read(join("src", name)))
      .join("\n");
    const cells = [...read(page).matchAll(/^\| (.*?) \|/gm)].map(([, cell]) => cell!);
    const quoted = cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, message]) => message!));
    expect(quoted.length).toBeGreaterThan(3);
    const parts = quoted.flatMap((message) => message.split("…")).map((part) => part.trim());
    expect(parts.filter((part) => !sources.includes(part))).toEqual([]);
  },
);

test("docs/performance.md says what a full record takes in memory before it is packed", () => {
  const bytes = rowBytes(createChunk(1, ALL_FIELDS));
  expect(read("docs/performance.md").replaceAll("\n", " ")).toContain(`a full one takes ${bytes} bytes`);
});
