import { expect, test } from "bun:test";
import { join } from "node:path";
import { Glob } from "bun";
import { withoutComments } from "../../../src/runtime/strip-types.ts";

const WEB = join(import.meta.dir, "../../../src/web");

/** The program of a source, without its comments: by a parser. */
function programOf(source: string): string {
  const transpiler = new Bun.Transpiler({ loader: "ts", target: "browser", minifyWhitespace: true });
  return transpiler.transformSync(source);
}

test("withoutComments() takes comments, and no line", () => {
  const source = `/** What it is.
 * It goes on. */
export const a = 1; // beside
/* first */ const b = 2;
`;
  expect(
    withoutComments(source)
      .split("\n")
      .map((line) => line.trim()),
  ).toEqual([...["", "", "export const a = 1;", "const b = 2;", ""]]);
});

/** Sources in which something looks like a comment, or hides one, with the text that has to stay. */
const TRICKY = [
  "const a = `\n// in a template\n/* and */ here`;",
  // biome-ignore lint/suspicious/noTemplateCurlyInString: sources, not templates
  "const a = `${b ? `\n// inner` : { c: `}` }.c}\n// outer`; // gone",
  "const a = \"// no\" + '/* no */' + 'it\\'s // no'; /* gone */",
  'const a = /[/*"`]\\//g.test(b) ? c / d / e : `//`; // gone',
  "const f = (a) => a / 2 + `/`; const g = () => { return /`/; }; // gone",
  // biome-ignore lint/suspicious/noTemplateCurlyInString: sources, not templates
  "const a = b.map((c) => { if (c) { return `{${c}}`; } return /* gone */ c; });",
  "const a = `$${b}\\`// stays`;",
];

test("withoutComments() leaves what only looks like a comment", () => {
  for (const source of TRICKY) {
    expect(programOf(withoutComments(source))).toBe(programOf(source));
    expect(withoutComments(source)).not.toContain("gone");
  }
});

test("withoutComments() takes nothing but comments from any module of the page", async () => {
  const paths = [...new Glob("**/*.ts").scanSync(WEB)];
  expect(paths.length).toBeGreaterThan(80);
  let longer = 0;
  for (const path of paths) {
    const source = await Bun.file(join(WEB, path)).text();
    const without = withoutComments(source);
    expect(programOf(without), path).toBe(programOf(source));
    expect(withoutComments(without).replace(/[ \t]+$/gm, ""), path).toBe(without.replace(/[ \t]+$/gm, ""));
    if (without.length === source.length) longer++;
  }
  expect(longer).toBe(0);
});
